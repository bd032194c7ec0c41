// Settings that nobody set, chosen by a look at the text: what a token is, how large the model is,
// how long it trains. The choices follow from the text alone, never from the machine, so that they
// are the same everywhere.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "attend/base/clock.h"
#include "attend/data/text_profile.h"
#include "attend/train/task.h"

namespace attend {

// Which settings were set by somebody, by path: "batch.tokens".
class GivenSettings {
 public:
  void add(std::string path) { paths_.insert(std::move(path)); }
  bool has(std::string_view path) const { return paths_.contains(path); }
  bool any_of(std::string_view section) const;  // "model" for "model.kind" and the like

 private:
  std::set<std::string, std::less<>> paths_;
};

// A config in which everything else was chosen, and what to tell about it: a line for the tokens,
// one for the model, one for training, each with the reason and the flags that change it.
struct Choices {
  RunConfig config;
  std::optional<ModelSize> size;  // of the model, where it was chosen
  std::vector<std::string> lines;
};

// By a profile of the training text of `task`. What was given stays as it is.
Choices choose_settings(const RunConfig& config, const GivenSettings& given, const Task& task,
                        const TextProfile& profile);

// The same, with the task that fits the text and the model, and the text read for its profile. A
// run that starts from a model has that model's kind, size and tokens, unless others were given, a
// smaller rate and few epochs.
// Throws ConfigError where there is no text, and what reading it throws.
Choices choose_settings(const RunConfig& config, const GivenSettings& given);

// What a run may change of its settings to be done in time (RunConfig::time).
struct TimeBudget {
  Clock::time_point started = Clock::now();
  const GivenSettings* given = nullptr;  // none: only steps and validations are planned
  std::optional<ModelSize> size;         // of a model that may be smaller
};

// The next smaller one that is chosen for less text; none below the smallest.
std::optional<ModelSize> smaller(const ModelSize& size);
double usual_rate(const ModelSize& size);  // of the optimizer

// A model of the first kind that fits the task, of a size; its preset is empty.
ModelConfig model_of_size(const Task& task, const ModelSize& size);

}  // namespace attend
