#include "attend/attention/recorder.h"

#include <algorithm>

namespace attend {
namespace {

thread_local Recorder* active_recorder = nullptr;

}  // namespace

Recorder::Recorder() : before_(active_recorder) { active_recorder = this; }

Recorder::~Recorder() { active_recorder = before_; }

std::optional<RecordRequest> Recorder::wants(const std::string&) { return request; }

void Recorder::take(RecordedHead head) { heads.push_back(std::move(head)); }

size_t Recorder::next_call(const std::string& layer) {
  const auto known = std::ranges::find(calls_, layer, &std::pair<std::string, size_t>::first);
  if (known != calls_.end()) return known->second++;
  calls_.emplace_back(layer, 1);
  return 0;
}

Recorder* current_recorder() { return active_recorder; }

}  // namespace attend
