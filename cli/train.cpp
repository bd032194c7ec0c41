// `attend train`: from two text files, or a YAML file that names them, to a model directory.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>

#include "attend/io/checkpoint.h"
#include "attend/io/model_directory.h"
#include "attend/train/run.h"
#include "cli/commands.h"
#include "cli/config_flags.h"
#include "cli/progress.h"
#include "cli/terminal.h"

namespace attend::cli {
namespace {

struct Options {
  std::filesystem::path file, source, target, valid_source, valid_target;
  std::string preset, steps;
  bool dry_run = false;
  RunOptions run;
  ConfigFlags flags;
};

std::atomic<bool> stop{false};
std::atomic<int> stop_signal{0};
std::atomic<double> stopped_at{0};

double seconds_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// A second one ends the program at once. But timeout(1) and its like tell the program and then its
// whole group: what comes within a second is still the first one.
void on_signal(int number) {
  if (stop) {
    if (seconds_now() - stopped_at < 1.0) return;
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  constexpr std::string_view kText = "\nstopping; once more ends at once, without saving\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kText.data(), kText.size());
  stopped_at = seconds_now();
  stop_signal = number;
  stop = true;
}

// "1000", or "+1000" more than the newest checkpoint has.
int64_t steps_of(const std::string& text, const std::filesystem::path& out, bool overwrite) {
  RunConfig config;
  const bool more = text.starts_with('+');
  try {
    set_flag(config, "training.steps", more ? text.substr(1) : text);
  } catch (const ConfigError&) {
    throw CLI::ValidationError(
        "--steps should be a whole number, or one with + before it; it is '" + text + "'");
  }
  if (!more) return config.training.steps;
  const std::filesystem::path checkpoints = ModelDirectory{out}.checkpoints();
  if (overwrite && !any_whole_checkpoint(checkpoints)) return config.training.steps;
  const auto newest = latest_checkpoint(checkpoints);
  return config.training.steps + (newest ? newest->step : 0);
}

// What the model starts from: a preset of the command line, or the file's.
ModelConfig model_of(const Options& options) {
  RunConfig flags;
  options.flags.apply(flags);
  std::string preset = options.preset.empty() ? flags.model.preset : options.preset;
  if (options.file.empty()) return preset.empty() ? ModelConfig() : ModelConfig::of_preset(preset);
  const std::string file = options.file.string();
  const std::string text = config_text(options.file);
  const std::string of_file = peek(text, "model.preset", file).value_or("");
  if (preset.empty()) preset = of_file;
  if (!of_file.empty() && of_file != preset) {
    RunConfig other;
    other.model = ModelConfig::of_preset(of_file);
    const ModelConfig plain = other.model;
    read_config(other, options.file);
    other.model.set_vocabularies(0, 0);
    if (!same_config(other.model, plain)) {
      throw ConfigError(
          "{}: its settings of the model are of preset {}; give --preset {} with a file that has "
          "none",
          file, of_file, preset);
    }
  }
  return preset.empty() ? ModelConfig() : ModelConfig::of_preset(preset);
}

RunConfig config_of(const Options& options) {
  RunConfig config;
  config.model = model_of(options);
  const std::string preset = config.model.preset;
  if (!options.file.empty()) read_config(config, options.file);
  if (!options.source.empty()) config.data.source = options.source;
  if (!options.target.empty()) config.data.target = options.target;
  if (!options.valid_source.empty()) config.data.valid_source = options.valid_source;
  if (!options.valid_target.empty()) config.data.valid_target = options.valid_target;
  options.flags.apply(config);
  config.model.preset = preset;
  if (!options.steps.empty()) {
    config.training.steps = steps_of(options.steps, config.out, options.run.overwrite);
  }
  return config;
}

void print_plan(const RunConfig& config, const RunPlan& plan) {
  fmt::print("parameters    {}\n", plan.parameters);
  for (const auto& [part, count] : plan.parts) fmt::print("  {:<24}{}\n", part, count);
  fmt::print("vocabularies  {} and {} tokens\n", plan.source_vocabulary, plan.target_vocabulary);
  fmt::print("pairs         {} ({} left out)\n", plan.pairs, plan.left_out);
  fmt::print("steps         {}{}, {} to an epoch\n", config.training.steps,
             plan.steps_done > 0 ? fmt::format(" ({} done)", plan.steps_done) : "",
             std::max<size_t>(1, plan.batches_per_epoch / config.training.accumulation));
  fmt::print("memory        {}\n", memory_text(peak_memory()));
  fmt::print("time          {} at {:.0f} tokens/s, without validation\n", duration(plan.seconds),
             plan.tokens_per_second);
}

void print_end(const Options& options, const RunConfig& config, const RunResult& result) {
  if (result.end == TrainingEnd::kStopped && result.step == 0) {
    notify("stopped before the first step; there is nothing to save\n");
    return;
  }
  if (result.end == TrainingEnd::kStopped) {
    const bool more = options.steps.starts_with('+');  // would count from here
    notify("stopped and saved at step {}; the same command{} goes on from there\n", result.step,
           more ? fmt::format(" with --steps {}", config.training.steps) : "");
    return;
  }
  const bool patient = result.end != TrainingEnd::kNoProgress;
  const bool already = result.step == result.first_step;
  notify("trained {} steps{}{}; model in {}{}\n", result.step, already ? " already" : "",
         patient ? "" : ", until validation got no better", config.out.string(),
         !already  ? ""
         : patient ? "; --steps +N trains N more"
                   : "; a larger --validation.patience trains on");
}

int run_train(const Options& options) {
  RunConfig config = config_of(options);
  config.check();
  if (options.dry_run) {
    Progress progress(config.validation.metric);
    print_plan(config, plan_training(config, progress, options.run));
    return 0;
  }
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  RunResult result;
  {
    Progress progress(config.validation.metric);
    result = run_training(config, progress, stop, options.run);
  }
  print_end(options, config, result);
  return result.end == TrainingEnd::kStopped ? 128 + stop_signal : 0;
}

}  // namespace

Command add_train(CLI::App& app) {
  CLI::App* parser = app.add_subcommand("train", "Train a model on pairs of texts");
  auto options = std::make_shared<Options>();
  parser->add_option("config", options->file, "YAML or JSON file with settings")->type_name("FILE");
  parser->add_option("--source", options->source, "text to read, one sentence a line, also .gz")
      ->type_name("FILE");
  parser->add_option("--target", options->target, "text to write, line by line as the source")
      ->type_name("FILE");
  parser->add_option("--valid-source", options->valid_source, "the same for validation")
      ->type_name("FILE");
  parser->add_option("--valid-target", options->valid_target, "the same for validation")
      ->type_name("FILE");
  parser->add_option("--preset", options->preset, "a model from the papers: " + preset_names())
      ->type_name("NAME");
  parser->add_option("--steps", options->steps, "updates in all, or +N for N more than there are")
      ->type_name("N");
  parser->add_flag("--dry-run", options->dry_run,
                   "print parameters, memory, steps and time, and train nothing");
  parser->add_flag("--overwrite", options->run.overwrite,
                   "replace a model in --out that has no checkpoint to resume from");
  options->flags.add(*parser, RunConfig());
  parser->footer(
      "Examples:\n"
      "  attend train --source train.de --target train.en --out model\n"
      "  attend train config.yaml --optimizer.rate 5e-4\n"
      "  attend train config.yaml --steps +1000\n"
      "  attend train --preset bahdanau --source a.txt --target b.txt --out model --dry-run\n"
      "Ctrl-C saves and stops; the same command goes on from there. Every setting can stand in "
      "the\n"
      "YAML file, as in attend.yaml of a model directory, or be a flag.");
  return {parser, [options] { return run_train(*options); }};
}

}  // namespace attend::cli
