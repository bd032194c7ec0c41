#include "attend/serve/explorer_run.h"

#include <cmath>
#include <limits>

#include "attend/base/special_tokens.h"
#include "attend/decode/line_limit.h"
#include "attend/inspect/step_rows.h"
#include "attend/io/bounded_json.h"
#include "attend/io/json_text.h"
#include "attend/kernels/top_k.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/elementwise.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kWidestBeam = 16, kMostCandidates = 20;  // as the page has them
constexpr size_t kMostTokens = 4096;                      // of a side

// JSON has no infinity, and nothing that is no number.
double shown(double log_probability) {
  constexpr double kLeast = -1e4;
  return std::isfinite(log_probability) ? std::max(log_probability, kLeast) : kLeast;
}

Json node_json(const Tokenizer& tokenizer, size_t number, const BeamNode& node) {
  return {{"id", number},
          {"parent", node.parent},
          {"token", tokenizer.piece(node.token)},
          {"token_id", node.token},
          {"log_probability", shown(double{node.log_probability})},
          {"total", shown(node.total)},
          {"kept", node.kept},
          {"ended", node.kept && node.token == kEnd}};
}

Json hypothesis_json(const std::string& text, const std::vector<size_t>& path, double score) {
  return {{"text", text}, {"path", path}, {"score", shown(score)}};
}

void check_length(const TextModel& model, std::string_view what, size_t tokens) {
  const LineLimit limit = line_limit(model.config, kMostTokens);
  if (limit.allows(tokens)) return;
  if (limit.by_places) limit.fail(fmt::format("run: {}", what), tokens);
  throw DataError("run: the {} has {} tokens; the page shows at most {}", what, tokens,
                  kMostTokens);
}

// What the page asks for as the model reads it. Throws DataError where it is too long.
Reading asked_reading(const TextModel& model, const RunRequest& request) {
  Reading reading = given_reading(model, request.source, request.target.value_or(""));
  check_length(model, "input", reading.source.size() - 1);
  check_length(model, "output", reading.target.size());
  return reading;
}

void tell_source(const TextModel& model, const Reading& reading, size_t run, const EmitJson& emit) {
  emit({{"event", "source"},
        {"run", run},
        {"tokens", map_labels(model, reading, AttentionPart::kCross).columns},
        {"tokenizer", name_of(model.target->kind())}});
}

Json done_json(const TextModel& model, const ExplorerRun& run, Json hypotheses) {
  Json best = hypotheses.front();
  return {{"event", "done"},
          {"text", run.text},
          {"tokens", map_labels(model, run.reading, AttentionPart::kCross).rows},
          {"path", best["path"]},
          {"score", best["score"]},
          {"hypotheses", std::move(hypotheses)}};
}

// Nodes `first` to the last of a tree, the best of them, and where it looked.
Json step_json(const TextModel& model, const BeamTree& tree, size_t first, size_t best,
               const std::vector<float>& row) {
  Json nodes = Json::array();
  for (size_t n = first; n <= tree.nodes().size(); ++n) {
    nodes.push_back(node_json(*model.target, n, tree.node(n)));
  }
  return {{"event", "step"},
          {"nodes", nodes},
          {"best", best},
          {"text", model.target->decode(tree.tokens(best))},
          {"row", row}};
}

// What a model finds likely after each token of a given target, and where it looks meanwhile.
struct Forced {
  std::vector<int32_t> written;  // the end last
  std::vector<float> log_probabilities;
  size_t k;                   // likeliest tokens of each row
  std::vector<int32_t> ids;   // [rows, k]; -1: none
  std::vector<float> values;  // their log-probabilities
  Tensor looks;               // [rows, source tokens]; undefined without attention

  Forced(const TextModel& model, const Reading& reading, size_t top) {
    const NoGrad no_grad;
    const auto cross = layers_of(model.model->attention_layers(), AttentionPart::kCross);
    float heads = 0;
    for (const AttentionLayer& layer : cross) heads += static_cast<float>(layer.heads);
    const Tensor logits =
        visit_heads(model, reading, cross, [&](size_t, size_t, const Tensor& weights) {
          const Tensor share = scale(weights, 1.0f / heads);
          looks = looks.defined() ? attend::add(looks, share) : share;
        });
    written = reading.target;
    written.push_back(kEnd);
    const Tensor losses = cross_entropy(logits, Tensor::ids(written, {written.size()}),
                                        {.reduction = Reduction::kNone});
    for (const float loss : losses.span()) log_probabilities.push_back(-loss);
    k = std::min(top, logits.width());
    ids.resize(logits.rows() * k);
    values.resize(ids.size());
    kernels::top_k({logits.data(), logits.rows(), logits.width(), logits.stride()}, k, ids.data(),
                   values.data());
  }

  std::vector<float> row(size_t t) const {
    return looks.defined() ? looks.slice_rows(t, 1).to_vector() : std::vector<float>();
  }
};

// A value for a message; what holds others is only named.
std::string brief(const Json& value) {
  if (value.is_structured()) return fmt::format("an {}", value.type_name());
  return json_text(value).substr(0, 40);
}

// JSON would make a large number of a negative one, and a whole one of a fraction.
size_t number_of(const Json& json, const char* name, size_t otherwise) {
  if (!json.contains(name)) return otherwise;
  const Json& value = json[name];
  if (value.is_number_unsigned()) return value.get<size_t>();
  throw ConfigError("run: {} is {}; it should be a whole number from 0", name, brief(value));
}

std::vector<int32_t> ids_of(const Json& json, const char* name) {
  std::vector<int32_t> ids;
  if (!json.contains(name) || json[name].is_null()) return ids;
  if (!json[name].is_array()) {
    throw ConfigError("run: {} is {}; it should be an array of ids", name, brief(json[name]));
  }
  for (const Json& id : json[name]) {
    if (!id.is_number_unsigned() || id.get<size_t>() > std::numeric_limits<int32_t>::max()) {
      throw ConfigError("run: {} has {}; ids are whole numbers from 0", name, brief(id));
    }
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

// What the output is to begin with; nothing where nothing is given.
Prefixes beginning_of(const TextModel& model, const RunRequest& request) {
  if (request.start.empty() && request.start_ids.empty()) return {};
  const auto ids = request.start.empty() ? request.start_ids : model.target->encode(request.start);
  check_length(model, "beginning", ids.size());
  for (const int32_t id : ids) {
    if (static_cast<size_t>(id) < model.target->size()) continue;
    throw DataError("run: start_ids has {}; the vocabulary has {} tokens, from 0", id,
                    model.target->size());
  }
  return {ids};
}

// Ends a search whose listener has gone.
struct NobodyListens {};

Json parse_request(std::string_view text) {
  constexpr DocumentLimits kLimits{.values = 20'000, .depth = 16};
  try {
    return parse_bounded_json(text, "the request", kLimits);
  } catch (const FormatError& error) {
    throw DataError("run: {}", error.what());
  }
}

}  // namespace

RunRequest RunRequest::parse(std::string_view text) {
  const Json json = parse_request(text);
  if (!json.is_object()) throw DataError("run: the request is no JSON object");
  RunRequest request;
  try {
    request.model = number_of(json, "model", request.model);
    request.source = json.at("source").get<std::string>();
    request.start = json.value("start", "");
    request.start_ids = ids_of(json, "start_ids");
    if (json.contains("target") && !json["target"].is_null()) {
      request.target = json["target"].get<std::string>();
    }
    request.beam = number_of(json, "beam", request.beam);
    request.top = number_of(json, "top", request.top);
  } catch (const nlohmann::json::exception&) {
    throw DataError("run: it needs a source, which is a string, as start and target are");
  }
  if (!request.start.empty() && !request.start_ids.empty()) {
    throw ConfigError("run: a beginning is given as start or as start_ids, not both");
  }
  const auto within = [](size_t asked, size_t limit) { return asked >= 1 && asked <= limit; };
  if (!within(request.beam, kWidestBeam) || !within(request.top, kMostCandidates)) {
    throw ConfigError("run: a beam of {} and {} candidates; they go from 1 to {} and {}",
                      request.beam, request.top, kWidestBeam, kMostCandidates);
  }
  return request;
}

std::optional<ExplorerRun> written_run(const TextModel& model, const RunRequest& request,
                                       const EmitJson& emit) {
  ExplorerRun run{request.model, asked_reading(model, request), {}, {}};
  const Prefixes start = beginning_of(model, request);
  tell_source(model, run.reading, request.number, emit);
  StepRows rows(model.model->attention_layers(), run.reading.source.size());
  const auto tree = std::make_shared<BeamTree>(request.top);
  tree->on_step_call([&](const BeamTree::Step& step) {
    const std::vector<float> row = rows.finish_step(step.best_parent);
    if (!emit(step_json(model, *tree, step.first, step.best, row))) throw NobodyListens();
  });
  SearchConfig config{.beam = request.beam, .n_best = request.beam};
  config.observer = tree.get();
  const size_t given = start.empty() ? 0 : start.front().size();
  config.max_length = std::min(given + 3 * run.reading.source.size() + 20, kMostTokens);
  config.places = learned_positions(model.config).value_or(0);
  std::vector<Hypothesis> found;
  try {
    found = search(*model.model, one_sequence(run.reading.source), config, start).front();
  } catch (const NobodyListens&) {
    return std::nullopt;
  }
  Json hypotheses = Json::array();
  for (const Hypothesis& h : found) {
    hypotheses.push_back(hypothesis_json(model.target->decode(h.tokens), tree->path(h), h.score));
  }
  run.reading.target = found.front().tokens;
  run.text = model.target->decode(run.reading.target);
  run.tree = tree;
  run.done = done_json(model, run, hypotheses);
  return run;
}

std::optional<ExplorerRun> given_run(const TextModel& model, const RunRequest& request,
                                     const EmitJson& emit) {
  ExplorerRun run{request.model, asked_reading(model, request), request.target.value_or(""), {}};
  tell_source(model, run.reading, request.number, emit);
  const Forced forced(model, run.reading, request.top);
  const auto tree = std::make_shared<BeamTree>(request.top);
  std::vector<size_t> path;
  double total = 0;
  for (size_t t = 0; t < forced.written.size(); ++t) {
    const size_t parent = path.empty() ? 0 : path.back();
    const auto add = [&](int32_t token, float log_probability, bool kept) {
      return tree->add({parent, token, log_probability, total + double{log_probability}, kept});
    };
    path.push_back(add(forced.written[t], forced.log_probabilities[t], true));
    for (size_t j = t * forced.k; j < (t + 1) * forced.k; ++j) {
      if (forced.ids[j] != forced.written[t] && forced.ids[j] >= 0) {
        add(forced.ids[j], forced.values[j], false);
      }
    }
    total += double{forced.log_probabilities[t]};
    if (!emit(step_json(model, *tree, path.back(), path.back(), forced.row(t)))) {
      return std::nullopt;
    }
  }
  run.tree = tree;
  run.done = done_json(model, run, Json::array({hypothesis_json(run.text, path, total)}));
  return run;
}

}  // namespace attend
