// `attend train`: from two text files, or a YAML file that names them, to a model directory.
#include <fmt/format.h>

#include <atomic>
#include <csignal>

#include "attend/io/checkpoint.h"
#include "attend/io/model_directory.h"
#include "attend/train/run.h"
#include "cli/commands.h"
#include "cli/config_flags.h"
#include "cli/progress.h"

namespace attend::cli {
namespace {

struct Options {
  std::filesystem::path file, source, target, valid_source, valid_target;
  std::string preset, steps;
  bool dry_run = false;
  ConfigFlags flags;
};

std::atomic<bool> stop{false};
std::atomic<int> stop_signal{0};

void on_signal(int number) {
  stop_signal = number;
  stop = true;
  signal(number, SIG_DFL);  // a second one ends the program at once
}

// "1000", or "+1000" more than the newest checkpoint has.
int64_t steps_of(const std::string& text, const std::filesystem::path& out) {
  RunConfig config;
  const bool more = text.starts_with('+');
  try {
    set_flag(config, "training.steps", more ? text.substr(1) : text);
  } catch (const ConfigError&) {
    throw CLI::ValidationError(
        "--steps should be a whole number, or one with + before it; it is '" + text + "'");
  }
  const auto newest = latest_checkpoint(ModelDirectory{out}.checkpoints());
  return config.training.steps + (more && newest ? newest->step : 0);
}

RunConfig config_of(const Options& options) {
  RunConfig config;
  std::string preset = options.preset;
  std::string text;
  if (!options.file.empty()) {
    text = std::string(MappedFile(options.file).text());
    if (preset.empty()) preset = peek(text, "model.preset", options.file.string()).value_or("");
  }
  if (!preset.empty()) config.model = ModelConfig::of_preset(preset);
  if (!options.file.empty()) read_config(config, options.file);
  if (!options.source.empty()) config.data.source = options.source;
  if (!options.target.empty()) config.data.target = options.target;
  if (!options.valid_source.empty()) config.data.valid_source = options.valid_source;
  if (!options.valid_target.empty()) config.data.valid_target = options.valid_target;
  options.flags.apply(config);
  if (!options.steps.empty()) config.training.steps = steps_of(options.steps, config.out);
  return config;
}

void print_plan(const RunConfig& config, const RunPlan& plan) {
  fmt::print("parameters    {}\n", plan.parameters);
  for (const auto& [part, count] : plan.parts) fmt::print("  {:<24}{}\n", part, count);
  fmt::print("vocabularies  {} and {} tokens\n", plan.source_vocabulary, plan.target_vocabulary);
  fmt::print("pairs         {} ({} left out)\n", plan.pairs, plan.left_out);
  fmt::print("steps         {}, {} to an epoch\n", config.training.steps,
             plan.batches_per_epoch / config.training.accumulation);
  fmt::print("memory        {}\n", memory(peak_memory()));
  fmt::print("time          {} at {:.0f} tokens/s, without validation\n", duration(plan.seconds),
             plan.tokens_per_second);
}

int run_train(const Options& options) {
  RunConfig config = config_of(options);
  config.check();
  if (options.dry_run) {
    print_plan(config, plan_training(config));
    return 0;
  }
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  RunResult result;
  {
    Progress progress(config.validation.metric);
    result = run_training(config, progress, stop);
  }
  if (result.end == TrainingEnd::kStopped) {
    fmt::print(stderr, "stopped and saved at step {}; the same command goes on from there\n",
               result.step);
    return 128 + stop_signal;
  }
  fmt::print(stderr, "trained {} steps{}; model in {}\n", result.step,
             result.end == TrainingEnd::kNoProgress ? ", until validation got no better" : "",
             config.out.string());
  return 0;
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
