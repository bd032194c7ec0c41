#include "cli/train_settings.h"

#include "attend/base/error.h"
#include "attend/io/checkpoint.h"
#include "attend/io/model_directory.h"
#include "cli/terminal.h"

namespace attend::cli {
namespace {

// "1000", or "+1000" more than the newest checkpoint has.
int64_t steps_of(const std::string& text, const std::filesystem::path& out, bool overwrite) {
  RunConfig config;
  const bool more = text.starts_with('+');
  try {
    set_flag(config, "training.steps", more ? text.substr(1) : text);
  } catch (const ConfigError&) {
    throw CLI::ValidationError("--steps should be a whole number, or + and a number, not '" + text +
                               "'");
  }
  if (!more) return config.training.steps;
  const std::filesystem::path checkpoints = ModelDirectory{out}.checkpoints();
  if (overwrite && !any_whole_checkpoint(checkpoints)) return config.training.steps;
  const auto newest = latest_checkpoint(checkpoints);
  return config.training.steps + (newest ? newest->step : 0);
}

// Reads the settings of one run, from the first to the last that says something.
class Reader {
 public:
  explicit Reader(const TrainOptions& options) : options_(options), file_(options.file) {
    if (!file_.empty() && !std::filesystem::exists(file_)) {
      throw IoError(
          "train: there is no {}; give a model directory to resume, a file with settings, or text "
          "and --out",
          file_.string());
    }
    if (std::filesystem::is_directory(file_)) use_directory();
    if (!file_.empty()) file_text_ = config_text(file_);
    out_ = !resumed_.empty() ? resumed_.string()
                             : options.flags.text("out").value_or(of_file("out").value_or(""));
    stored_ = ModelDirectory{out_}.training();
  }

  TrainSettings read() {
    made_.resumes = !out_.empty() && std::filesystem::exists(stored_) &&
                    any_whole_checkpoint(ModelDirectory{out_}.checkpoints());
    if (made_.resumes) read_stored();
    start_model();
    if (!file_.empty() && !(made_.resumes && file_ == stored_)) read_file();
    apply_options();
    check_time();
    if (made_.resumes) return std::move(made_);
    note_given();
    Choices chosen = choose_settings(made_.config, made_.given);
    made_.config = std::move(chosen.config);
    made_.size = chosen.size;
    made_.lines = std::move(chosen.lines);
    return std::move(made_);
  }

 private:
  std::optional<std::string> of_file(std::string_view path) const {
    if (file_.empty()) return std::nullopt;
    return peek(file_text_, path, file_.string());
  }

  // A model directory stands for the settings it was trained with.
  void use_directory() {
    resumed_ = file_;
    file_ = ModelDirectory{resumed_}.training();
    if (std::filesystem::exists(file_)) return;
    throw ConfigError(
        "train: {} has no {}, so `attend train` did not make it; give a YAML file, or text and "
        "--out {}",
        resumed_.string(), file_.filename().string(), resumed_.string());
  }

  void read_stored() {
    read_run_config(made_.config, stored_);
    made_.config.out = out_;
  }

  // From a preset of the command line or the file. One that the run has already leaves its model as
  // it is.
  void start_model() {
    const std::string of_flags = options_.preset.empty()
                                     ? options_.flags.text("model.preset").value_or("")
                                     : options_.preset;
    const std::string in_file = of_file("model.preset").value_or("");
    preset_ = of_flags.empty() ? in_file : of_flags;
    if (!in_file.empty() && in_file != preset_) check_plain(in_file);
    if (preset_.empty() && made_.resumes) preset_ = made_.config.model.preset;
    if (preset_.empty() || (made_.resumes && made_.config.model.preset == preset_)) return;
    made_.config.model = ModelConfig::of_preset(preset_);
  }

  // A file of another preset may say nothing else of the model.
  void check_plain(const std::string& of_file) const {
    RunConfig other;
    other.model = ModelConfig::of_preset(of_file);
    const ModelConfig plain = other.model;
    read_run_config(other, file_);
    for (const Difference& d : differences(plain, other.model)) {
      if (d.path.ends_with("_vocabulary")) continue;
      throw ConfigError(
          "{} has model settings for preset {}; use --preset {} with a file that has none",
          file_.string(), of_file, preset_);
    }
  }

  void read_file() {
    RunConfig& config = made_.config;
    const ModelConfig model = config.model;
    const auto preset = of_file("model.preset");
    const bool other = preset && *preset != model.preset;
    if (other) config.model = ModelConfig::of_preset(*preset);
    read_run_config(config, file_, [](const std::string& text) { notify("attend: {}\n", text); });
    if (other) config.model = model;
  }

  template <typename Path>
  void set(Path DataConfig::*setting, const char* name) {
    if ((options_.data.*setting).empty()) return;
    made_.config.data.*setting = options_.data.*setting;
    made_.given.add(std::string("data.") + name);
  }

  void apply_options() {
    set(&DataConfig::source, "source");
    set(&DataConfig::target, "target");
    set(&DataConfig::valid_source, "valid_source");
    set(&DataConfig::valid_target, "valid_target");
    set(&DataConfig::text, "text");
    set(&DataConfig::valid_text, "valid_text");
    set(&DataConfig::pair, "pair");
    set(&DataConfig::valid_pair, "valid_pair");
    set(&DataConfig::label, "label");
    set(&DataConfig::valid_label, "valid_label");
    set(&DataConfig::tags, "tags");
    set(&DataConfig::valid_tags, "valid_tags");
    set(&DataConfig::number, "number");
    set(&DataConfig::valid_number, "valid_number");
    if (!resumed_.empty()) made_.config.out = resumed_;
    options_.flags.apply(made_.config);
    made_.config.model.preset = preset_;
    if (options_.steps.empty()) return;
    made_.config.training.steps = steps_of(options_.steps, out_, options_.overwrite);
    made_.given.add("training.steps");
  }

  void check_time() const {
    const bool steps = !options_.steps.empty() || options_.flags.has("training.steps");
    if (!options_.flags.has("time") || !steps) return;
    throw CLI::ValidationError("--time plans the steps; give --time or --steps, not both");
  }

  void note_given() {
    if (!file_.empty()) {
      for (std::string& path : paths_in(file_text_, file_.string())) made_.given.add(path);
    }
    for (std::string& path : options_.flags.given_paths()) made_.given.add(path);
    if (!preset_.empty()) made_.given.add("model.preset");
    // Of a base, they are compared with its own.
    if (!out_.empty() && made_.config.init_from.empty() && has_tokenizer()) {
      made_.given.add("vocabulary.kind");
    }
  }

  // Of the user's own, or of a run that was stopped before its first checkpoint.
  bool has_tokenizer() const {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(out_, none)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("tokenizer.") && name.ends_with(".model"))
        return !std::filesystem::exists(stored_);
    }
    return false;
  }

  const TrainOptions& options_;
  std::filesystem::path file_, resumed_, out_, stored_;
  std::string file_text_, preset_;
  TrainSettings made_;
};

}  // namespace

TrainSettings train_settings(const TrainOptions& options) { return Reader(options).read(); }

}  // namespace attend::cli
