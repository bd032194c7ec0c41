#include "attend/serve/explorer_run.h"

#include "attend/base/special_tokens.h"
#include "attend/decode/score.h"
#include "attend/inspect/step_rows.h"
#include "attend/kernels/top_k.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kWidestBeam = 64, kMostCandidates = 100;

Json node_json(const Tokenizer& tokenizer, size_t number, const BeamNode& node) {
  return {{"id", number},
          {"parent", node.parent},
          {"token", tokenizer.piece(node.token)},
          {"log_probability", node.log_probability},
          {"total", node.total},
          {"kept", node.kept},
          {"ended", node.kept && node.token == kEnd}};
}

Json hypothesis_json(const std::string& text, const std::vector<size_t>& path, double score) {
  return {{"text", text}, {"path", path}, {"score", score}};
}

void tell_source(const TextModel& model, const Reading& reading, size_t run, const EmitJson& emit) {
  emit({{"event", "source"},
        {"run", run},
        {"tokens", map_labels(model, reading, AttentionPart::kCross).columns}});
}

void tell_done(const TextModel& model, const ExplorerRun& run, Json hypotheses,
               const EmitJson& emit) {
  Json best = hypotheses.front();
  emit({{"event", "done"},
        {"text", run.text},
        {"tokens", map_labels(model, run.reading, AttentionPart::kCross).rows},
        {"path", best["path"]},
        {"score", best["score"]},
        {"hypotheses", std::move(hypotheses)}});
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
    const DecoderRows rows = decoder_rows(one_sequence(reading.target));
    const Tensor logits = model.model->logits(one_sequence(reading.source), rows.inputs);
    const Tensor losses = cross_entropy(logits, rows.labels, {.reduction = Reduction::kNone});
    const auto labels = rows.labels.index_span();
    written.assign(labels.begin(), labels.end());
    for (const float loss : losses.span()) log_probabilities.push_back(-loss);
    k = std::min(top, logits.width());
    ids.resize(logits.rows() * k);
    values.resize(ids.size());
    kernels::top_k({logits.data(), logits.rows(), logits.width(), logits.stride()}, k, ids.data(),
                   values.data());
    looks = mean_map(model, reading, AttentionPart::kCross);
  }

  std::vector<float> row(size_t t) const {
    return looks.defined() ? looks.slice_rows(t, 1).to_vector() : std::vector<float>();
  }
};

// Ends a search whose listener has gone.
struct NobodyListens {};

}  // namespace

RunRequest RunRequest::parse(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) throw DataError("run: the request is no JSON object");
  RunRequest request;
  try {
    request.model = json.value("model", size_t{0});
    request.source = json.at("source").get<std::string>();
    request.start = json.value("start", "");
    if (json.contains("target") && !json["target"].is_null()) {
      request.target = json["target"].get<std::string>();
    }
    request.beam = json.value("beam", request.beam);
    request.top = json.value("top", request.top);
  } catch (const nlohmann::json::exception& error) {
    throw DataError("run: {}", error.what());
  }
  if (request.beam == 0 || request.beam > kWidestBeam || request.top > kMostCandidates) {
    throw ConfigError("run: a beam of {} and {} candidates; at most {} and {}", request.beam,
                      request.top, kWidestBeam, kMostCandidates);
  }
  return request;
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ExplorerRun written_run(const TextModel& model, const RunRequest& request, const EmitJson& emit) {
  ExplorerRun run{request.model, given_reading(model, request.source, ""), {}, {}};
  tell_source(model, run.reading, request.number, emit);
  StepRows rows(model.model->attention_layers(), run.reading.source.size());
  std::shared_ptr<BeamTree> tree;
  tree = std::make_shared<BeamTree>(request.top, [&](const BeamTree::Step& step) {
    Json nodes = Json::array();
    for (size_t n = step.first; n < step.first + step.count; ++n) {
      nodes.push_back(node_json(*model.target, n, tree->node(n)));
    }
    if (!emit({{"event", "step"},
               {"nodes", nodes},
               {"best", step.best},
               {"row", rows.finish_step(step.best_parent)}})) {
      throw NobodyListens();
    }
  });
  SearchConfig config{.beam = request.beam, .n_best = request.beam};
  config.observer = tree.get();
  Prefixes start;
  if (!request.start.empty()) start = {model.target->encode(request.start)};
  std::vector<Hypothesis> found;
  try {
    found = search(*model.model, one_sequence(run.reading.source), config, start).front();
  } catch (const NobodyListens&) {
    return run;
  }
  Json hypotheses = Json::array();
  for (const Hypothesis& h : found) {
    hypotheses.push_back(hypothesis_json(model.target->decode(h.tokens), tree->path(h), h.score));
  }
  run.reading.target = found.front().tokens;
  run.text = model.target->decode(run.reading.target);
  run.tree = tree;
  tell_done(model, run, hypotheses, emit);
  return run;
}

ExplorerRun given_run(const TextModel& model, const RunRequest& request, const EmitJson& emit) {
  ExplorerRun run{
      request.model, given_reading(model, request.source, *request.target), *request.target, {}};
  tell_source(model, run.reading, request.number, emit);
  const Forced forced(model, run.reading, request.top);
  std::vector<size_t> path;
  double total = 0;
  for (size_t t = 0, number = 0; t < forced.written.size(); ++t) {
    const size_t parent = path.empty() ? 0 : path.back();
    Json nodes = Json::array();
    const auto add = [&](int32_t token, float log_probability, bool kept) {
      nodes.push_back(
          node_json(*model.target, ++number,
                    {parent, token, log_probability, total + double{log_probability}, kept}));
    };
    add(forced.written[t], forced.log_probabilities[t], true);
    path.push_back(number);
    for (size_t j = t * forced.k; j < (t + 1) * forced.k; ++j) {
      if (forced.ids[j] != forced.written[t] && forced.ids[j] >= 0) {
        add(forced.ids[j], forced.values[j], false);
      }
    }
    total += double{forced.log_probabilities[t]};
    if (!emit(
            {{"event", "step"}, {"nodes", nodes}, {"best", path.back()}, {"row", forced.row(t)}})) {
      return run;
    }
  }
  tell_done(model, run, Json::array({hypothesis_json(run.text, path, total)}), emit);
  return run;
}

}  // namespace attend
