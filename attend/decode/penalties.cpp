#include "attend/decode/penalties.h"

namespace attend {

bool has_penalties(const SearchConfig& config) {
  return config.repetition_penalty != 1.0f || config.presence_penalty != 0.0f ||
         config.frequency_penalty != 0.0f;
}

float repetition_penalised(float logit, float penalty) {
  return logit > 0.0f ? logit / penalty : logit * penalty;
}

float count_penalised(float logit, size_t count, float presence, float frequency) {
  if (count == 0) return logit;
  return logit - presence - static_cast<float>(count) * frequency;
}

std::vector<ChangedLogit> Penaliser::operator()(const SearchConfig& config,
                                                std::span<const int32_t> prompt,
                                                std::span<const int32_t> written,
                                                std::span<float> logits) {
  std::vector<ChangedLogit> changed;
  const auto count = [&](int32_t token) -> uint32_t& {
    uint32_t& times = counts_[static_cast<size_t>(token)];
    if (times == 0) {
      times = 1;
      changed.push_back({token, logits[static_cast<size_t>(token)]});
    }
    return times;
  };
  if (config.repetition_penalty != 1.0f) {
    for (const int32_t token : prompt) count(token);
  }
  for (const int32_t token : written) ++count(token);
  for (const auto [token, before] : changed) {
    uint32_t& times = counts_[static_cast<size_t>(token)];
    logits[static_cast<size_t>(token)] =
        count_penalised(repetition_penalised(before, config.repetition_penalty), times - 1,
                        config.presence_penalty, config.frequency_penalty);
    times = 0;
  }
  return changed;
}

}  // namespace attend
