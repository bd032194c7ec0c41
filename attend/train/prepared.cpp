#include "attend/train/prepared.h"

#include <fmt/format.h>

#include "attend/base/error.h"
#include "attend/decode/line_limit.h"
#include "attend/io/config.h"
#include "attend/io/model_directory.h"

namespace attend {
namespace {

PairFiles training_files(const RunConfig& config) {
  return {config.data.source, config.data.target};
}

void check_pairs(const PairFiles& files, bool all) {
  PairReader reader(files);
  try {
    while (reader.next() && all) {
    }
  } catch (const DataError& error) {
    if (!files.target.empty()) throw;
    throw DataError("{}; where targets are in a file of their own, say --target FILE",
                    error.what());
  }
  if (reader.counts().pairs > 0) return;
  throw DataError("train: no text in {}{}", files.source.string(),
                  files.target.empty() ? "" : " and " + files.target.string());
}

PairFiles validation_files(const RunConfig& config) {
  return {config.data.valid_source, config.data.valid_target};
}

TextEncoder encoder_of(const std::shared_ptr<const Tokenizer>& tokenizer) {
  return {[tokenizer](std::string_view line) { return tokenizer->encode(line); }, tokenizer->size(),
          tokenizer->fingerprint()};
}

LineLimit longest_of(const RunConfig& config) {
  return line_limit(config.model, config.data.longest);
}

CorpusSpec corpus_spec(const RunConfig& config, const PairFiles& files,
                       const Tokenizers& tokenizers) {
  CorpusSpec spec{files, encoder_of(tokenizers.source), encoder_of(tokenizers.target)};
  spec.longest_source = spec.longest_target = longest_of(config).tokens;
  return spec;
}

bool made_from(const std::filesystem::path& file, const CorpusSpec& spec) {
  try {
    return Corpus(file).spec() == fingerprint(spec);
  } catch (const FormatError&) {  // it will be made again
    return true;
  }
}

std::string described(const CorpusCounts& counts, size_t pairs) {
  const uint64_t left_out =
      counts.read.empty + counts.read.too_long + counts.empty + counts.too_long;
  std::string text = fmt::format("{} pairs, {} source and {} target tokens", pairs,
                                 counts.source_tokens, counts.target_tokens);
  if (left_out > 0) {
    text += fmt::format("; left out: {} empty, {} too long", counts.read.empty + counts.empty,
                        counts.read.too_long + counts.too_long);
  }
  if (counts.read.text.invalid_utf8 > 0) {
    text += fmt::format("; {} pieces of invalid UTF-8 replaced", counts.read.text.invalid_utf8);
  }
  if (counts.read.text.nul_bytes > 0) {
    text += fmt::format("; {} NUL bytes removed", counts.read.text.nul_bytes);
  }
  return text;
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
    read_config(before.config, directory.training());
  }
  return before;
}

void check_texts(const RunConfig& config) {
  check_pairs(training_files(config), false);
  if (!config.data.valid_source.empty()) check_pairs(validation_files(config), true);
}

Prepared::Prepared(const RunConfig& given, const ModelDirectory& directory,
                   const std::optional<Before>& before, TrainingObserver& observer)
    : limit(given.memory.bytes),
      config(given),
      tokenizers(made_tokenizers(directory, before.has_value(), observer)),
      corpus(made_corpus(directory, before.has_value(), observer)),
      model(made_model(before, observer)) {
  if (!config.data.valid_source.empty()) prepare_validation(directory, observer);
  looks.emplace(config.looks, valid ? *valid : corpus, directory);
}

RunTokenizers Prepared::made_tokenizers(const ModelDirectory& directory, bool resumed,
                                        TrainingObserver& observer) {
  RunTokenizers made = tokenizers_of(config, directory, resumed);
  const Tokenizer &source = *made.both.source, &target = *made.both.target;
  observer.on_message(fmt::format("vocabulary: {} source and {} target tokens, {}{}", source.size(),
                                  target.size(), name_of(source.kind()),
                                  made.trained || resumed ? "" : ", found in the directory"));
  config.model.set_vocabularies(source.size(), target.size());
  return made;
}

Corpus Prepared::made_corpus(const ModelDirectory& directory, bool resumed,
                             TrainingObserver& observer) {
  const std::filesystem::path file = directory.root / "train.corpus";
  const CorpusSpec spec = corpus_spec(config, training_files(config), tokenizers.both);
  if (resumed && std::filesystem::exists(file) && !made_from(file, spec)) {
    observer.on_message("data: not what the steps before were trained on; going on with it");
  }
  if (const LineLimit longest = longest_of(config); longest.by_places) {
    observer.on_message(
        fmt::format("data: at most {} tokens of a side, not {}: the model has learned no more "
                    "places",
                    longest.tokens, config.data.longest));
  }
  Corpus made = open_corpus(spec, file);
  const CorpusCounts& counts = made.counts();
  observer.on_message("data: " + described(counts, made.size()));
  const Tokenizer& target = *tokenizers.both.target;
  const TokenizerKind kind = target.kind();
  const bool subwords = kind == TokenizerKind::kBpe || kind == TokenizerKind::kUnigram;
  if (subwords && counts.target_tokens * 2 < made.size() * 3) {
    observer.on_message(fmt::format(
        "warning: targets are {:.1f} tokens long: {} tokens are too many for this text, and "
        "nothing is learned of what is inside a target; try a smaller --vocabulary.vocabulary, "
        "or --vocabulary.kind character",
        static_cast<double>(counts.target_tokens) / static_cast<double>(made.size()),
        target.size()));
  }
  return made;
}

// After the batches are sized, so that the model of the trial is not beside it.
TextModel Prepared::made_model(const std::optional<Before>& before, TrainingObserver& observer) {
  if (config.memory.bytes > 0) {
    const bool sized = before && before->config.memory == config.memory;
    config.batch.tokens =
        sized ? before->config.batch.tokens : tokens_within_memory(config, corpus);
    release_unused_memory();
    observer.on_message(fmt::format("memory: batches of {} tokens", config.batch.tokens));
  }
  set_warmup(before, observer);
  Rng rng(config.training.seed);
  TextModel made{config.model, make_model(config.model, rng), tokenizers.both.source,
                 tokenizers.both.target};
  size_t count = 0;
  for (const NamedTensor& p : parameters(*made.model)) count += p.tensor.size();
  observer.on_message(fmt::format("model: {}, {} parameters", name_of(config.model.kind), count));
  return made;
}

// Where it is not told it follows from the steps: more of them are as if they had been asked for at
// first.
void Prepared::set_warmup(const std::optional<Before>& before, TrainingObserver& observer) {
  const int64_t steps = config.training.steps;
  const bool told = config.schedule.warmup.has_value();
  const int64_t warmup = warmup_steps(config.schedule, steps);
  config.schedule.warmup = warmup;
  if (warmup >= steps) {
    observer.on_message(fmt::format(
        "warning: schedule.warmup is {} of {} steps: the rate never gets to optimizer.rate", warmup,
        steps));
  }
  if (told || !before || before->checkpoint.step >= steps) return;
  if (const int64_t was = before->config.schedule.warmup.value_or(warmup); was != warmup) {
    observer.on_message(fmt::format("now schedule.warmup = {} (was {})", warmup, was));
  }
}

void Prepared::prepare_validation(const ModelDirectory& directory, TrainingObserver& observer) {
  valid.emplace(open_corpus(corpus_spec(config, validation_files(config), tokenizers.both),
                            directory.root / "valid.corpus"));
  observer.on_message("validation: " + described(valid->counts(), valid->size()));
  validator.emplace(config, *valid, *tokenizers.both.source);
  if (validator->left_out() == 0) return;
  observer.on_message(fmt::format(
      "validation: {} lines have more tokens than the model has learned places for, and are not "
      "decoded",
      validator->left_out()));
}

}  // namespace attend
