#include "attend/train/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/io/checkpoint.h"
#include "attend/io/config.h"
#include "attend/io/json_log.h"
#include "attend/io/model_directory.h"
#include "attend/io/safetensors.h"
#include "attend/train/batch_memory.h"
#include "attend/train/looks.h"

namespace attend {
namespace {

constexpr const char* kState = "state.json";

PairFiles training_files(const RunConfig& config) {
  return {config.data.source, config.data.target};
}

// Trained on both sides together, or on each by itself.
Tokenizers train_tokenizers(const RunConfig& config) {
  const auto train = [&](const TokenizerConfig& tokenizer, bool sources, bool targets) {
    PairReader reader(training_files(config));
    bool target_next = false;
    return train_tokenizer(tokenizer, [&]() -> std::optional<std::string_view> {
      if (std::exchange(target_next, false)) return reader.target();
      if (!reader.next()) return std::nullopt;
      target_next = sources && targets;
      return sources ? reader.source() : reader.target();
    });
  };
  const TokenizerConfig& source = config.vocabulary.tokenizer;
  if (config.vocabulary.one()) {
    const auto joint = train(source, true, true);
    return {joint, joint};
  }
  TokenizerConfig target = source;
  target.kind = config.vocabulary.target_kind.value_or(source.kind);
  return {train(source, true, false), train(target, false, true)};
}

TextEncoder encoder_of(const std::shared_ptr<const Tokenizer>& tokenizer) {
  return {[tokenizer](std::string_view line) { return tokenizer->encode(line); }, tokenizer->size(),
          tokenizer->fingerprint()};
}

Corpus corpus_of(const RunConfig& config, const PairFiles& files, const Tokenizers& tokenizers,
                 const std::filesystem::path& file) {
  CorpusSpec spec{files, encoder_of(tokenizers.source), encoder_of(tokenizers.target)};
  spec.longest_source = spec.longest_target = config.data.longest;
  return open_corpus(spec, file);
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

// Text files and tokenizers made into what a trainer needs, below one directory.
struct Prepared {
  MemoryLimit limit;
  RunConfig config;  // with the vocabularies known
  TextModel model;
  Corpus corpus;
  std::optional<Corpus> valid;
  std::optional<Validator> validator;
  std::optional<Looks> looks;

  Prepared(const RunConfig& given, const ModelDirectory& directory, TrainingObserver& observer)
      : limit(given.memory.bytes),
        config(given),
        model(model_of(directory, observer)),
        corpus(corpus_of(config, training_files(config), {model.source, model.target},
                         directory.root / "train.corpus")) {
    observer.on_message("data: " + described(corpus.counts(), corpus.size()));
    size_batches(directory, observer);
    if (!config.data.valid_source.empty()) prepare_validation(directory, observer);
    looks.emplace(config.looks, valid ? *valid : corpus, directory);
  }
  Prepared(const Prepared&) = delete;

 private:
  void prepare_validation(const ModelDirectory& directory, TrainingObserver& observer) {
    valid.emplace(corpus_of(config, {config.data.valid_source, config.data.valid_target},
                            {model.source, model.target}, directory.root / "valid.corpus"));
    observer.on_message("validation: " + described(valid->counts(), valid->size()));
    validator.emplace(config, *valid);
  }

  // To fit the memory; as before where a run of the same goes on.
  void size_batches(const ModelDirectory& directory, TrainingObserver& observer) {
    if (config.memory.bytes == 0) return;
    RunConfig before;
    if (std::filesystem::exists(directory.training())) read_config(before, directory.training());
    config.batch.tokens =
        before.memory == config.memory ? before.batch.tokens : tokens_within_memory(config, corpus);
    observer.on_message(fmt::format("memory: batches of {} tokens", config.batch.tokens));
  }

  TextModel model_of(const ModelDirectory& directory, TrainingObserver& observer) {
    Tokenizers tokenizers = load_tokenizers(directory);
    if (tokenizers.source == nullptr) {
      tokenizers = train_tokenizers(config);
      save_tokenizers(directory, tokenizers);
    }
    observer.on_message(fmt::format("vocabulary: {} source and {} target tokens, {}",
                                    tokenizers.source->size(), tokenizers.target->size(),
                                    name_of(tokenizers.source->kind())));
    config.model.set_vocabularies(tokenizers.source->size(), tokenizers.target->size());
    Rng rng(config.training.seed);
    TextModel made{config.model, make_model(config.model, rng), tokenizers.source,
                   tokenizers.target};
    size_t count = 0;
    for (const NamedTensor& p : parameters(*made.model)) count += p.tensor.size();
    observer.on_message(fmt::format("model: {}, {} parameters", name_of(config.model.kind), count));
    return made;
  }
};

// Writes log.jsonl beside telling the observer.
class Logged : public TrainingObserver {
 public:
  Logged(TrainingObserver& to, JsonLog& log, Metric metric) : to_(to), log_(log), metric_(metric) {}

  void on_report(const TrainingReport& r) override {
    append({{"step", r.step},
            {"epoch", r.epoch},
            {"loss", r.loss},
            {"rate", r.rate},
            {"gradient_norm", r.gradient_norm},
            {"tokens_per_second", r.tokens_per_second},
            {"bad_updates", r.bad_updates}});
    to_.on_report(r);
  }
  void on_validation(const TrainingReport& r, const ValidationScore& s, bool best) override {
    nlohmann::ordered_json line = {{"step", r.step},
                                   {"valid_loss", s.loss},
                                   {"valid_perplexity", s.perplexity},
                                   {"best", best}};
    if (s.value) line[std::string("valid_") + std::string(name_of(metric_))] = *s.value;
    append(line);
    to_.on_validation(r, s, best);
  }
  void on_message(const std::string& text) override { to_.on_message(text); }

 private:
  void append(const nlohmann::ordered_json& line) { log_.append(line.dump()); }

  TrainingObserver& to_;
  JsonLog& log_;
  Metric metric_;
};

// What was trained here before must be of one kind with what is asked for now.
void compare_with_before(const RunConfig& config, const ModelDirectory& directory,
                         TrainingObserver& observer) {
  if (!std::filesystem::exists(directory.training())) return;
  RunConfig before;
  read_config(before, directory.training());
  for (const Difference& d : differences(before, config)) {
    const bool fixed = d.path.starts_with("model.") || d.path.starts_with("vocabulary.");
    const bool known_later = d.path.ends_with("_vocabulary");
    const bool sized = d.path == "batch.tokens" && config.memory.bytes > 0;
    if (known_later || sized || d.path == "out") continue;
    if (fixed) {
      throw ConfigError(
          "{}: trained with {} = {}, not {}; go on with that, or train into another directory",
          directory.root.string(), d.path, d.before, d.after);
    }
    observer.on_message(fmt::format("now {} = {} (was {})", d.path, d.after, d.before));
  }
}

class Run {
 public:
  Run(const RunConfig& config, const ModelDirectory& directory, TrainingObserver& observer)
      : directory_(directory),
        prepared_(config, directory, observer),
        checkpoint_(latest_checkpoint(directory.checkpoints())),
        log_(directory.log(), checkpoint_ ? std::optional(checkpoint_->step) : std::nullopt),
        observer_(observer, log_, config.validation.metric),
        trainer_({prepared_.model, prepared_.corpus,
                  prepared_.validator ? &*prepared_.validator : nullptr, prepared_.config,
                  observer_, [this](Trainer&, bool best) { save(best); },
                  [this](Trainer& trainer) { look(trainer); }}) {
    if (checkpoint_) resume(*checkpoint_);
    prepared_.model.save_description(directory_);
    replace_file(directory_.training(), to_yaml(prepared_.config, true));
  }

  RunResult go(const std::atomic<bool>& stop) {
    const TrainingEnd end = trainer_.run(stop);
    if (end == TrainingEnd::kStopped) save(false);
    const TrainingState& state = trainer_.state();
    return {end, state.step, state.best_step, state.best_score};
  }

 private:
  void resume(const Checkpoint& checkpoint) {
    load_weights(checkpoint.path / kTrainingTensors, trainer_.tensors());
    TrainingState state;
    read_config(state, checkpoint.path / kState);
    trainer_.resume(state);
    observer_.on_message(
        fmt::format("resumed at step {}: weights, optimizer, place in the data", checkpoint.step));
  }

  void look(Trainer& trainer) {
    const int64_t step = trainer.state().step;
    if (!prepared_.looks->due(step)) return;
    trainer.with_kept_weights([&] { prepared_.looks->store(prepared_.model, step); });
  }

  // The model first: killed in between, the run comes to the same point again.
  void save(bool best) {
    const TrainingState& state = trainer_.state();
    if (best || prepared_.validator == std::nullopt) {
      trainer_.with_kept_weights([&] { prepared_.model.save_weights(directory_.weights()); });
    }
    log_.sync();
    write_checkpoint(directory_.checkpoints(), state.step, [&](const std::filesystem::path& path) {
      write_safetensors(path / kTrainingTensors, trainer_.tensors());
      replace_file(path / kState, to_json(state) + "\n");
    });
    const TrainingConfig& training = prepared_.config.training;
    KeepCheckpoints keep{.last = std::max<size_t>(1, training.keep), .every = training.keep_every};
    if (state.best_step > 0) keep.best = state.best_step;
    prune_checkpoints(directory_.checkpoints(), keep);
    observer_.on_save(state);
  }

  ModelDirectory directory_;
  Prepared prepared_;
  std::optional<Checkpoint> checkpoint_;
  JsonLog log_;
  Logged observer_;
  Trainer trainer_;
};

constexpr int64_t kPlannedSteps = 5;

// Remembers the last report.
struct LastReport : TrainingObserver {
  TrainingReport report;
  void on_report(const TrainingReport& r) override { report = r; }
};

}  // namespace

RunPlan plan_training(const RunConfig& given) {
  given.check();
  const TemporaryDirectory temporary;
  RunConfig config = given;
  config.training.report_every = kPlannedSteps;
  config.data.valid_source = config.data.valid_target = "";
  LastReport last;
  Prepared prepared(config, {temporary.path()}, last);
  RunPlan plan;
  for (const NamedTensor& p : parameters(*prepared.model.model)) {
    plan.parameters += p.tensor.size();
    const std::string part = p.name.substr(0, p.name.find('.'));
    if (plan.parts.empty() || plan.parts.back().first != part) plan.parts.emplace_back(part, 0);
    plan.parts.back().second += p.tensor.size();
  }
  plan.source_vocabulary = prepared.model.source->size();
  plan.target_vocabulary = prepared.model.target->size();
  plan.pairs = prepared.corpus.size();
  const CorpusCounts& counts = prepared.corpus.counts();
  plan.left_out = counts.read.empty + counts.read.too_long + counts.empty + counts.too_long;
  plan.batches_per_epoch = BatchStream(prepared.corpus, config.batch).batches_per_epoch();

  const int64_t steps = config.training.steps;
  prepared.config.training.steps = kPlannedSteps;
  Trainer trainer(
      {prepared.model, prepared.corpus, nullptr, prepared.config, last, [](Trainer&, bool) {}});
  trainer.run(false);
  plan.tokens_per_second = last.report.tokens_per_second;
  const double tokens = static_cast<double>(counts.source_tokens + counts.target_tokens) +
                        2 * static_cast<double>(plan.pairs);
  const double epochs = static_cast<double>(steps) *
                        static_cast<double>(config.training.accumulation) /
                        static_cast<double>(plan.batches_per_epoch);
  plan.seconds = epochs * tokens / plan.tokens_per_second;
  return plan;
}

RunResult run_training(const RunConfig& config, TrainingObserver& observer,
                       const std::atomic<bool>& stop) {
  config.check();
  PairReader(training_files(config));  // a file that is missing should leave no directory behind
  const ModelDirectory directory{config.out};
  directory.create();
  const DirectoryLock lock(directory.root);
  clean_checkpoints(directory.checkpoints());
  compare_with_before(config, directory, observer);
  return Run(config, directory, observer).go(stop);
}

}  // namespace attend
