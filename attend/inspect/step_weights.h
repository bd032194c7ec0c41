// Where hypotheses look while they are being written.
#pragma once

#include "attend/attention/recorder.h"
#include "attend/inspect/sequence_pair.h"

namespace attend {

// The weights of each hypothesis of one record in the step under way, where what is written looks
// at another sequence or at itself: the mean over all layers of the pair, and their heads. A search
// with an observer takes one token a step, which is what this counts on; where what is read is of
// the same sequence, the first step reads all of that.
class StepWeights : public Recorder {
 public:
  StepWeights(const Trace& trace, const SequencePair& pair);

  std::optional<RecordRequest> wants(const std::string& layer) override;
  void take(RecordedHead head) override;

  // Of a live hypothesis in the step that was taken last, a weight for each key: all of another
  // sequence, or what was written so far. Empty where no layer has the pair. The next step starts
  // afresh.
  std::vector<float> finish_step(size_t hypothesis);

 private:
  std::vector<std::string> names_;
  bool is_self_, is_joined_;
  size_t keys_;  // of another sequence
  // Of each hypothesis. A layer hands over all at once as rows of one sequence, or one by one as
  // sequences of their own.
  std::vector<std::vector<float>> sums_;
  size_t heads_ = 0;
};

}  // namespace attend
