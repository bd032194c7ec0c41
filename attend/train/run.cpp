#include "attend/train/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/base/clock.h"
#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/io/config.h"
#include "attend/io/json_log.h"
#include "attend/io/model_directory.h"
#include "attend/io/safetensors.h"
#include "attend/train/prepared.h"
#include "attend/train/report_json.h"
#include "attend/train/run_directory.h"

namespace attend {
namespace {

constexpr const char* kState = "state.json";

// Writes log.jsonl beside telling the observer.
class Logged : public TrainingObserver {
 public:
  Logged(TrainingObserver& to, Metric metric) : to_(to), metric_(metric) {}

  void open(const std::filesystem::path& path, std::optional<int64_t> resumed_step) {
    log_ = std::make_unique<JsonLog>(path, resumed_step);
  }
  void sync() { log_->sync(); }

  void on_report(const TrainingReport& r) override {
    log_->append(report_json(r));
    to_.on_report(r);
  }
  void on_step(const TrainingReport& r) override { to_.on_step(r); }
  void on_validation(const TrainingReport& r, const ValidationScore& s, bool best) override {
    log_->append(validation_json(r, s, best, metric_));
    to_.on_validation(r, s, best);
  }
  void on_message(const std::string& text) override { to_.on_message(text); }
  void on_transfer(const TransferReport& report) override { to_.on_transfer(report); }

 private:
  TrainingObserver& to_;
  std::unique_ptr<JsonLog> log_;  // since open()
  Metric metric_;
};

// Whether checkpoints would have other tensors.
bool changes_tensors(const std::string& path, const RunConfig& before, const RunConfig& now) {
  const OptimizerConfig &was = before.optimizer, &is = now.optimizer;
  const auto sgd = [](const OptimizerConfig& c) { return c.kind == OptimizerKind::kSgd; };
  if (path == "optimizer.kind") return sgd(was) != sgd(is);
  if (path == "optimizer.momentum") return sgd(is) && (was.momentum > 0) != (is.momentum > 0);
  if (path == "training.frozen") return true;
  if (path == "training.objective") {
    const Task& task = task_of(now, signature_of(now.model));
    return objective_of(before, task) != objective_of(now, task);
  }
  return path == "training.average" && (before.training.average > 0) != (now.training.average > 0);
}

// Whether a setting of the model follows from the text of the run: one that can be left open, and
// is not, is set.
bool is_fitted(std::string_view path, RunConfig config) {
  const Task& task = task_of(config, signature_of(config.model));
  for (const Field& field : fields_of(config.model.settings).fields) {
    if (path != fmt::format("model.{}.{}", config.model.kind.name, field.path)) continue;
    const bool is_set = field.type->optional && field.get();
    return !is_set && std::ranges::count(task.fitted_settings, field.path) > 0;
  }
  return false;
}

// What was trained here before must fit what is asked for now.
void compare(const Before& before, const RunConfig& config, const ModelDirectory& directory,
             TrainingObserver& observer) {
  for (const Difference& d : differences(before.config, config)) {
    const bool alters_nothing = d.path.ends_with("dropout");
    const bool fixed = d.path.starts_with("model.") || d.path.starts_with("vocabulary.") ||
                       d.path.starts_with("lora.") || d.path == "training.shards" ||
                       changes_tensors(d.path, before.config, config);
    const bool known_later = d.path.ends_with("_vocabulary") || is_fitted(d.path, config) ||
                             (d.path == "schedule.warmup" && !config.schedule.warmup);
    const bool sized = d.path == "batch.tokens" && config.memory.bytes > 0;
    const bool too_late =
        d.path == "training.steps" && config.training.steps <= before.checkpoint.step;
    if (known_later || sized || too_late || d.path == "out") continue;
    if (d.path == "init_from" || d.path == "init_vocabulary" || d.path == "training.reinitialize") {
      observer.on_message(
          fmt::format("{} = {} changes nothing: the run has started already", d.path, d.after));
      continue;
    }
    if (d.path == "time") {
      observer.on_message(
          fmt::format("time: the plan for {} is kept, {} steps; --steps +N trains longer", d.before,
                      before.config.training.steps));
      continue;
    }
    if (fixed && !alters_nothing) {
      throw ConfigError(
          "{}: trained with {} = {}, not {}; keep that setting, or train into another directory",
          directory.root.string(), d.path, d.before, d.after);
    }
    observer.on_message(fmt::format("now {} = {} (was {})", d.path, d.after, d.before));
  }
}

// Takes lines out of the log that the resumed run will write again, or would not have written: the
// report that a run made because it ended, and a validation that is due once more.
void forget_lines(const std::filesystem::path& log, bool goes_on, const TrainingState& state) {
  if (!std::filesystem::exists(log)) return;
  const std::string early = fmt::format("\"{}\":", kEarlyReport);
  const std::string validation = fmt::format("{{\"step\":{},\"valid_loss\"", state.step);
  const std::string all = file_contents(log);
  std::string kept;
  for (std::string_view rest = all; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n') + 1);  // all, where none ends
    const std::string_view whole = line.empty() ? rest : line;
    rest.remove_prefix(whole.size());
    const bool again = state.validation_due && whole.starts_with(validation);
    const bool ended = goes_on && whole.find(early) != std::string_view::npos;
    if (!again && !ended) kept += whole;
  }
  if (kept != all) replace_file(log, kept);
}

// What is in a directory where there is no checkpoint to resume from must not be lost unnoticed.
void start_over(const ModelDirectory& directory, const RunOptions& options,
                TrainingObserver& observer) {
  namespace fs = std::filesystem;
  const bool has_model = fs::exists(directory.weights()) || fs::exists(directory.adapter());
  if (has_model && !options.overwrite) {
    throw IoError(
        "{} has a model, but no checkpoint to resume from; train into another "
        "directory (--out), or replace the model with --overwrite",
        directory.root.string());
  }
  std::error_code none;
  if (!options.overwrite && fs::file_size(directory.log(), none) > 0 && !none) {
    observer.on_message(fmt::format("{}: the last run left no checkpoint; starting at step 0",
                                    directory.root.string()));
  }
}

// The run to resume, if there is one that may be.
std::optional<Before> resumable_run(const ModelDirectory& directory, const RunConfig& config,
                                    const RunOptions& options, TrainingObserver& observer) {
  const bool nothing_whole = options.overwrite && !any_whole_checkpoint(directory.checkpoints());
  auto before = nothing_whole ? std::nullopt : run_before(directory, config, observer);
  if (before) {
    compare(*before, config, directory, observer);
  } else {
    start_over(directory, options, observer);
  }
  return before;
}

class Run {
 public:
  Run(const RunConfig& config, const ModelDirectory& directory, const std::optional<Before>& before,
      const RunOptions& options, TrainingObserver& observer)
      : directory_(directory),
        prepared_(config, directory, before, options.budget, observer),
        observer_(observer, config.validation.metric),
        trainer_({prepared_.model, *prepared_.objective, prepared_.corpus,
                  prepared_.validator ? &*prepared_.validator : nullptr, prepared_.config,
                  observer_,
                  [this](Trainer&, bool best) {
                    save(best);
                    keep_time();
                  },
                  [this](Trainer& trainer) { store_snapshot(trainer); }}) {
    if (before) {
      resume(before->checkpoint);
    } else {
      budget_started_ = options.budget.started;
      time_ = TimeKeeper(static_cast<double>(config.time.seconds));
    }
    if (!before && options.overwrite) remove_model(directory);
    make_directories(directory.checkpoints());
    first_step_ = saved_step_ = trainer_.state().step;
    if (before) forget_lines(directory.log(), goes_on(config, before), trainer_.state());
    observer_.open(directory.log(), before ? std::optional(first_step_) : std::nullopt);
    if (goes_on(config, before)) describe();
    if (before && !has_weights() && keeps_weights(first_step_ == trainer_.state().best_step)) {
      save_weights();
    }
  }

  RunResult go(const std::atomic<bool>& stop) {
    keep_time();
    const TrainingEnd end = trainer_.run(stop);
    const TrainingState& state = trainer_.state();
    if (end == TrainingEnd::kStopped && state.step > saved_step_) save(false);
    return {end, state.step, first_step_, state.best_step, state.best_score};
  }

 private:
  static bool goes_on(const RunConfig& config, const std::optional<Before>& before) {
    return !before || before->checkpoint.step < config.training.steps;
  }

  // The note first: tokenizers without it are taken for the user's own.
  void describe() const {
    const RunTokenizers& tokenizers = prepared_.tokenizers;
    if (tokenizers.trained) note_trained(directory_, tokenizers.by_column);
    replace_file(directory_.training(), to_yaml(prepared_.config, true));
    if (prepared_.adapter) save_adapter_description(directory_, *prepared_.adapter);
    prepared_.model.save_description(directory_);
  }

  void resume(const Checkpoint& checkpoint) {
    load_weights(checkpoint.path / kTrainingTensors, trainer_.tensors());
    TrainingState state;
    read_config(state, checkpoint.path / kState);
    trainer_.resume(state);
    observer_.on_message(fmt::format(
        "resumed at step {}: weights, optimizer and position in the data", checkpoint.step));
  }

  void store_snapshot(Trainer& trainer) {
    const int64_t step = trainer.state().step;
    if (!prepared_.snapshots->due(step)) return;
    try {
      trainer.with_kept_weights([&] { prepared_.snapshots->store(prepared_.model, step); });
    } catch (const std::exception& error) {  // training is worth more than its pictures
      observer_.on_message(fmt::format("no snapshot stored at step {}: {}", step, error.what()));
    }
  }

  std::filesystem::path weights() const {
    return prepared_.adapter ? directory_.adapter() : directory_.weights();
  }
  bool has_weights() const { return std::filesystem::exists(weights()); }
  // Whether the weights of a step become the model.
  bool keeps_weights(bool best) const { return best || !prepared_.validator; }
  void save_weights() {
    trainer_.with_kept_weights([&] {
      if (!prepared_.adapter) return prepared_.model.save_weights(weights());
      write_safetensors(weights(), adapter_tensors(*prepared_.model.model, *prepared_.adapter));
    });
  }

  // The model first: killed in between, the run comes to the same point again. But the first
  // checkpoint comes before the first model, which alone would look like one from elsewhere; killed
  // in between, the run that resumes writes it.
  void save(bool best) {
    const TrainingState& state = trainer_.state();
    const bool keeps = keeps_weights(best), first = !has_weights();
    if (keeps && !first) save_weights();
    observer_.sync();
    write_checkpoint(directory_.checkpoints(), state.step, [&](const std::filesystem::path& path) {
      write_safetensors(path / kTrainingTensors, trainer_.tensors());
      replace_file(path / kState, to_json(state) + "\n");
    });
    saved_step_ = state.step;
    if (keeps && first) save_weights();
    const TrainingConfig& training = prepared_.config.training;
    KeepCheckpoints keep{.last = std::max<size_t>(1, training.keep), .every = training.keep_every};
    if (state.best_step > 0) keep.best = state.best_step;
    prune_checkpoints(directory_.checkpoints(), keep);
  }

  // A plan is revised right after a checkpoint, so that a run that is resumed from it follows the
  // same rates as one that was not stopped.
  void keep_time() {
    int64_t& steps = prepared_.config.training.steps;
    const auto revised =
        time_.revised(trainer_.state().step, steps, seconds_since(budget_started_));
    if (!revised) return;
    observer_.on_message(fmt::format("time: the plan would end {}; now {} steps in place of {}",
                                     *revised > steps ? "early" : "late", *revised, steps));
    steps = *revised;
    replace_file(directory_.training(), to_yaml(prepared_.config, true));
  }

  ModelDirectory directory_;
  Prepared prepared_;
  Logged observer_;
  Trainer trainer_;
  int64_t first_step_ = 0, saved_step_ = 0;
  TimeKeeper time_;
  Clock::time_point budget_started_;
};

RunConfig fitted_for(const RunConfig& given, TrainingObserver& observer) {
  RunConfig config = fitted(given);
  if (config.model.kind != given.model.kind) {
    observer.on_message(fmt::format("model: {} around {}, which fits the data",
                                    config.model.kind.name, given.model.kind.name));
  }
  return config;
}

constexpr int64_t kPlannedSteps = 5;

// Remembers the last report, and passes messages on.
struct LastReport : TrainingObserver {
  TrainingObserver& to;
  TrainingReport report;

  explicit LastReport(TrainingObserver& observer) : to(observer) {}
  void on_report(const TrainingReport& r) override { report = r; }
  void on_message(const std::string& text) override { to.on_message(text); }
};

}  // namespace

RunPlan plan_training(const RunConfig& asked, TrainingObserver& observer,
                      const RunOptions& options) {
  asked.check();
  const RunConfig given = fitted_for(asked, observer);
  check_texts(given);
  const ModelDirectory directory{given.out};
  const auto before = resumable_run(directory, given, options, observer);
  const TemporaryDirectory temporary;
  copy_tokenizers(directory, {temporary.path()});
  RunConfig config = given;
  config.training.report_every = kPlannedSteps;
  config.validation.metric = Metric::kLoss;
  for (auto file : {&DataConfig::valid_source, &DataConfig::valid_target, &DataConfig::valid_pair,
                    &DataConfig::valid_label, &DataConfig::valid_tags, &DataConfig::valid_number}) {
    (config.data.*file).clear();
  }
  config.data.valid_text.clear();
  LastReport last(observer);
  Prepared prepared(config, {temporary.path()}, before, options.budget, last);
  RunPlan plan{.task = std::string(prepared.task.name),
               .record_name = std::string(prepared.task.records)};
  for (const NamedTensor& p : parameters(*prepared.model.model)) {
    plan.parameters += p.tensor.size();
    const std::string part = p.name.substr(0, p.name.find('.'));
    if (plan.parts.empty() || plan.parts.back().first != part) plan.parts.emplace_back(part, 0);
    plan.parts.back().second += p.tensor.size();
  }
  const auto sizes = vocabularies_of(prepared.model.tokenizers, prepared.signature);
  for (const ColumnSpec& column : prepared.signature.columns) {
    plan.vocabularies.emplace_back(column.name, sizes.at(column.name));
  }
  plan.records = prepared.corpus.size();
  plan.left_out = prepared.corpus.counts().left_out();
  const size_t shards = config.training.shards;
  const BatchStream stream(prepared.corpus, prepared.config.batch, {}, shards);
  plan.steps_per_epoch = std::max<size_t>(1, stream.batches_per_epoch() / shards);

  plan.steps_done = before ? before->checkpoint.step : 0;
  const int64_t steps = std::max<int64_t>(0, config.training.steps - plan.steps_done);
  prepared.config.training.steps = kPlannedSteps;
  Trainer trainer({prepared.model, *prepared.objective, prepared.corpus, nullptr, prepared.config,
                   last, [](Trainer&, bool) {}});
  trainer.run(false);
  plan.tokens_per_second = last.report.tokens_per_second;
  const double tokens = prepared.corpus.lengths().rows_of_epoch();
  const double epochs = static_cast<double>(steps) * static_cast<double>(shards) /
                        static_cast<double>(stream.batches_per_epoch());
  plan.seconds = epochs * tokens / plan.tokens_per_second;
  return plan;
}

RunResult run_training(const RunConfig& given, TrainingObserver& observer,
                       const std::atomic<bool>& stop, const RunOptions& options) {
  given.check();
  const RunConfig config = fitted_for(given, observer);
  check_texts(config);
  RunDirectory directory({config.out},
                         [&observer](const std::string& text) { observer.on_message(text); });
  const auto before = resumable_run(*directory, config, options, observer);
  Run run(config, *directory, before, options, observer);
  directory.keep();
  return run.go(stop);
}

}  // namespace attend
