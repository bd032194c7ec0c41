#include "attend/train/training_trial.h"

#include <algorithm>
#include <vector>

#include "attend/base/clock.h"
#include "attend/train/task.h"

namespace attend {

TrainingTrial::TrainingTrial(const RunConfig& config, const Task& task, const Corpus& corpus,
                             const Tokenizers& tokenizers, const AdapterDescription* adapter)
    : config_(config) {
  config_.training.unfreeze = "";
  config_.training.report_every = config_.training.save_every = int64_t{1} << 40;
  Rng rng(config.training.seed);
  model_ = {config.model, make_model(config.model, rng), tokenizers};
  model_.read_words();
  objective_ = make_objective(config, task, model_.model->signature());
  objective_->prepare(corpus, tokenizers);
  if (adapter != nullptr) start_adapter(*model_.model, *adapter, rng);
  parameters_ = static_cast<double>(parameter_count(*model_.model));
  trainer_.emplace(Trainer::Parts{model_, *objective_, corpus, nullptr, config_, nobody_,
                                  [](Trainer&, bool) {}});
}

double TrainingTrial::seconds_of_step(double at_least) {
  constexpr int64_t kSteps = 4;  // of a part
  run(3);                        // until memory is there
  const Clock::time_point start = Clock::now();
  std::vector<double> parts;
  double done = 0;
  while (parts.size() < 3 || done < at_least) {
    run(kSteps);
    const double now = seconds_since(start);
    parts.push_back((now - done) / static_cast<double>(kSteps));
    done = now;
  }
  const auto middle = parts.begin() + static_cast<std::ptrdiff_t>(parts.size() / 2);
  std::nth_element(parts.begin(), middle, parts.end());
  return *middle;
}

void TrainingTrial::run(int64_t steps) {
  config_.training.steps = trainer_->state().step + steps;
  trainer_->run(false);
}

}  // namespace attend
