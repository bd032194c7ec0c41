#include "attend/train/time_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attend/base/clock.h"
#include "attend/base/error.h"
#include "attend/train/training_trial.h"

namespace attend {
namespace {

constexpr double kUsed = 0.965;       // of the time, to leave some for what was not foreseen
constexpr double kValidation = 0.4;   // what a token costs there, in updates
constexpr int64_t kValidations = 20;  // of a run
constexpr double kAimedEnd = 0.975;   // of the time, for a revised plan
constexpr double kTolerance = 0.02;   // of the time, by which a run may end too early or too late
constexpr double kRecent = 0.25;      // of the time, over which speed is measured
constexpr int64_t kFewestSteps = 20, kEnoughSteps = 1500;
constexpr size_t kSmallestBatch = 1024;

class Planner {
 public:
  Planner(RunConfig& config, const Task& task, const Corpus& corpus, const Tokenizers& tokenizers,
          const AdapterDescription* adapter, const TimeBudget& budget)
      : config_(config),
        task_(task),
        corpus_(corpus),
        tokenizers_(tokenizers),
        adapter_(adapter),
        budget_(budget),
        rows_(corpus.lengths().rows_of_epoch()) {}

  void plan() {
    // The warm-up is a part of the plan, so that its steps are as long as others are.
    if (budget_.size && may_choose("model")) choose_size();
    if (may_choose("batch")) choose_batch();
    const double seconds = trial(config_, 0.02);
    step_seconds_ = seconds;
    const double left = seconds_left() - 1.0;
    const double steps = left / (seconds * (1 + validation_share()));
    if (steps < kFewestSteps) {
      throw ConfigError(
          "train: {} is too little time: this machine can do only {:.0f} steps in it; allow more "
          "time, or train a smaller model",
          detail::print_field(config_.time), std::max(0.0, steps));
    }
    config_.training.steps = static_cast<int64_t>(steps);
    config_.validation.every = std::max<int64_t>(1, config_.training.steps / kValidations);
    config_.validation.patience = 0;
    config_.training.save_every =
        std::clamp<int64_t>(config_.training.steps / 4, 1, config_.training.save_every);
  }

  std::string said() const {
    const double tokens = rows_ / static_cast<double>(batches());
    const double epochs =
        static_cast<double>(config_.training.steps) / static_cast<double>(batches());
    return fmt::format(
        "time: {} is enough for {}{} steps of {} tokens, {:.1f} epochs, at {:.0f} tokens/s on this "
        "machine",
        detail::print_field(config_.time), model_text_, config_.training.steps,
        config_.batch.tokens, epochs, tokens / step_seconds_);
  }

 private:
  bool may_choose(std::string_view section) const {
    return budget_.given != nullptr && !budget_.given->any_of(section);
  }
  double seconds_left() const {
    return kUsed * static_cast<double>(config_.time.seconds) - seconds_since(budget_.started);
  }
  size_t batches() const {
    const BatchStream stream(corpus_, config_.batch, {}, config_.training.shards);
    return std::max<size_t>(1, stream.batches_per_epoch() / config_.training.shards);
  }
  double trial(const RunConfig& config, double share) {
    TrainingTrial trial(config, task_, corpus_, tokenizers_, adapter_);
    parameters_ = trial.parameters();
    return trial.seconds_of_step(share * static_cast<double>(config_.time.seconds));
  }

  // Validations of the whole run, as a share of its updates: their rows are about those of the held
  // out text.
  double validation_share() const {
    const double share = config_.data.held_out > 0 ? config_.data.held_out : 0.05;
    const double epochs = seconds_left() / (step_seconds_ * static_cast<double>(batches()));
    return kValidation * kValidations * share / std::max(1.0, epochs);
  }

  // A model is worth its size if it sees about ten tokens for each parameter; a smaller one learns
  // more in the same time.
  void choose_size() {
    constexpr double kTokensEach = 10;
    const auto sees = [this] {
      const double step = trial(config_, 0.005);
      return seconds_left() / step * rows_ / static_cast<double>(batches());
    };
    for (auto size = budget_.size; sees() < kTokensEach * parameters_;) {
      size = smaller(*size);
      if (!size) return;
      config_.model = model_of_size(task_, *size);
      config_.model.set_vocabularies(vocabularies_of(tokenizers_, signature_of(config_.model)));
      if (!budget_.given->has("optimizer.rate")) config_.optimizer.rate = usual_rate(*size);
      model_text_ = fmt::format("a model {} wide with {} layers, ", size->width, size->layers);
    }
  }

  void choose_batch() {
    const double step = trial(config_, 0.005);
    double steps = seconds_left() / step;
    for (; steps < kEnoughSteps && config_.batch.tokens > kSmallestBatch; steps *= 2) {
      config_.batch.tokens /= 2;
    }
  }

  RunConfig& config_;
  const Task& task_;
  const Corpus& corpus_;
  const Tokenizers& tokenizers_;
  const AdapterDescription* adapter_;
  const TimeBudget& budget_;
  double rows_, parameters_ = 0, step_seconds_ = 0;
  std::string model_text_;  // where another size was chosen
};

}  // namespace

void plan_within_time(RunConfig& config, const Task& task, const Corpus& corpus,
                      const Tokenizers& tokenizers, const AdapterDescription* adapter,
                      const TimeBudget& budget, TrainingObserver& observer) {
  Planner planner(config, task, corpus, tokenizers, adapter, budget);
  planner.plan();
  observer.on_message(planner.said());
}

std::optional<int64_t> TimeKeeper::revised(int64_t step, int64_t steps, double seconds) {
  if (!(budget_ > 0)) return std::nullopt;
  marks_.push_back({step, seconds});
  const auto long_ago = [&](const Mark& mark) {
    return mark.seconds <= seconds - kRecent * budget_;
  };
  // The last of those that are long ago, or the first of all.
  const auto after = std::ranges::find_if_not(marks_, long_ago);
  const Mark& since = after == marks_.begin() ? *after : *std::prev(after);
  const bool known = step > since.step && seconds - since.seconds >= kTolerance * budget_;
  if (!known || step >= steps) return std::nullopt;
  const double step_seconds = (seconds - since.seconds) / static_cast<double>(step - since.step);
  const double end = seconds + step_seconds * static_cast<double>(steps - step);
  if (std::abs(end - kAimedEnd * budget_) <= kTolerance * budget_) return std::nullopt;
  const double left = std::max(0.0, kAimedEnd * budget_ - seconds) / step_seconds;
  return step + std::max<int64_t>(1, std::llround(left));
}

}  // namespace attend
