// Where hypotheses look while they are being written.
#pragma once

#include "attend/attention/recorder.h"
#include "attend/models/generator.h"

namespace attend {

// The weights over one source of each hypothesis in the step under way: the mean over all layers
// that look at it, and their heads.
class StepRows : public Recorder {
 public:
  StepRows(std::span<const AttentionLayer> layers, size_t source_tokens);

  std::optional<RecordRequest> wants(const std::string& layer) override;
  void take(RecordedHead head) override;

  // Of a live hypothesis in the step that was taken last; empty where the model has no attention.
  // The next step starts afresh.
  std::vector<float> finish_step(size_t hypothesis);

 private:
  std::vector<std::string> names_;
  size_t source_tokens_;
  // Of each hypothesis. A layer hands over all at once as rows of one sequence, or one by one as
  // sequences of their own.
  std::vector<std::vector<float>> sums_;
  size_t heads_ = 0;
};

}  // namespace attend
