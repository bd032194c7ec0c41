#include "attend/train/trainer.h"

#include <chrono>
#include <cmath>

#include "attend/base/error.h"
#include "attend/ops/elementwise.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"

namespace attend {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

TrainingBatch training_batch(const Batch& batch) {
  const std::vector<int32_t> labels = batch.labels();
  return {Tokens(batch.source, batch.sources), Tokens(batch.decoder_inputs(), batch.targets),
          Tensor::ids(labels, {labels.size()})};
}

Trainer::Trainer(Parts parts)
    : parts_(std::move(parts)),
      parameters_(parameters(*parts_.model.model)),
      optimizer_(parameters_, parts_.config.optimizer) {
  stream_.emplace(parts_.corpus, parts_.config.batch);
  const TrainingConfig& config = parts_.config.training;
  objective_ = objective_of(config);
  if (config.average > 0) average_.emplace(parameters_, config.average);
}

void Trainer::resume(const TrainingState& state) {
  state_ = state;
  optimizer_.resume_at(state.step);
  stream_.emplace(parts_.corpus, parts_.config.batch, DataPosition{state.epoch, state.batch});
  first_step_ = state.step;
}

std::vector<NamedTensor> Trainer::tensors() const {
  std::vector<NamedTensor> all;
  const auto add = [&all](const std::string& prefix, const std::vector<NamedTensor>& tensors) {
    for (const NamedTensor& t : tensors) all.push_back({prefix + t.name, t.tensor});
  };
  add(kWeightsPrefix, parameters_);
  add("optimizer.", optimizer_.state());
  if (average_) add("average.", average_->state());
  return all;
}

void Trainer::with_kept_weights(const std::function<void()>& f) {
  if (!average_) return f();
  average_->swap();
  try {
    f();
  } catch (...) {
    average_->swap();
    throw;
  }
  average_->swap();
}

TrainingEnd Trainer::run(const std::atomic<bool>& stop) {
  const RunConfig& config = parts_.config;
  while (state_.step < config.training.steps) {
    if (stop) return TrainingEnd::kStopped;
    if (!update()) continue;
    if (state_.step % config.training.report_every == 0) report();
    parts_.after_step(*this);
    const bool last = state_.step == config.training.steps;
    if (parts_.validator != nullptr && (state_.step % config.validation.every == 0 || last)) {
      validate();
      const bool patient =
          config.validation.patience == 0 || state_.not_better < config.validation.patience;
      if (!patient) return TrainingEnd::kNoProgress;
    } else if (state_.step % config.training.save_every == 0 || last) {
      parts_.save(*this, false);
    }
  }
  return TrainingEnd::kAllSteps;
}

bool Trainer::update() {
  const auto start = Clock::now();
  const TrainingConfig& config = parts_.config.training;
  std::vector<Batch> batches;
  size_t labels = 0, tokens = 0;
  for (size_t i = 0; i < config.accumulation; ++i) {
    batches.push_back(stream_->next());
    labels += batches.back().targets.rows();
    tokens += batches.back().tokens();
  }
  double loss = 0;
  for (size_t i = 0; i < batches.size(); ++i) {
    const uint64_t place = (state_.updates_tried * config.accumulation + i) << 24;
    const TrainingScope training(Rng(config.seed + 1, place));
    const Tensor sum = objective_sum(objective_, *parts_.model.model, training_batch(batches[i]));
    loss += double{sum.item()};
    backward(scale(sum, 1.0f / static_cast<float>(labels)));
  }
  ++state_.updates_tried;
  state_.epoch = stream_->position().epoch;
  state_.batch = stream_->position().batch;
  const double factor = schedule_factor(parts_.config.schedule, state_.step + 1, config.steps);
  last_norm_ = optimizer_.step(factor);
  seconds_ += seconds_since(start);
  tokens_ += static_cast<double>(tokens);
  if (!std::isfinite(last_norm_) || !std::isfinite(loss)) {
    ++state_.bad_updates;
    if (++state_.bad_in_a_row >= config.bad_updates) {
      throw DataError(
          "train: the loss or its gradients were not finite {} times in a row, at step {}; the "
          "last "
          "checkpoint is untouched. Try a lower optimizer.rate (now {}), a longer schedule.warmup "
          "(now {}) or optimizer.clip_norm 1",
          state_.bad_in_a_row, state_.step, parts_.config.optimizer.rate,
          parts_.config.schedule.warmup);
    }
    return false;
  }
  state_.bad_in_a_row = 0;
  ++state_.step;
  state_.loss_sum += loss;
  state_.label_count += labels;
  if (average_) average_->update(state_.step);
  return true;
}

TrainingReport Trainer::progress() const {
  const TrainingConfig& config = parts_.config.training;
  TrainingReport r;
  r.step = state_.step;
  r.steps = config.steps;
  r.epoch = static_cast<double>(state_.epoch) +
            static_cast<double>(state_.batch) / static_cast<double>(stream_->batches_per_epoch());
  if (state_.label_count > 0) r.loss = state_.loss_sum / static_cast<double>(state_.label_count);
  r.rate = parts_.config.optimizer.rate *
           schedule_factor(parts_.config.schedule, state_.step, config.steps);
  r.gradient_norm = last_norm_;
  const double seconds = seconds_ - reported_seconds_;
  if (seconds > 0) r.tokens_per_second = (tokens_ - reported_tokens_) / seconds;
  const auto done = static_cast<double>(state_.step - first_step_);
  if (done > 0) r.seconds_left = seconds_ / done * static_cast<double>(r.steps - r.step);
  r.bad_updates = state_.bad_updates;
  return r;
}

void Trainer::report() {
  parts_.observer.on_report(progress());
  state_.loss_sum = 0;
  state_.label_count = 0;
  reported_seconds_ = seconds_;
  reported_tokens_ = tokens_;
}

void Trainer::validate() {
  ValidationScore score;
  with_kept_weights([&] { score = (*parts_.validator)(parts_.model); });
  const Metric metric = parts_.config.validation.metric;
  const bool best = state_.best_step == 0 || better(metric, score.score, state_.best_score);
  if (best) {
    state_.best_score = score.score;
    state_.best_step = state_.step;
  }
  state_.not_better = best ? 0 : state_.not_better + 1;
  parts_.observer.on_validation(progress(), score, best);
  parts_.save(*this, best);
}

}  // namespace attend
