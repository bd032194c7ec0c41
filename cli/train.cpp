// `attend train`: from text files, or a YAML file that names them, to a model directory.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "attend/io/checkpoint.h"
#include "attend/io/config.h"
#include "attend/io/model_directory.h"
#include "attend/nn/init.h"
#include "attend/nn/visit.h"
#include "attend/train/run.h"
#include "cli/commands.h"
#include "cli/config_flags.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/terminal.h"

namespace attend::cli {
namespace {

struct Options {
  std::filesystem::path file, source, target, valid_source, valid_target, label, valid_label;
  std::vector<std::filesystem::path> text, valid_text;
  std::filesystem::path resumed;  // the model directory that was named
  std::string preset, steps;
  bool dry_run = false, list_presets = false;
  RunOptions run;
  ConfigFlags flags;
};

// "1000", or "+1000" more than the newest checkpoint has.
int64_t steps_of(const std::string& text, const std::filesystem::path& out, bool overwrite) {
  RunConfig config;
  const bool more = text.starts_with('+');
  try {
    set_flag(config, "training.steps", more ? text.substr(1) : text);
  } catch (const ConfigError&) {
    throw CLI::ValidationError("--steps should be a whole number, or one with + before it, not '" +
                               text + "'");
  }
  if (!more) return config.training.steps;
  const std::filesystem::path checkpoints = ModelDirectory{out}.checkpoints();
  if (overwrite && !any_whole_checkpoint(checkpoints)) return config.training.steps;
  const auto newest = latest_checkpoint(checkpoints);
  return config.training.steps + (newest ? newest->step : 0);
}

// What the model starts from: a preset of the command line, or the file's.
ModelConfig model_of(const Options& options) {
  std::string preset =
      options.preset.empty() ? options.flags.text("model.preset").value_or("") : options.preset;
  if (!options.file.empty()) {
    const std::string file = options.file.string();
    const std::string of_file = peek(config_text(options.file), "model.preset", file).value_or("");
    if (preset.empty()) preset = of_file;
    if (!of_file.empty() && of_file != preset) {
      RunConfig other;
      other.model = ModelConfig::of_preset(of_file);
      const ModelConfig plain = other.model;
      read_run_config(other, options.file);
      const auto changed = differences(plain, other.model);
      const auto is_vocabulary = [](const Difference& d) {
        return d.path.ends_with("_vocabulary");
      };
      if (!std::ranges::all_of(changed, is_vocabulary)) {
        throw ConfigError(
            "{}: its model settings are for preset {}; use --preset {} with a file that has none",
            file, of_file, preset);
      }
    }
  }
  return preset.empty() ? ModelConfig() : ModelConfig::of_preset(preset);
}

template <typename Path>
void set_if_given(Path& setting, const Path& given) {
  if (!given.empty()) setting = given;
}

// A file of another preset says nothing of the model: model_of() has made sure.
void read_file(RunConfig& config, const std::filesystem::path& file) {
  const ModelConfig model = config.model;
  if (const auto preset = peek(config_text(file), "model.preset", file.string());
      preset && *preset != model.preset) {
    config.model = ModelConfig::of_preset(*preset);
  }
  const std::string of_file = config.model.preset;
  read_run_config(config, file, [](const std::string& text) { notify("attend: {}\n", text); });
  if (of_file != model.preset) config.model = model;
}

// A model directory stands for the settings it was trained with.
Options with_file(Options options) {
  if (!std::filesystem::is_directory(options.file)) return options;
  options.resumed = options.file;
  options.file = ModelDirectory{options.resumed}.training();
  if (std::filesystem::exists(options.file)) return options;
  throw ConfigError(
      "train: {} has no {}, so it is not a model that `attend train` made; give a YAML file, or "
      "text "
      "and --out {}",
      options.resumed.string(), options.file.filename().string(), options.resumed.string());
}

RunConfig config_of(const Options& options) {
  RunConfig config;
  config.model = model_of(options);
  const std::string preset = config.model.preset;
  if (!options.file.empty()) read_file(config, options.file);
  set_if_given(config.data.source, options.source);
  set_if_given(config.data.target, options.target);
  set_if_given(config.data.valid_source, options.valid_source);
  set_if_given(config.data.valid_target, options.valid_target);
  set_if_given(config.data.text, options.text);
  set_if_given(config.data.valid_text, options.valid_text);
  set_if_given(config.data.label, options.label);
  set_if_given(config.data.valid_label, options.valid_label);
  if (!options.resumed.empty()) config.out = options.resumed;
  options.flags.apply(config);
  config.model.preset = preset;
  if (!options.steps.empty()) {
    config.training.steps = steps_of(options.steps, config.out, options.run.overwrite);
  }
  return config;
}

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
  notify("trained {} steps{}{}; model in {}{}\n", result.step, already ? " already" : "",
         patient ? "" : ", until validation stopped improving", config.out.string(),
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
  fmt::print("Parameters are those beside the embeddings of tokens.\n");
  return 0;
}

int run_train(const Options& given) {
  if (given.list_presets) return list_presets();
  const Options options = with_file(given);
  RunConfig config = config_of(options);
  config.check();
  if (options.dry_run) {
    Progress progress(config.validation.metric);
    print_plan(config, plan_training(config, progress, options.run));
    return 0;
  }
  const std::atomic<bool>& stop =
      stop_on_signals("\nstopping; a second signal stops at once, without saving\n");
  RunResult result;
  {
    Progress progress(config.validation.metric);
    result = run_training(config, progress, stop, options.run);
  }
  print_end(config, result);
  return result.end == TrainingEnd::kStopped ? stopped_exit_code() : 0;
}

}  // namespace

Command add_train(CLI::App& app) {
  CLI::App* parser = app.add_subcommand("train", "Train a model on text");
  auto options = std::make_shared<Options>();
  const auto add_file = [&](const char* name, auto& file, const char* help) {
    parser->add_option(name, file, help)->type_name("FILE");
  };
  add_file("config", options->file,
           "YAML or JSON file with settings, or a model directory to resume");
  add_file("--source", options->source, "text to read, one sentence a line, also .gz");
  add_file("--target", options->target, "text to write, line by line as the source");
  const auto add_valid = [&](const char* name, auto& file, const char* help) {
    add_file(name, file, help);
    parser->get_option(name)->group("Settings of validation text");
  };
  add_valid("--valid-source", options->valid_source, "the same for validation");
  add_valid("--valid-target", options->valid_target, "the same for validation");
  add_file("--text", options->text, "text of a language model, or lines to label");
  add_file("--label", options->label, "labels, line by line as the text");
  add_valid("--valid-text", options->valid_text, "the same for validation");
  add_valid("--valid-label", options->valid_label, "the same for validation");
  parser->add_option("--preset", options->preset, "a model to start from, such as base or gpt-nano")
      ->type_name("NAME");
  parser->add_flag("--list-presets", options->list_presets, "describe the presets");
  parser->add_option("--steps", options->steps, "updates in all, or +N for N more than there are")
      ->type_name("N");
  parser->add_flag("--dry-run", options->dry_run,
                   "print parameters, memory, steps and time without training");
  parser->add_flag("--overwrite", options->run.overwrite,
                   "replace a model in --out that has no checkpoint to resume from");
  options->flags.add(*parser, RunConfig());
  show_in_help(*parser, {"--out", "--vocabulary.kind", "--vocabulary.vocabulary", "--batch.tokens",
                         "--optimizer.rate", "--data.held-out", "--validation.metric", "--memory"});
  parser->footer(
      "Examples:\n"
      "  attend train --source train.de --target train.en --out model\n"
      "  attend train --preset gpt-nano --text book.txt --data.held-out 0.1 --out model\n"
      "  attend train --preset label --text reviews.txt --label stars.txt --out model\n"
      "  attend train config.yaml --optimizer.rate 5e-4\n"
      "  attend train model --steps +1000\n"
      "Ctrl-C saves and stops; `attend train model` resumes. A YAML file may have any setting.");
  return {parser, [options] { return run_train(*options); }};
}

}  // namespace attend::cli
