#include "attend/serve/run_events.h"

#include <algorithm>
#include <cmath>

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity, and nothing that is no number.
double shown(double log_probability) {
  constexpr double kLeast = -1e4;
  return std::isfinite(log_probability) ? std::max(log_probability, kLeast) : kLeast;
}

Json texts_json(std::span<const TraceItem> items) {
  Json texts = Json::array();
  for (const TraceItem& item : items) texts.push_back(item.text);
  return texts;
}

std::optional<SequencePair> watched_pair(const Trace& trace) {
  for (const SequencePair& pair : sequence_pairs(trace.layers)) {
    if (pair.queries == trace.written()->name) return pair;
    if (trace.sequence(pair.queries).role == SequenceRole::kJoined) return pair;
  }
  return std::nullopt;
}

}  // namespace

Json sequences_json(const Trace& trace) {
  Json all = Json::array();
  for (const TraceSequence& sequence : trace.sequences) {
    Json json = {{"name", sequence.name}, {"items", texts_json(sequence.items)}};
    if (!sequence.next.empty()) json["next"] = texts_json(sequence.next);
    all.push_back(std::move(json));
  }
  return all;
}

RunEvents::RunEvents(const TextModel& model, const RunRequest& request, const EmitJson& emit,
                     const Trace& trace)
    : run_(request.number),
      emit_(emit),
      tokenizer_(model.tokenizer(trace.written()->name)),
      is_label_(trace.written()->role == SequenceRole::kLabel),
      watched_(watched_pair(trace)) {}

int32_t RunEvents::end() const { return is_label_ ? -1 : tokenizer_.special().end; }

void RunEvents::start(const Trace& trace) const {
  Json sequences = sequences_json(trace);
  for (Json& sequence : sequences) {  // nothing is written yet
    const TraceSequence& whole = trace.sequence(sequence["name"].get<std::string>());
    if (whole.role == SequenceRole::kRead) continue;
    sequence.erase("next");
    const size_t begun = trace.first_written(whole.name) + 1;
    Json& items = sequence["items"];
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(begun), items.end());
  }
  Json watched;
  if (watched_) watched = {{"queries", watched_->queries}, {"keys", watched_->keys}};
  emit_({{"event", "start"},
         {"run", run_},
         {"sequences", sequences},
         {"watched", watched},
         {"tokenizer", name_of(tokenizer_.kind())}});
}

bool RunEvents::step(const BeamTree& tree, size_t first, size_t best,
                     const std::vector<float>& row) const {
  Json nodes = Json::array();
  for (size_t n = first; n <= tree.nodes().size(); ++n) nodes.push_back(node(n, tree.node(n)));
  return emit_({{"event", "step"},
                {"nodes", nodes},
                {"best", best},
                {"text", tokenizer_.decode(tree.tokens(best))},
                {"row", row}});
}

Json RunEvents::hypothesis(std::span<const int32_t> tokens, const std::vector<size_t>& path,
                           double score) const {
  return {{"text", tokenizer_.decode(tokens)}, {"path", path}, {"score", shown(score)}};
}

Json RunEvents::done(const Trace& trace, const Json& hypotheses) const {
  const Json& best = hypotheses.front();
  std::vector<TraceItem> tokens = trace.written()->next;
  const bool cut = !is_label_ && trace.written()->written.back() != end();
  if (cut) tokens.pop_back();  // it would be written, but was not
  return {{"event", "done"},      {"text", best["text"]},   {"tokens", texts_json(tokens)},
          {"path", best["path"]}, {"score", best["score"]}, {"hypotheses", hypotheses}};
}

Json RunEvents::node(size_t number, const BeamNode& node) const {
  const SpecialTokens special = tokenizer_.special();
  const bool ends = node.token == end();
  return {{"id", number},
          {"parent", node.parent},
          {"token", tokenizer_.piece(node.token)},
          {"token_id", node.token},
          {"log_probability", shown(double{node.log_probability})},
          {"total", shown(node.total)},
          {"kept", node.kept},
          {"ends", ends},
          {"ended", node.kept && (ends || is_label_)},
          {"special", ends || special.has(node.token)}};
}

}  // namespace attend
