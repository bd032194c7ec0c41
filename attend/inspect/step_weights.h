// Attention of hypotheses while they are being written.
#pragma once

#include "attend/attention/recorder.h"
#include "attend/inspect/sequence_pair.h"

namespace attend {

// The weights of each hypothesis of one record in the current step: the mean over all layers of the
// pair and their heads. It relies on a search with an observer, which reads one token per step; if
// input and output are one sequence, the first step reads the whole input.
class StepWeights : public Recorder {
 public:
  StepWeights(const Trace& trace, const SequencePair& pair);

  std::optional<RecordRequest> wants(const std::string& layer) override;
  void take(RecordedHead head) override;

  // The weights of a live hypothesis in the last step, one for each key: those of the other
  // sequence, or what was written so far. Empty if no layer has the pair. Resets for the next step.
  std::vector<float> finish_step(size_t hypothesis);

 private:
  std::vector<std::string> names_;
  bool is_self_, is_joined_;
  size_t keys_;  // of another sequence
  // Of each hypothesis. A layer passes all of them as rows of one sequence, or as one sequence
  // each.
  std::vector<std::vector<float>> sums_;
  size_t heads_ = 0;
};

}  // namespace attend
