// The events that a run reports, as the page reads them (docs/seeing.md). Not for use outside
// serve/.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "attend/inspect/beam_tree.h"
#include "attend/inspect/sequence_pair.h"
#include "attend/serve/run_request.h"

namespace attend {

// Takes an event; returns false where nobody listens any more.
using EmitJson = std::function<bool(const nlohmann::ordered_json& event)>;

// The sequences of a trace, [{"name", "items": [texts], "next": [texts]}], the last where something
// was written after each item.
nlohmann::ordered_json sequences_json(const Trace& trace);

// Of a run that writes a sequence or a label. What it is made from must outlive it.
class RunEvents {
 public:
  using Json = nlohmann::ordered_json;

  RunEvents(const TextModel& model, const RunRequest& request, const EmitJson& emit,
            const Trace& trace);

  // What its steps show: where the written sequence looks, at another one first. None where it
  // looks at nothing.
  const std::optional<SequencePair>& watched() const { return watched_; }
  // The id of the token that ends a sequence; -1 where a label is given.
  int32_t end() const;

  void start(const Trace& trace) const;
  // Nodes `first` to the last of a tree, the best of them, and where it looked. False where nobody
  // listens.
  bool step(const BeamTree& tree, size_t first, size_t best, const std::vector<float>& row) const;

  Json hypothesis(std::span<const int32_t> tokens, const std::vector<size_t>& path,
                  double score) const;
  // The first hypothesis is what the run has written.
  Json done(const Trace& trace, const Json& hypotheses) const;

 private:
  Json node(size_t number, const BeamNode& node) const;

  size_t run_;
  const EmitJson& emit_;
  const Tokenizer& tokenizer_;
  bool is_label_;
  std::optional<SequencePair> watched_;
};

}  // namespace attend
