#include "attend/inspect/stage_rows.h"

#include <utility>

#include "attend/inspect/attention_maps.h"
#include "attend/nn/row_tap.h"

namespace attend {
namespace {

struct StageTap : RowTap {
  std::vector<Stage> stages;
  void see(const std::string& stage, const Tensor& rows) override {
    stages.push_back({stage, rows.detach()});
  }
};

}  // namespace

std::vector<Stage> stages_of(const TextModel& model, const Trace& trace) {
  StageTap tap;
  logits_of(model, trace);
  return std::move(tap.stages);
}

}  // namespace attend
