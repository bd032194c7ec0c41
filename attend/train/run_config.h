// All that a training run is told, in one struct: what a YAML file, the flags and attend.yaml hold.
#pragma once

#include <filesystem>
#include <optional>

#include "attend/base/fields.h"
#include "attend/base/limits.h"
#include "attend/data/plan.h"
#include "attend/decode/search.h"
#include "attend/models/model.h"
#include "attend/text/tokenizer.h"
#include "attend/train/optimizer.h"
#include "attend/train/schedule.h"

namespace attend {

struct DataConfig {
  std::filesystem::path source, target;  // without a target, the source has two columns
  std::filesystem::path valid_source, valid_target;
  // Tokens of a side; longer pairs are left out, and those that a model has learned no places for.
  size_t longest = 256;

  template <typename V>
  void fields(V& v) {
    v("source", source, "text to read, one sentence a line, also .gz; or pairs with a tab between");
    v("target", target, "text to write, line by line as the source");
    v("valid_source", valid_source, "the same for validation");
    v("valid_target", valid_target, "the same for validation");
    v("longest", longest, "tokens of a side at most; longer pairs are left out", limits::kLength);
  }
};

struct VocabularyConfig {
  TokenizerConfig tokenizer;
  std::optional<TokenizerKind> target_kind;  // where targets are cut up in another way
  bool joint = true;

  bool one() const { return joint && target_kind.value_or(tokenizer.kind) == tokenizer.kind; }

  template <typename V>
  void fields(V& v) {
    tokenizer.fields(v);
    v("target_kind", target_kind, "what a token of the target is, if something else");
    v("joint", joint, "one vocabulary for both sides, where they have one kind");
  }
};

// How validation decodes and what it measures.
enum class Metric { kLoss, kBleu, kChrf, kAccuracy, kErrorRate };
std::string_view name_of(Metric metric);
bool better(Metric metric, double score, double than);

struct ValidationConfig {
  int64_t every = 500;  // steps
  Metric metric = Metric::kLoss;
  bool lowercase = false;
  size_t sentences = 1000;  // that are decoded; 0: all
  bool grouped = false;     // lines in a row with one source are references of it
  size_t patience = 10;     // validations without a better score before training stops; 0: never

  template <typename V>
  void fields(V& v) {
    v("every", every, "steps between validations", limits::kSteps);
    v("metric", metric, "what is best: loss, bleu, chrf, accuracy or error_rate");
    v("lowercase", lowercase, "case does not count in BLEU and chrF");
    v("sentences", sentences, "sentences decoded at most; 0: all", limits::kCount.or_0());
    v("grouped", grouped, "lines in a row with the same source are references of one");
    v("patience", patience, "validations without a better score before training stops; 0: never",
      limits::kCount.or_0());
  }
};

struct TrainingConfig {
  int64_t steps = 20000;
  size_t accumulation = 1;  // batches to an update
  float label_smoothing = 0.1f;
  double coverage_loss = 0.0;  // weight of the loss for looking twice; with model.rnn.coverage
  double average = 0.0;  // decay of the mean of weights that is kept; 0: the weights themselves
  uint64_t seed = 1;
  int64_t report_every = 50;
  int64_t save_every = 500;
  size_t keep = 2;         // newest checkpoints, beside the best one
  int64_t keep_every = 0;  // and those of every so many steps
  size_t bad_updates = 5;  // in a row that are not finite before training stops

  template <typename V>
  void fields(V& v) {
    v("steps", steps, "updates in all", limits::kSteps);
    v("accumulation", accumulation, "batches to an update", Range{1, 65'536});
    v("label_smoothing", label_smoothing, "part of each label that goes to all tokens");
    v("coverage_loss", coverage_loss, "weight of the loss for looking twice at a place");
    v("average", average,
      "decay of the moving mean of weights that is kept, such as 0.999; 0: off");
    v("seed", seed, "of weights and dropout; the order of the data has batch.seed", limits::kAny);
    v("report_every", report_every, "steps between reports", limits::kSteps);
    v("save_every", save_every, "steps between checkpoints", limits::kSteps);
    v("keep", keep, "newest checkpoints that are kept, beside the best one", limits::kCount.or_0());
    v("keep_every", keep_every, "keep those of every so many steps as well; 0: none",
      limits::kSteps.or_0());
    v("bad_updates", bad_updates, "updates in a row that may fail before training stops",
      limits::kCount.or_0());
  }
};

// Maps of attention that are kept while the model learns; see inspect/snapshot.h.
struct LooksConfig {
  int64_t every = 0;  // steps; 0: none
  size_t sentences = 3;

  template <typename V>
  void fields(V& v) {
    v("every", every, "steps between maps of attention that are stored for `explore`; 0: none",
      limits::kSteps.or_0());
    v("sentences", sentences, "sentences, the first of validation, whose maps are stored",
      limits::kCount.or_0());
  }
};

struct RunConfig {
  std::filesystem::path out;  // the model directory
  MemorySize memory;          // for training; 0: what batch.tokens takes
  ModelConfig model;
  DataConfig data;
  VocabularyConfig vocabulary;
  BatchConfig batch;
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  TrainingConfig training;
  ValidationConfig validation;
  SearchConfig search;
  LooksConfig looks;

  RunConfig() {
    optimizer.rate = 1e-3;
    optimizer.beta2 = 0.98;
    optimizer.clip_norm = 1.0;
  }

  template <typename V>
  void fields(V& v) {
    v("out", out, "model directory to write, or to resume in");
    v("memory", memory, "such as 4GB: batches are sized to fit; 0: batch.tokens tells");
    v("model", model, "what is trained");
    v("data", data, "what it is trained on");
    v("vocabulary", vocabulary, "how text becomes tokens");
    v("batch", batch, "what goes together");
    v("optimizer", optimizer, "how weights are updated");
    v("schedule", schedule, "how the rate changes");
    v("training", training, "how long, how often");
    v("validation", validation, "how it is judged meanwhile");
    v("search", search, "how validation decodes");
    v("looks", looks, "what of its attention is stored meanwhile");
  }

  // Throws ConfigError for all that can be told to be wrong before any text is read.
  void check() const;
};

}  // namespace attend
