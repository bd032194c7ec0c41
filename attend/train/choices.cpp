#include "attend/train/choices.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "attend/base/error.h"
#include "attend/train/fine_tuning.h"
#include "attend/train/token_chooser.h"

namespace attend {
namespace {

// Tokens of text from which a size is worth its time.
struct SizeEntry {
  double tokens;
  size_t width, layers;
};
constexpr double kTuningEpochs = 4;  // of a model that is trained already
constexpr SizeEntry kSizes[] = {{0, 128, 2}, {300e3, 128, 4}, {3e6, 256, 4}, {30e6, 256, 6}};

class Chooser {
 public:
  Chooser(const RunConfig& config, const GivenSettings& given, const Task& task,
          const TextProfile& profile, std::optional<FineTuning> tuning = {})
      : config_(config),
        given_(given),
        task_(task),
        profile_(profile),
        tuning_(std::move(tuning)) {}

  Choices choose() {
    std::vector<std::string> lines = task_.choose(config_, given_, profile_);
    if (!lines.empty()) {
      return {.config = std::move(config_), .size = {}, .lines = std::move(lines)};
    }
    choose_documents();
    choose_tokens();
    count_tokens();
    choose_longest();
    choose_model();
    if (tuning_) choose_tuning();
    choose_training();
    Choices made{.config = std::move(config_), .size = chosen_size_};
    for (const std::string& line : {tokens_line_, model_line_, training_line_}) {
      if (!line.empty()) made.lines.push_back(line);
    }
    return made;
  }

 private:
  bool free(std::string_view path) const { return !given_.has(path); }
  bool model_is_free() const { return !given_.any_of("model"); }
  bool has_text(size_t column) const { return task_.columns[column].kind == ColumnKind::kTokens; }
  bool is_language_model() const { return task_.columns.size() == 1 && task_.columns[0].written; }
  bool pretrains_encoder() const {
    return task_.objective == "masked_tokens" || task_.objective == "both_directions";
  }
  bool writes_text() const {
    return task_.columns.size() > 1 && has_text(1) && task_.columns[1].written;
  }
  // Which is text of its own, and not made from the source.
  bool has_target() const { return writes_text() && profile_.columns.size() > 1; }
  bool uses(std::string_view setting) const {
    return std::ranges::find(task_.settings, setting) != task_.settings.end();
  }
  // Pairs of lines are profiled as one text.
  size_t profiled_columns() const {
    return std::min(task_.columns.size(), profile_.columns.size());
  }
  double characters(size_t column) const {
    return profile_.all(profile_.columns[column].characters);
  }

  // Lines that stand for themselves: names, titles, commands.
  void choose_documents() {
    if (!free("data.documents")) return;
    if (pretrains_encoder() || (writes_text() && !has_target())) {
      const bool pairs = pretrains_encoder() && task_.columns.size() > 1;
      config_.data.documents = pairs ? DocumentKind::kBlank : DocumentKind::kLine;
    }
    if (!is_language_model()) return;
    const ColumnProfile& text = profile_.columns[0];
    const bool list = profile_.seen >= 100 && profile_.blank == 0 && text.long_line <= 60 &&
                      text.distinct_lines * 2 >= profile_.seen;
    if (list) config_.data.documents = DocumentKind::kLine;
  }

  void choose_tokens() {
    chosen_tokens_.emplace(config_, given_, task_, profile_,
                           TokenChooser::Text{.book = is_language_model(), .pairs = has_target()});
    tokens_line_ = chosen_tokens_->choose();
  }

  void count_tokens() {
    for (size_t i = 0; i < profiled_columns(); ++i) {
      if (has_text(i)) tokens_ += chosen_tokens_->in_column(i);
    }
    tokens_ = std::max(tokens_, 1.0);
  }

  double tokens_of_epoch() const { return tokens_ * profile_.repeats; }

  // Nearly all lines should be read, but one that is read is held in memory.
  void choose_longest() {
    constexpr size_t kLongest = 1024;
    if (!uses("longest") || !free("data.longest")) return;
    for (size_t i = 0; i < profiled_columns(); ++i) {
      if (!has_text(i)) continue;
      const double of_line = chosen_tokens_->in_column(i) / std::max(1.0, characters(i));
      const auto longest = 1.25 * of_line * static_cast<double>(profile_.columns[i].long_line);
      const size_t wanted = std::bit_ceil(static_cast<size_t>(longest));
      config_.data.longest = std::clamp(wanted, config_.data.longest, kLongest);
    }
  }

  // As large as the text can fill: about as many parameters as there are tokens in an epoch.
  ModelSize size() const {
    ModelSize size;
    for (const auto& [tokens, width, layers] : kSizes) {
      if (tokens_ >= tokens) size.width = width, size.layers = layers;
    }
    const bool closed = !is_subwords(config_.vocabulary.tokenizer.kind) && !is_language_model();
    size.dropout = tokens_ >= 30e6 || closed ? 0.1f : tokens_ >= 3e6 ? 0.2f : 0.3f;
    if (is_language_model() && tokens_ < 30e6) size.dropout = 0.2f;
    size.one_vocabulary = writes_text() && config_.vocabulary.one();
    return size;
  }

  void choose_model() {
    if (!model_is_free()) return;
    const ModelSize chosen = size();
    chosen_size_ = chosen;
    config_.model = model_of_size(task_, chosen);
    model_line_ = fmt::format(
        "model: {}, {} wide, {} layers, dropout {}, for about {} tokens. Flags: --preset NAME (see "
        "attend train --list-presets)",
        config_.model.kind.name, chosen.width,
        writes_text() ? fmt::format("{0} + {0}", chosen.layers) : std::to_string(chosen.layers),
        chosen.dropout, about(tokens_));
    if (free("optimizer.rate")) config_.optimizer.rate = usual_rate(chosen);
    if (free("schedule.kind") && free("schedule.floor")) {
      config_.schedule.kind = ScheduleKind::kCosine;
      config_.schedule.floor = 0.05;
    }
  }

  // What was learned should be changed a little.
  void choose_tuning() {
    if (free("optimizer.rate")) config_.optimizer.rate = tuning_->rate;
    if (free("schedule.kind") && free("schedule.floor")) {
      config_.schedule.kind = ScheduleKind::kLinear;
    }
    const std::string kind = fitted(config_).model.kind;
    const bool around = kind != tuning_->kind;
    model_line_ = fmt::format(
        "model: {}, with the weights and the dropout of {}; rate {:.3g}{}. "
        "Flags: --optimizer.rate, --training.layer-decay, --training.frozen",
        around ? fmt::format("{} around {}", kind, tuning_->kind) : kind, tuning_->from,
        config_.optimizer.rate,
        !free("optimizer.rate") ? ""
        : config_.lora.rank > 0 ? ", half of that it was trained with"
                                : ", a tenth of that it was trained with");
  }

  void choose_training() {
    if (free("batch.tokens") && config_.memory.bytes == 0) choose_batch();
    const bool held_out = choose_held_out();
    if (free("training.steps")) choose_steps();
    const int64_t steps = config_.training.steps;
    if (free("training.average") && model_is_free()) {
      config_.training.average = steps >= 2000 ? 0.999 : 0.99;
    }
    const bool validates = task_.has_text(config_.data, Split::kValidation);
    if (validates && free("validation.every")) {
      config_.validation.every =
          std::clamp<int64_t>(steps / 30, std::min<int64_t>(steps, 50), 1000);
    }
    if (validates && free("validation.metric")) choose_metric();
    if (free("training.save_every")) {
      config_.training.save_every =
          std::min<int64_t>(config_.training.save_every, std::max<int64_t>(1, steps / 4));
    }
    say_training(held_out, validates);
  }

  void choose_batch() {
    const double share = tokens_ / 20;  // so that an epoch has some updates
    size_t tokens = tokens_ >= 30e6 ? 8192 : 4096;
    while (tokens > 512 && static_cast<double>(tokens) > share) tokens /= 2;
    const size_t longest = is_language_model() ? 0 : config_.data.longest;
    config_.batch.tokens = std::max(tokens, std::min<size_t>(4096, 2 * longest));
  }

  // A twentieth, and no more than tells a better model from a worse one.
  bool choose_held_out() {
    constexpr double kFewest = 100, kMost = 1000;
    const auto records = static_cast<double>(profile_.records);
    const bool lines = !is_language_model() || config_.data.documents == DocumentKind::kLine;
    const bool enough = lines ? records >= kFewest : tokens_ >= 10e3;
    if (!free("data.held_out") || task_.has_text(config_.data, Split::kValidation) || !enough) {
      return false;
    }
    const double share = records < 1000 ? 0.1 : 0.05;
    config_.data.held_out = lines ? std::min(share, kMost / records) : tokens_ < 30e6 ? 0.05 : 0.01;
    config_.data.held_out = std::max(1e-4, std::round(config_.data.held_out * 1e4) / 1e4);
    return true;
  }

  // Small texts are read many times, large ones a few: 35 epochs of a million tokens.
  void choose_steps() {
    if (tuning_) {
      const double steps =
          kTuningEpochs * tokens_of_epoch() / static_cast<double>(config_.batch.tokens);
      config_.training.steps = static_cast<int64_t>(rounded(std::clamp(steps, 200.0, 20e3)));
      return;
    }
    double total = 28e6 * std::pow(tokens_ / 0.8e6, 0.55);
    if (task_.columns.size() > 1 && !writes_text()) total /= 4;  // a label is learned sooner
    const double steps = total / static_cast<double>(config_.batch.tokens);
    config_.training.steps = static_cast<int64_t>(rounded(std::clamp(steps, 500.0, 100e3)));
  }

  // What is decoded tells more than the loss where there is enough of it.
  void choose_metric() {
    const bool decides = config_.data.held_out == 0 ||
                         config_.data.held_out * static_cast<double>(profile_.records) >= 50;
    const auto& fits = task_.metrics;
    const auto can = [&fits](Metric metric) {
      return std::ranges::find(fits, metric) != fits.end();
    };
    // Decoding takes a time that no plan can know.
    const bool free_to = model_is_free() || tuning_.has_value();
    if (!decides || !free_to || config_.time.seconds > 0) return;
    const bool sentences = has_target() && profile_.mean_words(1) >= 4 &&
                           is_subwords(config_.vocabulary.tokenizer.kind);
    if (sentences && can(Metric::kBleu)) {
      config_.validation.metric = Metric::kBleu;
    } else if (can(Metric::kAccuracy)) {
      config_.validation.metric = Metric::kAccuracy;
    }
    if (config_.validation.metric != Metric::kLoss && free("validation.sentences")) {
      config_.validation.sentences = 500;
    }
  }

  void say_training(bool held_out, bool validates) {
    if (config_.time.seconds > 0) return;  // the plan will tell
    const TrainingConfig& training = config_.training;
    const double batches =
        std::max(1.0, tokens_of_epoch() / static_cast<double>(config_.batch.tokens));
    const double epochs = static_cast<double>(training.steps) / batches;
    std::string line =
        fmt::format("training: {} steps of {} tokens ({:.{}f} epochs)", training.steps,
                    config_.batch.tokens, epochs, epochs < 10 ? 1 : 0);
    std::string flags = "--steps, --batch.tokens";
    if (!validates) {
      line += ", without validation";
      flags += fmt::format("; for validation {}", task_.valid_flags);
    } else {
      line += fmt::format("; keeps the best model by {}", name_of(config_.validation.metric));
      if (held_out) {
        line +=
            fmt::format(" on {:.3g} % of the text, which is held out", 100 * config_.data.held_out);
        flags += ", --data.held-out";
      }
      if (config_.validation.patience > 0) {
        line += fmt::format("; stops after {} validations without improvement",
                            config_.validation.patience);
        flags += ", --validation.patience";
      }
    }
    line += fmt::format(". Flags: {}; or --time 30m to plan by the clock", flags);
    training_line_ = std::move(line);
  }

  RunConfig config_;
  const GivenSettings& given_;
  const Task& task_;
  const TextProfile& profile_;
  std::optional<FineTuning> tuning_;
  std::optional<TokenChooser> chosen_tokens_;
  double tokens_ = 0;  // of all text, about
  std::optional<ModelSize> chosen_size_;
  std::string tokens_line_, model_line_, training_line_;
};

// The task of the text where no model was named, or the model's.
const Task& task_for(const RunConfig& config, const GivenSettings& given) {
  if (given.any_of("model")) {
    const ModelConfig model = fitted(config).model;
    return task_of(config, signature_of(model));
  }
  const std::string& objective = config.training.objective;
  for (const bool any_objective : {false, true}) {
    for (const auto& task : tasks()) {
      const bool wanted = any_objective || task->objective == objective;
      if (wanted && task->has_text(config.data, Split::kTraining)) return *task;
    }
  }
  throw ConfigError(
      "train: there is no text to train on; give --source FILE --target FILE to translate, --text "
      "FILE for a language model, or --text FILE --label FILE to classify");
}

}  // namespace

bool GivenSettings::any_of(std::string_view section) const {
  return std::ranges::any_of(paths_, [&](const std::string& path) {
    return path == section || path.starts_with(std::string(section) + ".");
  });
}

std::optional<ModelSize> smaller(const ModelSize& size) {
  std::optional<ModelSize> found;
  for (const SizeEntry& entry : kSizes) {
    const bool less =
        entry.width < size.width || (entry.width == size.width && entry.layers < size.layers);
    if (!less) continue;
    found = size;
    found->width = entry.width, found->layers = entry.layers;
  }
  return found;
}

double usual_rate(const ModelSize& size) { return 3e-3 * 128 / static_cast<double>(size.width); }

ModelConfig model_of_size(const Task& task, const ModelSize& size) {
  for (const ModelKind& kind : model_kinds()) {
    if (kind.sized == nullptr) continue;
    ModelConfig config(kind.name);
    config.settings = kind.sized(size);
    if (fits(task, signature_of(config))) return config;
    if (kind.of_pairs == nullptr) continue;
    config.settings = kind.of_pairs(config.settings);
    if (fits(task, signature_of(config))) return config;
  }
  throw ConfigError("train: there is no default model for the task {}; choose one with --preset",
                    task.name);
}

Choices choose_settings(const RunConfig& config, const GivenSettings& given, const Task& task,
                        const TextProfile& profile) {
  return Chooser(config, given, task, profile).choose();
}

Choices choose_settings(const RunConfig& asked, const GivenSettings& asked_given) {
  RunConfig config = asked;
  GivenSettings given = asked_given;
  std::optional<FineTuning> tuning;
  if (!config.init_from.empty()) tuning = start_from_base(config, given);
  const Task& task = task_for(config, given);
  config.check_files();
  task.check_text(config, Split::kTraining, false);
  const bool windows = std::ranges::find(task.settings, "context") != task.settings.end();
  if (tuning && windows && !given.has("data.context")) config.data.context = tuning->context;
  return Chooser(config, given, task, task.profile(config), tuning).choose();
}

}  // namespace attend
