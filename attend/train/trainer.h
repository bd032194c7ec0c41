// The loop: batches, gradients, updates; reports, validations, checkpoints. What it needs to resume
// after a crash is in its state, so that a resumed run has the bits of one that was never stopped.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "attend/base/limits.h"
#include "attend/data/plan.h"
#include "attend/io/checkpoint.h"
#include "attend/models/text_model.h"
#include "attend/train/average.h"
#include "attend/train/objective.h"
#include "attend/train/optimizer.h"
#include "attend/train/parameter_groups.h"
#include "attend/train/run_config.h"
#include "attend/train/update.h"
#include "attend/train/validation.h"

namespace attend {

// All that changes while training, beside weights and moments.
struct TrainingState {
  int64_t step = 0;  // updates done
  uint64_t epoch = 0, batch = 0;
  uint64_t updates_tried = 0;  // with those that were not finite
  uint64_t bad_in_a_row = 0, bad_updates = 0;
  double best_score = 0;
  double best_loss = 0;     // of that validation; 0: not known
  int64_t best_step = 0;    // 0: none yet
  uint64_t not_better = 0;  // validations since the best one
  uint64_t judged_by = 0;   // Validator::fingerprint() of the scores; 0: none
  double loss_sum = 0;      // since the last report
  double label_count = 0;
  bool validation_due = false;  // the step was done, but not yet validated

  template <typename V>
  void fields(V& v) {
    v("step", step, "", limits::kSteps.or_0());
    v("epoch", epoch, "", limits::kAny);
    v("batch", batch, "", limits::kAny);
    v("updates_tried", updates_tried, "", limits::kAny);
    v("bad_in_a_row", bad_in_a_row, "", limits::kAny);
    v("bad_updates", bad_updates, "", limits::kAny);
    v("best_score", best_score, "");
    v("best_loss", best_loss, "");
    v("best_step", best_step, "", limits::kSteps.or_0());
    v("not_better", not_better, "", limits::kAny);
    v("judged_by", judged_by, "", limits::kAny);
    v("loss_sum", loss_sum, "");
    v("label_count", label_count, "");
    v("validation_due", validation_due, "");
  }
};

// Whether a validation's score is the best so far. NaN never is, and everything is better than NaN.
bool is_best(Metric metric, double score, const TrainingState& state);
// Whether it equals the best so far with a lower loss: many models get all of a few lines right.
bool breaks_tie(double score, double loss, const TrainingState& state);

// The progress of a run.
struct TrainingReport {
  int64_t step = 0, steps = 0;
  double epoch = 0;
  double loss = 0;  // nats a label since the last report, of the whole objective
  double rate = 0, gradient_norm = 0;
  double tokens_per_second = 0;  // of all columns, without validation
  double seconds_left = 0;
  uint64_t bad_updates = 0;
  bool early = false;                // not due yet, but there is no later one
  std::vector<LossPart> parts = {};  // nats a label of the last update, where its loss has several
};

// Hears what happens. All calls come from the thread that trains.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  // Progress; the result of a validation; and messages for a person.
  virtual void on_report(const TrainingReport&) {}
  virtual void on_step(const TrainingReport&) {}  // after each that is not reported
  virtual void on_validation(const TrainingReport&, const ValidationScore&, bool /*best*/) {}
  virtual void on_message(const std::string&) {}
  // What a new run took from RunConfig::init_from; messages have a summary of it.
  virtual void on_transfer(const TransferReport&) {}
};

// Why training ended.
enum class TrainingEnd { kAllSteps, kNoProgress, kStopped };

// The training loop.
class Trainer {
 public:
  // What it works with; everything must outlive the trainer.
  struct Parts {
    TextModel& model;
    Objective& objective;
    const Corpus& corpus;
    const Validator* validator;  // or none
    const RunConfig& config;
    TrainingObserver& observer;
    // Called when weights are worth keeping: a checkpoint, and whether it is the best so far.
    std::function<void(Trainer&, bool best)> save;
    // Called after each step.
    std::function<void(Trainer&)> after_step = [](Trainer&) {};
  };
  explicit Trainer(Parts parts);

  // Until the last step, until nothing gets better, or until `stop` is set. Throws DataError when
  // updates stay not finite, or before weights are saved that give no loss.
  TrainingEnd run(const std::atomic<bool>& stop);

  // For checkpoints: everything that must be kept, by name; and how to resume from it.
  std::vector<NamedTensor> tensors() const;
  const TrainingState& state() const { return state_; }
  // In an epoch that has fewer batches now, continues with the next; where validation measures
  // something else, resets the best score and says so.
  void resume(const TrainingState& state);

  // Runs f while the model has the weights to be kept: the mean, where there is one.
  void with_kept_weights(const std::function<void()>& f);

 private:
  bool update();  // false: it was not finite
  void unfreeze();
  bool apply(const UpdateGradients& gradients);
  Batch next_batch();
  std::unique_ptr<BatchStream> stream_from(DataPosition position) const;
  void report();
  bool validate(const std::atomic<bool>& stop);  // false: it was stopped
  bool patient() const;
  void check_sound() const;
  [[noreturn]] void fail(const std::string& what) const;
  TrainingReport progress() const;

  Parts parts_;
  Signature signature_;
  std::vector<NamedTensor> parameters_;  // of the model, frozen ones too; not an adapter's base
  Optimizer optimizer_;
  Unfreezing unfreezing_;
  std::optional<MovingAverage> average_;
  std::optional<ShiftedWindows> windows_;
  std::unique_ptr<BatchStream> stream_;
  TrainingState state_;
  std::optional<Batch> last_batch_;  // that an update was made from
  double last_norm_ = 0;
  std::vector<LossPart> last_parts_;  // nats a label
  double seconds_ = 0;                // spent on updates in this process
  double tokens_ = 0;                 // seen in them
  double reported_seconds_ = 0, reported_tokens_ = 0;
  int64_t first_step_ = 0;
};

}  // namespace attend
