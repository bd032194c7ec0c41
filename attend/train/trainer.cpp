#include "attend/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attend/base/clock.h"
#include "attend/base/error.h"
#include "attend/data/windows.h"
#include "attend/io/model_directory.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

// Where the records are windows that may be cut at other tokens.
std::optional<ShiftedWindows> shifted_windows(const Trainer::Parts& parts) {
  if (!parts.config.data.shift) return std::nullopt;
  for (const ColumnDescriptor& column : parts.corpus.columns()) {
    if (!parts.corpus.has(context_column(column.name()))) continue;
    const auto& tokenizer = parts.model.tokenizers.at(std::string(column.name()));
    return ShiftedWindows(parts.corpus, column.name(), tokenizer->special().start);
  }
  return std::nullopt;
}

}  // namespace

bool is_best(Metric metric, double score, const TrainingState& state) {
  if (std::isnan(score)) return false;
  return state.best_step == 0 || std::isnan(state.best_score) ||
         better(metric, score, state.best_score);
}

bool breaks_tie(double score, double loss, const TrainingState& state) {
  return state.best_step > 0 && score == state.best_score && loss < state.best_loss;
}

Trainer::Trainer(Parts parts)
    : parts_(std::move(parts)),
      signature_(parts_.model.model->signature()),
      parameters_(parameters(*parts_.model.model)),
      optimizer_(Optimizer::of_groups(
          trained_groups(*parts_.model.model, parts_.objective, parts_.config.training),
          parts_.config.optimizer)),
      unfreezing_(*parts_.model.model, parts_.config.training),
      windows_(shifted_windows(parts_)),
      stream_(stream_from({})) {
  const TrainingConfig& config = parts_.config.training;
  if (parts_.config.lora.rank > 0) {
    std::erase_if(parameters_, [](const NamedTensor& p) { return !p.tensor.needs_grad(); });
  }
  if (config.average > 0) average_.emplace(parameters_, config.average);
  if (parts_.validator != nullptr) state_.judged_by = parts_.validator->fingerprint();
}

void Trainer::resume(const TrainingState& state) {
  const uint64_t judged_by = std::exchange(state_, state).judged_by;
  state_.judged_by = judged_by;
  // One that was saved without it is taken for the same.
  if (state.best_step > 0 && state.judged_by != 0 && state.judged_by != judged_by) {
    state_.best_score = 0;
    state_.best_loss = 0;
    state_.best_step = 0;
    state_.not_better = 0;
    parts_.observer.on_message(fmt::format(
        "Validation settings changed: the best score so far ({:.4g} at step {}) was reset.",
        state.best_score, state.best_step));
  }
  optimizer_.resume_at(state.step);
  const size_t batches = stream_from({state.epoch, 0})->batches_per_epoch();
  const bool past = state.batch >= batches;
  stream_ =
      stream_from(past ? DataPosition{state.epoch + 1, 0} : DataPosition{state.epoch, state.batch});
  first_step_ = state.step;
}

std::vector<NamedTensor> Trainer::tensors() const {
  std::vector<NamedTensor> all;
  const auto add = [&all](const std::string& prefix, const std::vector<NamedTensor>& tensors) {
    for (const NamedTensor& t : tensors) all.push_back({prefix + t.name, t.tensor});
  };
  add(kWeightsPrefix, parameters_and_buffers(*parts_.model.model));
  add("optimizer.", optimizer_.state());
  add(std::string(kObjectivePrefix), parameters_and_buffers(parts_.objective));
  if (average_) add(kAveragePrefix, average_->state());
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
  if (parts_.validator == nullptr) state_.validation_due = false;
  if (state_.validation_due && !validate(stop)) return TrainingEnd::kStopped;
  while (patient() && state_.step < config.training.steps) {
    if (stop) {
      check_sound();
      return TrainingEnd::kStopped;
    }
    if (!update()) continue;
    report();
    parts_.after_step(*this);
    const bool last = state_.step == config.training.steps;
    if (parts_.validator != nullptr && (state_.step % config.validation.every == 0 || last)) {
      if (!validate(stop)) return TrainingEnd::kStopped;
    } else if (state_.step % config.training.save_every == 0 || last) {
      check_sound();
      parts_.save(*this, false);
    }
  }
  return patient() ? TrainingEnd::kAllSteps : TrainingEnd::kNoProgress;
}

bool Trainer::patient() const {
  const size_t patience = parts_.config.validation.patience;
  return parts_.validator == nullptr || patience == 0 || state_.not_better < patience;
}

std::unique_ptr<BatchStream> Trainer::stream_from(DataPosition position) const {
  return std::make_unique<BatchStream>(parts_.corpus, parts_.config.batch, position,
                                       parts_.config.training.shards,
                                       windows_ ? &*windows_ : nullptr);
}

Batch Trainer::next_batch() {
  return training_batch(stream_->next(), signature_, parts_.model.tokenizers);
}

bool Trainer::update() {
  const auto start = Clock::now();
  const TrainingConfig& config = parts_.config.training;
  unfreeze();
  const UpdateNumber number{config.seed, state_.updates_tried, config.shards};
  size_t tokens = 0;
  std::optional<Batch> first;
  const auto loss = [&](size_t shard) {
    const uint64_t epoch = stream_->position().epoch;
    const Batch batch = next_batch();
    tokens += training_rows(batch, signature_);
    if (shard == 0) first = batch;
    return parts_.objective.loss(*parts_.model.model, batch,
                                 {.tokenizers = parts_.model.tokenizers,
                                  .step = state_.step,
                                  .seed = config.seed,
                                  .epoch = epoch,
                                  .random = number.objective(shard),
                                  .training = true});
  };
  const UpdateGradients gradients = update_gradients(optimizer_.parameters(), number, loss);
  ++state_.updates_tried;
  state_.epoch = stream_->position().epoch;
  state_.batch = stream_->position().batch;
  const bool applied = apply(gradients);
  seconds_ += seconds_since(start);
  tokens_ += static_cast<double>(tokens);
  if (!applied) {
    ++state_.bad_updates;
    if (++state_.bad_in_a_row >= config.bad_updates) {
      fail(fmt::format("the loss or its gradients were not finite {} times in a row",
                       state_.bad_in_a_row));
    }
    return false;
  }
  state_.bad_in_a_row = 0;
  ++state_.step;
  state_.loss_sum += gradients.loss;
  state_.label_count += gradients.count;
  last_parts_ = gradients.parts;
  for (LossPart& part : last_parts_) {
    part.sum /= part.labels > 0 ? part.labels : gradients.count;
  }
  last_batch_ = std::move(first);
  if (average_) average_->update(state_.step);
  return true;
}

void Trainer::unfreeze() {
  if (!unfreezing_.at(state_.step, state_.epoch)) return;
  parts_.observer.on_message(fmt::format("step {}: training {} of {} layers, from the top",
                                         state_.step, unfreezing_.trained(), unfreezing_.layers()));
}

// Nothing is changed by a loss or by gradients that are not finite.
bool Trainer::apply(const UpdateGradients& gradients) {
  if (!std::isfinite(gradients.loss)) return false;
  last_norm_ = optimizer_.step(
      gradients.gradients, gradients.rows,
      schedule_factor(parts_.config.schedule, state_.step + 1, parts_.config.training.steps));
  return std::isfinite(last_norm_);
}

// An update can be finite and yet leave weights that give no numbers: those are not saved.
void Trainer::check_sound() const {
  if (!last_batch_) return;  // nothing is new
  for (const NamedTensor& t : tensors()) {
    const auto finite = [](float value) { return std::isfinite(value); };
    if (!std::ranges::all_of(t.tensor.span(), finite)) fail(t.name + " is not finite");
  }
  const NoGrad no_grad;
  const Loss loss = parts_.objective.loss(
      *parts_.model.model, *last_batch_,
      {.tokenizers = parts_.model.tokenizers, .step = state_.step, .training = false});
  if (!std::isfinite(loss.sum.item())) fail("the weights give a loss that is not finite");
}

void Trainer::fail(const std::string& what) const {
  const RunConfig& config = parts_.config;
  const auto checkpoints = ModelDirectory{config.out}.checkpoints();
  std::string text = fmt::format("train: {}, at step {}. ", what, state_.step);
  if (first_step_ > 0 && state_.step == first_step_) {
    text += fmt::format(
        "Training resumed from {0}: remove that directory to resume from the checkpoint before it",
        (checkpoints / fmt::format("step-{}", first_step_)).string());
  } else {
    text += "Nothing of that was saved; checkpoints are as they were";
  }
  text += fmt::format(". Try a lower optimizer.rate (now {})", config.optimizer.rate);
  const int64_t warmup = warmup_steps(config.schedule, config.training.steps);
  if (state_.step < 2 * warmup || warmup == 0) {
    text += fmt::format(", a longer schedule.warmup (now {})", warmup);
  }
  if (!(config.optimizer.clip_norm > 0 && config.optimizer.clip_norm <= 1)) {
    text += ", optimizer.clip_norm 1";
  }
  if (!config.optimizer.check_finite) text += ", optimizer.check_finite";
  throw DataError("{}", text);
}

TrainingReport Trainer::progress() const {
  const TrainingConfig& config = parts_.config.training;
  TrainingReport r;
  r.step = state_.step;
  r.steps = config.steps;
  r.epoch = static_cast<double>(state_.epoch) +
            static_cast<double>(state_.batch) / static_cast<double>(stream_->batches_per_epoch());
  if (state_.label_count > 0) r.loss = state_.loss_sum / state_.label_count;
  r.rate = parts_.config.optimizer.rate *
           schedule_factor(parts_.config.schedule, state_.step, config.steps);
  r.gradient_norm = last_norm_;
  const double seconds = seconds_ - reported_seconds_;
  if (seconds > 0) r.tokens_per_second = (tokens_ - reported_tokens_) / seconds;
  const auto done = static_cast<double>(state_.step - first_step_);
  if (done > 0) r.seconds_left = seconds_ / done * static_cast<double>(r.steps - r.step);
  r.bad_updates = state_.bad_updates;
  r.parts = last_parts_;
  return r;
}

// To the log, every so many steps and at the last one; an early report changes nothing of what a
// longer run would report.
void Trainer::report() {
  TrainingReport now = progress();
  const bool due = state_.step % parts_.config.training.report_every == 0;
  now.early = !due && state_.step == parts_.config.training.steps;
  if (!due && !now.early) return parts_.observer.on_step(now);
  parts_.observer.on_report(now);
  if (now.early) return;
  state_.loss_sum = 0;
  state_.label_count = 0;
  reported_seconds_ = seconds_;
  reported_tokens_ = tokens_;
}

bool Trainer::validate(const std::atomic<bool>& stop) {
  check_sound();
  std::optional<ValidationScore> found;
  with_kept_weights([&] { found = (*parts_.validator)(parts_.model, state_.step, stop); });
  state_.validation_due = !found;
  if (!found) return false;
  const ValidationScore score = *found;
  const bool better_score = is_best(parts_.config.validation.metric, score.score, state_);
  const bool best = better_score || breaks_tie(score.score, score.loss, state_);
  if (best) {
    state_.best_score = score.score;
    state_.best_loss = score.loss;
    state_.best_step = state_.step;
  }
  state_.not_better = better_score ? 0 : state_.not_better + 1;
  parts_.observer.on_validation(progress(), score, best);
  parts_.save(*this, best);
  return true;
}

}  // namespace attend
