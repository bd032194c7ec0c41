#include "attend/serve/explorer_run.h"

#include <algorithm>

#include "attend/inspect/attention_maps.h"
#include "attend/inspect/sampled_text.h"
#include "attend/inspect/step_weights.h"
#include "attend/kernels/top_k.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/elementwise.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostTokens = 4096;        // of a sequence
constexpr size_t kTokensFromNothing = 256;  // that are written where nothing is read

// What the page asks for as the model reads it. Throws DataError where it is too long.
Trace asked_trace(const TextModel& model, const RunRequest& request) {
  TraceTexts texts = request.texts;
  const Signature signature = model.model->signature();
  for (const ColumnSpec& column : signature.columns) {
    const bool read = column.kind == ColumnKind::kTokens && !column.written;
    if (!read && texts.contains(column.name)) {
      throw ConfigError("run: '{}' is written, not read: give it as start or as output",
                        column.name);
    }
    if (!read && request.output) texts[column.name] = *request.output;
  }
  Trace trace = given_trace(model, texts);
  for (const TraceSequence& sequence : trace.sequences) {
    if (sequence.role == SequenceRole::kJoined) continue;
    check_length("run", signature.column(sequence.name), sequence.text_ids().size(), kMostTokens);
  }
  return trace;
}

// What the output is to begin with; empty where nothing is given.
std::vector<int32_t> beginning_of(const TextModel& model, const RunRequest& request,
                                  const Trace& trace) {
  const TraceSequence& written = *trace.written();
  const Tokenizer& tokenizer = model.tokenizer(written.name);
  std::vector<int32_t> ids = request.start_ids;
  if (!request.start.empty()) {
    const std::vector<int32_t> more = tokenizer.encode(request.start);
    ids.insert(ids.end(), more.begin(), more.end());
  }
  check_length("run", model.model->signature().column(written.name), ids.size(), kMostTokens);
  for (const int32_t id : ids) {
    if (static_cast<size_t>(id) < tokenizer.size()) continue;
    throw DataError("run: start_ids has {}; the vocabulary has {} tokens, from 0", id,
                    tokenizer.size());
  }
  return ids;
}

// The logits of a pass over the whole record, and where each written item looked meanwhile.
struct WatchedPass {
  Tensor logits;
  Tensor looked;  // [written, keys]; undefined without attention
  bool is_self = false;
  size_t first = 0;  // row of what is written

  WatchedPass(const TextModel& model, const Trace& trace, const std::optional<SequencePair>& pair) {
    std::vector<AttentionLayer> layers;
    if (pair) layers = layers_between(trace.layers, *pair);
    is_self = pair && pair->is_self();
    if (pair) first = trace.first_written(pair->queries);
    float heads = 0;
    for (const AttentionLayer& layer : layers) heads += static_cast<float>(layer.heads);
    const NoGrad no_grad;
    logits = visit_heads(model, trace, layers, [&](size_t, size_t, const Tensor& weights) {
      const Tensor share = scale(weights, 1.0f / heads);
      looked = looked.defined() ? add(looked, share) : share;
    });
  }

  // A sequence that looks at itself has seen what was written so far.
  std::vector<float> row(size_t item) const {
    if (!looked.defined()) return {};
    std::vector<float> weights = looked.slice_rows(first + item, 1).to_vector();
    if (is_self) weights.resize(first + item + 1);
    return weights;
  }

  std::vector<float> log_probabilities(std::span<const int32_t> written) const {
    const NoGrad no_grad;
    const Tensor losses = cross_entropy(logits, Tensor::ids(written, {written.size()}),
                                        {.reduction = Reduction::kNone});
    std::vector<float> all = losses.to_vector();
    for (float& loss : all) loss = -loss;
    return all;
  }

  // The likeliest of each row; -1 where there are no more.
  struct Likeliest {
    size_t count;
    std::vector<int32_t> ids;
    std::vector<float> log_probabilities;
  };
  Likeliest likeliest(size_t most) const {
    const size_t count = std::min(most, logits.width()), rows = logits.rows();
    Likeliest found{count, std::vector<int32_t>(rows * count), std::vector<float>(rows * count)};
    kernels::top_k({logits.data(), rows, logits.width(), logits.stride()}, count, found.ids.data(),
                   found.log_probabilities.data());
    return found;
  }
};

ExplorerRun finished(const RunRequest& request, Trace trace, std::shared_ptr<const BeamTree> tree,
                     Json done) {
  std::string text = done["text"];
  return {request.model,   request.knocked_out, std::move(trace),
          std::move(text), std::move(tree),     std::move(done)};
}

// Ends a search whose listener has gone.
struct NobodyListens {};

// The most tokens that are written, the beginning among them.
size_t longest_output(const RunRequest& request, const Trace& trace, size_t beginning) {
  size_t read = 0;
  for (const TraceSequence& sequence : trace.sequences) {
    if (sequence.role == SequenceRole::kRead) read += sequence.size();
  }
  const size_t usual = read == 0 ? kTokensFromNothing : 3 * read + 20;
  return std::min(beginning + request.most.value_or(usual), kMostTokens);
}

std::optional<ExplorerRun> searched_run(const TextModel& model, const RunRequest& request,
                                        Trace trace, const RunEvents& events,
                                        const std::vector<int32_t>& start) {
  std::optional<StepWeights> weights;
  if (events.watched()) weights.emplace(trace, *events.watched());
  const auto tree = std::make_shared<BeamTree>(request.top, events.end());
  tree->on_step_call([&](const BeamTree::Step& step) {
    const auto row = weights ? weights->finish_step(step.best_parent) : std::vector<float>();
    if (!events.step(*tree, step.first, step.best, row)) throw NobodyListens();
  });
  // A length of 0 would be the usual one.
  const SearchConfig config{
      .beam = request.beam,
      .n_best = request.beam,
      .max_length = std::max<size_t>(1, longest_output(request, trace, start.size()))};
  SearchRuntime runtime = search_runtime(model);
  runtime.observer = tree.get();
  if (!start.empty()) runtime.prefixes = {start};
  std::vector<Hypothesis> found;
  try {
    found = search(model.generator(), inputs_of(trace), config, runtime).front();
  } catch (const NobodyListens&) {
    return std::nullopt;
  }
  Json hypotheses = Json::array();
  for (const Hypothesis& h : found) {
    hypotheses.push_back(events.hypothesis(h.tokens, tree->path(h), h.score));
  }
  const Hypothesis& best = found.front();
  trace = with_output(model, std::move(trace), best.tokens);
  if (!best.ended) {
    const int32_t next = likeliest_next(model, trace);
    trace = with_output(model, std::move(trace), best.tokens, next);
  }
  Json done = events.done(trace, hypotheses);
  return finished(request, std::move(trace), tree, std::move(done));
}

std::optional<ExplorerRun> written_run(const TextModel& model, const RunRequest& request,
                                       Trace trace, const RunEvents& events) {
  const std::vector<int32_t> start = beginning_of(model, request, trace);
  events.start(trace);
  if (request.temperature == 0.0f) {
    return searched_run(model, request, std::move(trace), events, start);
  }
  std::optional<StepWeights> weights;
  if (events.watched()) weights.emplace(trace, *events.watched());
  SampledText sampled(model, trace,
                      {.beginning = start,
                       .most = longest_output(request, trace, start.size()),
                       .temperature = request.temperature,
                       .seed = request.seed,
                       .candidates = request.top});
  while (sampled.step()) {
    const auto row = weights ? weights->finish_step(0) : std::vector<float>();
    if (!events.step(*sampled.tree(), sampled.first(), sampled.path().back(), row)) {
      return std::nullopt;
    }
  }
  const Json hypotheses =
      Json::array({events.hypothesis(sampled.tokens(), sampled.path(), sampled.total())});
  trace = with_output(model, std::move(trace), sampled.tokens(), sampled.next());
  Json done = events.done(trace, hypotheses);
  return finished(request, std::move(trace), sampled.tree(), std::move(done));
}

std::optional<ExplorerRun> given_run(const TextModel& model, const RunRequest& request,
                                     const Trace& trace, const RunEvents& events) {
  events.start(trace);
  const WatchedPass pass(model, trace, events.watched());
  const std::vector<int32_t>& written = trace.written()->written;
  const std::vector<float> own = pass.log_probabilities(written);
  const auto others = pass.likeliest(request.top);
  const auto tree = std::make_shared<BeamTree>(request.top, events.end());
  std::vector<size_t> path;
  double total = 0;
  for (size_t t = 0; t < written.size(); ++t) {
    const size_t parent = path.empty() ? 0 : path.back();
    const auto add = [&](int32_t token, float log_probability, bool kept) {
      return tree->add({parent, token, log_probability, total + double{log_probability}, kept});
    };
    path.push_back(add(written[t], own[t], true));
    for (size_t j = t * others.count; j < (t + 1) * others.count; ++j) {
      if (others.ids[j] != written[t] && others.ids[j] >= 0) {
        add(others.ids[j], others.log_probabilities[j], false);
      }
    }
    total += double{own[t]};
    if (!events.step(*tree, path.back(), path.back(), pass.row(t))) return std::nullopt;
  }
  const Json hypotheses = Json::array({events.hypothesis(trace.output(), path, total)});
  return finished(request, trace, tree, events.done(trace, hypotheses));
}

// The label that is given, or as many of the likeliest as the beam is wide.
std::optional<ExplorerRun> labelled_run(const TextModel& model, const RunRequest& request,
                                        Trace trace, const RunEvents& events) {
  events.start(trace);
  const WatchedPass pass(model, trace, events.watched());
  std::vector<int32_t> given = trace.output();
  if (given.empty()) given = beginning_of(model, request, trace);
  if (given.size() > 1) throw DataError("run: {} tokens for a label; give one", given.size());
  const TraceSequence& column = *trace.written();
  const int32_t first = model.tokenizer(column.name).first_piece();
  std::vector<int32_t> number;  // of the given label
  for (const int32_t id : given) number.push_back(label_number(model, column, id));
  const auto likeliest = pass.likeliest(std::max(request.top, request.beam));
  if (likeliest.ids.front() < 0) {
    throw DataError("run: the model gives no numbers; its weights are not finite");
  }
  const auto tree = std::make_shared<BeamTree>(request.top, events.end());
  Json hypotheses = Json::array();
  const auto add = [&](int32_t label, float log_probability, bool kept) {
    const double total{log_probability};
    const size_t node = tree->add({0, label, log_probability, total, kept});
    if (kept) hypotheses.push_back(events.hypothesis({&label, 1}, {node}, total));
  };
  if (!given.empty()) add(given[0], pass.log_probabilities(number)[0], true);
  for (size_t i = 0; i < likeliest.count; ++i) {
    const int32_t other = likeliest.ids[i];
    if (other < 0 || (!number.empty() && other == number[0])) continue;
    add(first + other, likeliest.log_probabilities[i], given.empty() && i < request.beam);
  }
  if (!events.step(*tree, 1, 1, pass.row(0))) return std::nullopt;
  trace = with_output(model, std::move(trace), std::vector{tree->node(1).token});
  Json done = events.done(trace, hypotheses);
  return finished(request, std::move(trace), tree, std::move(done));
}

// A model that writes nothing: there are only maps to look at.
ExplorerRun encoded_run(const RunRequest& request, Trace trace, const EmitJson& emit) {
  emit({{"event", "start"},
        {"run", request.number},
        {"sequences", sequences_json(trace)},
        {"watched", nullptr},
        {"tokenizer", ""}});
  Json done = {{"event", "done"},       {"text", ""}, {"tokens", Json::array()},
               {"path", Json::array()}, {"score", 0}, {"hypotheses", Json::array()}};
  return finished(request, std::move(trace), std::make_shared<BeamTree>(0, -1), std::move(done));
}

}  // namespace

std::optional<ExplorerRun> run_request(const TextModel& model, const RunRequest& request,
                                       const EmitJson& emit) {
  Trace trace = asked_trace(model, request);
  const Without without(request.knocked_out);
  check_intervention(trace);
  if (trace.written() == nullptr) return encoded_run(request, std::move(trace), emit);
  const RunEvents events(model, request, emit, trace);
  if (trace.written()->role == SequenceRole::kLabel) {
    return labelled_run(model, request, std::move(trace), events);
  }
  if (request.output) return given_run(model, request, trace, events);
  return written_run(model, request, std::move(trace), events);
}

}  // namespace attend
