#include "attend/train/prepared.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "attend/base/counted.h"
#include "attend/base/error.h"
#include "attend/data/windows.h"
#include "attend/io/config.h"
#include "attend/io/model_directory.h"
#include "attend/nn/init.h"
#include "attend/tensor/training.h"

namespace attend {
namespace {

bool made_from(const std::filesystem::path& file, const RecordSource& source) {
  try {
    return Corpus(file).spec() == source.fingerprint();
  } catch (const FormatError&) {  // it will be made again
    return true;
  }
}

std::string described(const Task& task, const Corpus& corpus) {
  std::vector<std::string> tokens;
  bool windows = false;
  for (const ColumnDescriptor& column : corpus.columns()) {
    windows |= corpus.has(context_column(column.name()));
    if (column.kind() != ColumnKind::kTokens) continue;
    tokens.push_back(fmt::format("{} {}", column.items, column.name()));
  }
  const CorpusCounts& counts = corpus.counts();
  const std::string_view record = task.records.substr(0, task.records.size() - 1);  // "pair"
  std::string text = counted(corpus.size(), record);
  if (windows)
    text += fmt::format(" of {}", counted(counts.read.records - counts.empty, "document"));
  text += fmt::format(", {} tokens", fmt::join(tokens, " and "));
  if (counts.left_out() > 0) {
    text += fmt::format("; left out: {} empty, {} too long", counts.left_out_empty(),
                        counts.left_out_too_long());
  }
  if (counts.read.text.invalid_utf8 > 0) {
    text += fmt::format("; {} of invalid UTF-8 replaced",
                        counted(counts.read.text.invalid_utf8, "piece"));
  }
  if (counts.read.text.nul_bytes > 0) {
    text += fmt::format("; {} removed", counted(counts.read.text.nul_bytes, "NUL byte"));
  }
  return text;
}

// Text in another encoding, or a file that is no text, is read as it is repaired, which is not what
// was meant.
std::string hardly_text(const Corpus& corpus) {
  constexpr uint64_t kUsual = 200;  // tokens for each repair
  const CorpusCounts& counts = corpus.counts();
  const uint64_t repairs = counts.read.text.invalid_utf8 + counts.read.text.nul_bytes;
  uint64_t tokens = 0;
  for (const ColumnDescriptor& column : corpus.columns()) {
    if (column.kind() == ColumnKind::kTokens) tokens += column.items;
  }
  if (repairs * kUsual <= tokens) return "";
  return fmt::format(
      "warning: {} for {}: is this UTF-8 text? If it has another encoding, convert it first, for "
      "example with `iconv -f LATIN1 -t UTF-8`",
      counted(repairs, "repair"), counted(tokens, "token"));
}

std::optional<BaseModel> opened_base(const RunConfig& config, bool resumed) {
  if (resumed || config.init_from.empty()) return std::nullopt;
  return std::optional<BaseModel>(std::in_place, config.init_from);
}

// What is written is so short that nothing is learned of what is inside a word.
std::string short_targets(const Signature& signature, const Tokenizers& tokenizers,
                          const Corpus& corpus) {
  for (const ColumnSpec& column : signature.columns) {
    if (!column.written || column.kind != ColumnKind::kTokens) continue;
    if (!corpus.has(column.name)) continue;
    const Tokenizer& tokenizer = *tokenizers.at(column.name);
    const uint64_t tokens = corpus.columns()[corpus.column(column.name)].items;
    if (!is_subwords(tokenizer.kind()) || tokens * 2 >= corpus.size() * 3) continue;
    return fmt::format(
        "warning: the mean length of {} is {:.1f} tokens: a vocabulary of {} is too large for this "
        "text, and nothing is learned about the inside of words; try a smaller "
        "--vocabulary.vocabulary, or --vocabulary.kind character",
        column.name, static_cast<double>(tokens) / static_cast<double>(corpus.size()),
        tokenizer.size());
  }
  return "";
}

}  // namespace

std::optional<Before> run_before(const ModelDirectory& directory, const RunConfig& now,
                                 TrainingObserver& observer) {
  const auto checkpoint = latest_checkpoint(
      directory.checkpoints(), [&observer](const std::string& text) { observer.on_message(text); });
  if (!checkpoint || checkpoint->step == 0) return std::nullopt;
  Before before{*checkpoint, now};
  if (std::filesystem::exists(directory.training())) {
    before.config = RunConfig();
    read_run_config(before.config, directory.training());
  }
  return before;
}

void check_texts(const RunConfig& config) {
  const Task& task = task_of(config, signature_of(config.model));
  task.check_text(config, Split::kTraining, false);
  if (task.has_text(config.data, Split::kValidation)) {
    task.check_text(config, Split::kValidation, true);
  }
}

Prepared::Prepared(const RunConfig& given, const ModelDirectory& directory,
                   const std::optional<Before>& before, const TimeBudget& budget,
                   TrainingObserver& observer)
    : limit(given.memory.bytes),
      config(given),
      signature(signature_of(given.model)),
      task(task_of(given, signature)),
      base(opened_base(given, before.has_value())),
      tokenizers(made_tokenizers(directory, before.has_value(), observer)),
      corpus(made_corpus(directory, before.has_value(), observer)),
      model(made_model(before, budget, observer)),
      objective(make_objective(config, task, signature)) {
  objective->prepare(corpus, model.tokenizers);
  try_objective();
  if (task.has_text(config.data, Split::kValidation)) prepare_validation(directory, observer);
  snapshots.emplace(config.snapshots, valid ? *valid : corpus, model, directory);
}

RunTokenizers Prepared::made_tokenizers(const ModelDirectory& directory, bool resumed,
                                        TrainingObserver& observer) {
  const std::string& chosen = config.training.objective;
  observer.on_message(fmt::format("task: {} ({}), objective {}", task.name, task.column_names(),
                                  chosen == "auto" ? task.objective : chosen));
  RunTokenizers made = base ? tokenizers_from(*base, config, task, signature, directory)
                            : tokenizers_of(config, task, signature, directory, resumed);
  check_tokenizers(made.by_column, signature);
  const ModelConfig::Vocabularies sizes = vocabularies_of(made.by_column, signature);
  std::vector<std::string> parts;
  bool too_few = false;  // subwords
  for (const ColumnSpec& column : signature.columns) {
    if (!column.has_tokenizer()) continue;
    const Tokenizer& tokenizer = *made.by_column.at(column.name);
    too_few |=
        is_subwords(tokenizer.kind()) && tokenizer.size() < config.vocabulary.tokenizer.vocabulary;
    const std::string what = column.kind == ColumnKind::kLabel    ? "labels"
                             : column.kind == ColumnKind::kLabels ? column.name
                                                                  : column.name + " tokens";
    parts.push_back(
        fmt::format("{} {} ({})", sizes.at(column.name), what, name_of(tokenizer.kind())));
  }
  const char* const origin = made.of_base              ? ", as in init_from"
                             : made.trained || resumed ? ""
                                                       : ", found in the model directory";
  std::string text = fmt::format("vocabulary: {}{}", fmt::join(parts, " and "), origin);
  if (too_few && made.trained) {
    text += fmt::format("; the text has not enough words for {}",
                        config.vocabulary.tokenizer.vocabulary);
  }
  observer.on_message(text);
  config.model.set_vocabularies(sizes);
  return made;
}

Corpus Prepared::made_corpus(const ModelDirectory& directory, bool resumed,
                             TrainingObserver& observer) {
  const std::filesystem::path file = directory.root / "train.corpus";
  const auto source = task.source(config, signature, tokenizers.by_column, Split::kTraining);
  if (resumed && std::filesystem::exists(file) && !made_from(file, *source)) {
    observer.on_message(
        "data: the text has changed since the last checkpoint; training continues with the new "
        "text");
  }
  for (const std::string& limit_text : task.limits(config, signature)) {
    observer.on_message("data: " + limit_text);
  }
  Corpus made = open_corpus(*source, file);
  observer.on_message("data: " + described(task, made));
  if (!config.data.weights.empty()) made.weigh(config.data.weights);
  const TextFiles& files = config.data.text.empty() ? config.data.source : config.data.text;
  const std::string corpora = corpora_text(files, made, task.records);
  if (!corpora.empty()) observer.on_message("data: " + corpora);
  for (const std::string& warning :
       {hardly_text(made), short_targets(signature, tokenizers.by_column, made)}) {
    if (!warning.empty()) observer.on_message(warning);
  }
  return made;
}

// After the batches are sized, so that the model of the trial is not beside it. An adapter's run is
// planned as what it is.
TextModel Prepared::made_model(const std::optional<Before>& before, const TimeBudget& budget,
                               TrainingObserver& observer) {
  if (config.lora.rank > 0) describe_adapter(before);
  const AdapterDescription* const trained = adapter ? &*adapter : nullptr;
  if (config.memory.bytes > 0) {
    const bool sized = before && before->config.memory == config.memory;
    config.batch.tokens =
        sized ? before->config.batch.tokens
              : tokens_within_memory(config, task, corpus, tokenizers.by_column, trained);
    release_unused_memory();
    observer.on_message(fmt::format("memory: batches of {} tokens", config.batch.tokens));
  }
  if (config.time.seconds > 0 && !before) {
    plan_within_time(config, task, corpus, tokenizers.by_column, trained, budget, observer);
    release_unused_memory();
  }
  set_warmup(before, observer);
  fit_model(before, observer);
  Rng rng(config.training.seed);
  TextModel made{config.model, make_model(config.model, rng), tokenizers.by_column};
  made.read_words();
  observer.on_message(fmt::format("model: {}, {} parameters", config.model.kind.name,
                                  parameter_count(*made.model)));
  if (base) {
    const TransferReport report = take_weights(made);
    for (const std::string& line : report.lines()) observer.on_message(line);
    observer.on_transfer(report);
  }
  if (adapter) {
    start_adapter(*made.model, *adapter, rng);
    size_t count = 0;
    for (const NamedTensor& p : parameters(*made.model)) {
      if (p.tensor.needs_grad()) count += p.tensor.size();
    }
    observer.on_message(
        fmt::format("adapter: rank {}, {} parameters are trained", adapter->lora.rank, count));
  }
  base.reset();
  return made;
}

void Prepared::fit_model(const std::optional<Before>& before, TrainingObserver& observer) {
  if (!before) {
    for (const std::string& line : task.fit(config.model, corpus, tokenizers.by_column)) {
      observer.on_message(line);
    }
    return;
  }
  ModelConfig was = before->config.model;
  for (const Field& field : fields_of(was.settings).fields) {
    const auto value = field.get();
    if (!value || std::ranges::find(task.fitted_settings, field.path) == task.fitted_settings.end())
      continue;
    set_flag(config.model.settings, field.path, value->front());
  }
}

TransferReport Prepared::take_weights(const TextModel& made) const {
  return transfer_weights(
      *base, made,
      {.vocabulary = config.init_vocabulary, .reinitialize = config.training.reinitialize});
}

// What a run trains beside the changes of low rank is what its base does not have. One that is
// resumed has its description beside its checkpoints.
void Prepared::describe_adapter(const std::optional<Before>& before) {
  if (before) {
    adapter = load_adapter_description({before->checkpoint.path.parent_path().parent_path()});
    adapter->lora.dropout = config.lora.dropout;
    return;
  }
  if (is_adapter({config.init_from})) {
    throw ConfigError("train: {} is an adapter; merge it first: `attend adapter merge`",
                      config.init_from.string());
  }
  const auto shapes = [this] {
    const ShapesOnly no_memory;
    Rng rng(0);
    return TextModel{config.model, make_model(config.model, rng), tokenizers.by_column};
  };
  const TransferReport report = take_weights(shapes());
  adapter = {.base = std::filesystem::weakly_canonical(config.init_from),
             .fingerprint = fingerprint_of(*base),
             .lora = config.lora,
             .trained = report.fresh};
  for (const TransferReport::Part& part : report.taken_in_part) {
    adapter->trained.push_back(part.name);
  }
}

// Where it is not set it follows from the steps: more of them are as if they had been asked for at
// first.
void Prepared::set_warmup(const std::optional<Before>& before, TrainingObserver& observer) {
  const int64_t steps = config.training.steps;
  const bool is_set = config.schedule.warmup.has_value();
  const int64_t warmup = warmup_steps(config.schedule, steps);
  config.schedule.warmup = warmup;
  if (warmup >= steps) {
    observer.on_message(fmt::format(
        "warning: schedule.warmup is {} of {} steps, so the rate never reaches optimizer.rate",
        warmup, steps));
  }
  if (is_set || !before || before->checkpoint.step >= steps) return;
  if (const int64_t was = before->config.schedule.warmup.value_or(warmup); was != warmup) {
    observer.on_message(fmt::format("now schedule.warmup = {} (was {})", warmup, was));
  }
}

// What the model lacks is an error before anything in the directory is replaced.
void Prepared::try_objective() const {
  const uint32_t first[] = {0};
  const Batch batch = training_batch(make_batch(corpus, first), signature, model.tokenizers);
  const TrainingScope training(Rng(config.training.seed));
  objective->loss(*model.model, batch, {.tokenizers = model.tokenizers, .training = true});
}

void Prepared::prepare_validation(const ModelDirectory& directory, TrainingObserver& observer) {
  valid.emplace(
      open_corpus(*task.source(config, signature, tokenizers.by_column, Split::kValidation),
                  directory.root / "valid.corpus"));
  observer.on_message("validation: " + described(task, *valid));
  validator.emplace(config, task, *objective, *valid, signature, tokenizers.by_column);
  if (validator->left_out() == 0) return;
  observer.on_message(fmt::format(
      "validation: {} lines have more tokens than the model has positions for, and are not decoded",
      validator->left_out()));
}

}  // namespace attend
