// `attend train`: from text files, or a YAML file that names them, to a model directory.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "attend/base/counted.h"
#include "attend/base/printable.h"
#include "attend/nn/init.h"
#include "attend/nn/visit.h"
#include "attend/train/report_json.h"
#include "attend/train/run.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/train_settings.h"

namespace attend::cli {
namespace {

void print_plan(const RunConfig& config, const RunPlan& plan) {
  fmt::print("task          {}\n", plan.task);
  fmt::print("parameters    {}\n", plan.parameters);
  for (const auto& [part, count] : plan.parts) fmt::print("  {:<24}{}\n", part, count);
  for (const auto& [column, size] : plan.vocabularies) {
    fmt::print("vocabulary    {} of {}\n", size, column);
  }
  fmt::print("{:<14}{} ({} left out)\n", plan.record_name, plan.records, plan.left_out);
  fmt::print("steps         {}{}, {} to an epoch\n", config.training.steps,
             plan.steps_done > 0 ? fmt::format(" ({} done)", plan.steps_done) : "",
             plan.steps_per_epoch);
  fmt::print("memory        {}\n", memory_text(peak_memory()));
  fmt::print("time          {} at {:.0f} tokens/s, without validation\n", duration(plan.seconds),
             plan.tokens_per_second);
}

// What programs read: a line of JSON for each report, validation, message and end.
class JsonProgress : public TrainingObserver {
 public:
  explicit JsonProgress(Metric metric) : metric_(metric) {}
  void on_report(const TrainingReport& report) override { print(report_json(report)); }
  void on_validation(const TrainingReport& report, const ValidationScore& score,
                     bool best) override {
    print(validation_json(report, score, best, metric_));
  }
  void on_message(const std::string& text) override {
    print(nlohmann::json{{"message", printable(text)}}.dump());
  }
  void on_transfer(const TransferReport& report) override {
    nlohmann::ordered_json part = nlohmann::json::object();
    for (const TransferReport::Part& p : report.taken_in_part) part[p.name] = {p.rows, p.of};
    print(nlohmann::ordered_json{{"start", printable(report.from)},
                                 {"taken", report.taken},
                                 {"taken_in_part", part},
                                 {"left", report.left},
                                 {"new", report.fresh}}
              .dump());
  }
  void on_end(const RunConfig& config, const RunResult& result) const {
    const std::string_view ends[] = {"all_steps", "no_progress", "stopped"};
    print(nlohmann::ordered_json{{"end", ends[static_cast<size_t>(result.end)]},
                                 {"step", result.step},
                                 {"best_step", result.best_step},
                                 {"model", config.out.string()}}
              .dump());
  }

 private:
  // At once: who reads it may be waiting.
  static void print(const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }
  Metric metric_;
};

void print_end(const RunConfig& config, const RunResult& result) {
  if (result.end == TrainingEnd::kStopped && result.step == 0) {
    notify("stopped before the first step; nothing to save\n");
    return;
  }
  if (result.end == TrainingEnd::kStopped) {
    notify("stopped and saved at step {}; `attend train {}` resumes there\n", result.step,
           config.out.string());
    return;
  }
  const bool patient = result.end != TrainingEnd::kNoProgress;
  const bool already = result.step == result.first_step;
  notify("trained {}{}{}; model in {}{}\n", counted(static_cast<uint64_t>(result.step), "step"),
         already ? " already" : "", patient ? "" : ", until validation stopped improving",
         config.out.string(),
         !already  ? ""
         : patient ? "; --steps +N trains N more"
                   : "; a larger --validation.patience continues");
}

// Parameters beside the tables of tokens, which grow with the vocabulary.
size_t inner_parameters(const ModelConfig& config) {
  const auto count = [&config](size_t vocabulary) {
    ModelConfig sized = config;
    const Signature signature = signature_of(config);
    ModelConfig::Vocabularies sizes;
    for (const ColumnSpec& column : signature.columns) sizes[column.name] = vocabulary;
    sized.set_vocabularies(sizes);
    const ShapesOnly shapes;
    Rng rng(1);
    return parameter_count(*make_model(sized, rng));
  };
  const size_t one = count(1001), two = count(1002);
  return one - 1001 * (two - one);
}

int list_presets() {
  fmt::print("{:<14}{:<14}{:>11}  {}\n", "preset", "kind", "parameters", "");
  for (const ModelKind& kind : model_kinds()) {
    for (const ModelPreset& preset : kind.presets) {
      const ModelConfig config = ModelConfig::of_preset(preset.name);
      fmt::print("{:<14}{:<14}{:>9.1f} M  {}\n", preset.name, kind.name,
                 static_cast<double>(inner_parameters(config)) / 1e6, preset.summary);
    }
  }
  fmt::print("Parameters are counted without the token embeddings.\n");
  return 0;
}

int run_train(const TrainOptions& options) {
  if (options.list_presets) return list_presets();
  const auto started = std::chrono::steady_clock::now();
  const TrainSettings settings = train_settings(options);
  const RunConfig& config = settings.config;
  config.check();
  const RunOptions run{
      .overwrite = options.overwrite,
      .budget = {.started = started, .given = &settings.given, .size = settings.size}};
  const auto say = [&](TrainingObserver& observer) {
    for (const std::string& line : settings.lines) observer.on_message(line);
  };
  if (options.dry_run) {
    Progress progress(config.validation.metric);
    say(progress);
    print_plan(config, plan_training(config, progress, run));
    return 0;
  }
  const std::atomic<bool>& stop =
      stop_on_signals("\nstopping; a second signal stops at once, without saving\n");
  RunResult result;
  if (options.json) {
    JsonProgress progress(config.validation.metric);
    say(progress);
    result = run_training(config, progress, stop, run);
    progress.on_end(config, result);
  } else {
    Progress progress(config.validation.metric);
    say(progress);
    result = run_training(config, progress, stop, run);
  }
  if (!options.json) print_end(config, result);
  return result.end == TrainingEnd::kStopped ? stopped_exit_code() : 0;
}

}  // namespace

Command add_train(CLI::App& app) {
  CLI::App* parser = app.add_subcommand("train", "Train a model on text");
  auto options = std::make_shared<TrainOptions>();
  const auto add_file = [&](const char* name, auto& file, const char* help) {
    if constexpr (std::is_same_v<std::decay_t<decltype(file)>, TextFiles>) {
      // What follows a file is not another one, so that a FILE of settings may.
      parser->add_option(name, static_cast<std::vector<std::filesystem::path>&>(file), help)
          ->type_name("FILE")
          ->allow_extra_args(std::string_view(name).ends_with("text"));
    } else {
      parser->add_option(name, file, help)->type_name("FILE");
    }
  };
  add_file("config", options->file,
           "YAML or JSON file with settings, or a model directory to resume");
  DataConfig& data = options->data;
  add_file("--source", data.source, "text to read, one sentence per line; may be .gz");
  add_file("--target", data.target, "text to write; line n belongs to line n of the source");
  const auto add_valid = [&](const char* name, auto& file) {
    add_file(name, file, "the same for validation");
    parser->get_option(name)->group("Settings of validation text");
  };
  add_valid("--valid-source", data.valid_source);
  add_valid("--valid-target", data.valid_target);
  add_file("--text", data.text, "text of a language model, or lines to label");
  add_file("--pair", data.pair, "second texts, which are read with those of --text");
  add_file("--label", data.label, "labels, one for each line of the text");
  add_file("--tags", data.tags, "tags, one for each word of the text");
  add_file("--number", data.number, "numbers, one for each line of the text");
  add_valid("--valid-text", data.valid_text);
  add_valid("--valid-pair", data.valid_pair);
  add_valid("--valid-label", data.valid_label);
  add_valid("--valid-tags", data.valid_tags);
  add_valid("--valid-number", data.valid_number);
  parser->add_option("--preset", options->preset, "a model to start from, such as base or gpt-nano")
      ->type_name("NAME");
  parser->add_flag("--list-presets", options->list_presets, "describe the presets and stop");
  parser->add_option("--steps", options->steps, "total number of updates, or +N for N more")
      ->type_name("N");
  parser->add_flag("--dry-run", options->dry_run,
                   "print parameters, memory, steps and time without training");
  parser->add_flag("--json", options->json,
                   "print a line of JSON for each report, validation and message, and the end");
  parser->add_flag("--overwrite", options->overwrite,
                   "replace a model in --out that has no checkpoint to resume from");
  options->flags.add(*parser, RunConfig());
  show_in_help(*parser, {"--out", "--init-from", "--time", "--vocabulary.kind", "--optimizer.rate",
                         "--data.held-out"});
  hide_in_help(*parser, {"--pair", "--tags", "--number"});
  parser->footer(
      "Examples:\n"
      "  attend train --source train.de --target train.en --out model\n"
      "  attend train --text book.txt --out model --time 30m\n"
      "  attend train --init-from base --text reviews.tsv:1 --label reviews.tsv:2 --out model\n"
      "  attend train --source a.de --target a.en --source b.de --target b.en --data.weights 1,3 "
      "--out model\n"
      "  attend train model --steps +1000\n"
      "FILE:2 and FILE:NAME are columns of a file with tabs between columns. Ctrl-C saves and "
      "stops; "
      "`attend train model` resumes. A YAML file may have any setting.");
  return {parser, [options] { return run_train(*options); }};
}

}  // namespace attend::cli
