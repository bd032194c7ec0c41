// A text that a model samples token by token, with what else could have followed at each step.
#pragma once

#include <memory>
#include <optional>

#include "attend/inspect/beam_tree.h"
#include "attend/inspect/trace.h"

namespace attend {

struct SampledTextOptions {
  std::vector<int32_t> beginning = {};  // tokens that are not sampled
  size_t most = 256;                    // tokens, with the beginning
  float temperature = 1.0f;             // above 0
  uint64_t seed = 1;
  size_t candidates = 5;  // most probable alternatives kept for each step
};

// Samples step by step; the same options give the same text. The start and the unknown token are
// never sampled. The model and the trace must outlive it.
class SampledText {
 public:
  SampledText(const TextModel& model, const Trace& trace, SampledTextOptions options);

  // Reads the last token and adds the next; false if the text has ended or is long enough.
  bool step();
  // What one more step would add to a text that is long enough; none if it has ended. It reads the
  // last token, so call it once, after the last step.
  std::optional<int32_t> next();

  const std::vector<int32_t>& tokens() const { return tokens_; }  // without start and end
  const std::vector<size_t>& path() const { return path_; }       // nodes in the tree, with the end
  double total() const { return total_; }                         // log-probability
  size_t first() const { return first_; }                         // the first node of the last step
  // All tokens and alternatives.
  std::shared_ptr<const BeamTree> tree() const { return tree_; }

 private:
  Tensor logits_of_next();
  int32_t sampled(std::span<const float> logits) const;
  void add(const Tensor& logits, int32_t token);

  const Generator& generator_;
  SpecialTokens special_;
  SampledTextOptions options_;
  std::unique_ptr<Generator::State> state_;
  std::shared_ptr<BeamTree> tree_;
  std::vector<int32_t> tokens_;
  std::vector<size_t> path_;
  size_t first_ = 1;
  double total_ = 0;
  bool ended_ = false;
};

}  // namespace attend
