// Every setting of a training run in one struct: what a YAML file, the flags and attend.yaml hold.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/base/fields.h"
#include "attend/base/limits.h"
#include "attend/data/documents.h"
#include "attend/data/plan.h"
#include "attend/decode/search.h"
#include "attend/io/model_directory.h"
#include "attend/models/model_config.h"
#include "attend/models/transfer.h"
#include "attend/nn/low_rank.h"
#include "attend/text/tokenizer.h"
#include "attend/train/optimizer.h"
#include "attend/train/schedule.h"

namespace attend {

// Files of text, one for each corpus; a single one may stand for the list.
struct TextFiles : std::vector<std::filesystem::path> {
  using std::vector<std::filesystem::path>::vector;
  TextFiles() = default;
  TextFiles(const std::filesystem::path& file) {  // NOLINT: a file is a list of one
    if (!file.empty()) push_back(file);
  }
  TextFiles(const std::string& file) : TextFiles(std::filesystem::path(file)) {}  // NOLINT
  TextFiles(const char* file) : TextFiles(std::filesystem::path(file)) {}         // NOLINT
};

// Where the text of each column is. Which columns there must be follows from the task, which
// follows from the model (train/task.h). File i of each column belongs to corpus i.
struct DataConfig {
  TextFiles source, target;  // without a target, the source has two columns
  TextFiles valid_source, valid_target;
  TextFiles text, valid_text;
  TextFiles label, valid_label;  // without a label, the text has two columns
  TextFiles pair, valid_pair;    // the second text of each record
  TextFiles tags, valid_tags, number, valid_number;
  std::vector<double> weights;  // of each corpus of training; none: all 1
  // Tokens of a column; longer records are left out, and those that a model has no positions for.
  size_t longest = 256;
  DocumentKind documents = DocumentKind::kFile;
  std::optional<size_t> context;
  size_t overlap = 0;
  bool shift = true;
  double held_out = 0;

  template <typename V>
  void fields(V& v) {
    const auto files = [&v](std::string_view name, TextFiles& of, std::string_view help) {
      v(name, static_cast<std::vector<std::filesystem::path>&>(of), help);
    };
    files("source", source,
          "text to read, one sentence per line, or pairs with a tab between; may be .gz");
    files("target", target, "text to write; line n belongs to line n of the source");
    files("valid_source", valid_source, "the same for validation");
    files("valid_target", valid_target, "the same for validation");
    files("text", text, "text of a language model, or lines to label; may be .gz");
    files("valid_text", valid_text, "the same for validation");
    files("label", label,
          "labels, one for each line of the text; without it, the text has both, with a tab "
          "between");
    files("valid_label", valid_label, "the same for validation");
    files("pair", pair, "second texts, one for each line of the text, which are read with it");
    files("valid_pair", valid_pair, "the same for validation");
    files("tags", tags, "tags with spaces between them, one for each word of a line of the text");
    files("valid_tags", valid_tags, "the same for validation");
    files("number", number, "numbers, one for each line of the text");
    files("valid_number", valid_number, "the same for validation");
    v("weights", weights,
      "of several corpora, one for each: how often an epoch has each of its records, such as "
      "1,0.5; none: once");
    v("longest", longest, "most tokens of a line; longer records are left out", limits::kLength);
    v("documents", documents,
      "language models, masked ones too: what a document is; blank: lines up to a blank one");
    v("context", context,
      "language models: tokens read at once; none: 256, 128 if masked, or as many as the model has "
      "positions for",
      limits::kLength);
    v("overlap", overlap, "language model: tokens that a window repeats from the one before it",
      limits::kLength.or_0());
    v("shift", shift, "language model: cut long documents at different tokens in each epoch");
    v("held_out", held_out, "share of the text to hold out for validation");
  }
};

struct VocabularyConfig {
  TokenizerConfig tokenizer;
  std::optional<TokenizerKind> target_kind;  // where targets are cut up in another way
  bool joint = true;

  // Whether source and target share one tokenizer.
  bool one() const { return joint && target_kind.value_or(tokenizer.kind) == tokenizer.kind; }

  template <typename V>
  void fields(V& v) {
    tokenizer.fields(v);
    v("target_kind", target_kind,
      "what a token of the target is; none: the same, or line for labels");
    v("joint", joint, "one vocabulary for source and target, if both are of the same kind");
  }
};

// Which tokens a masked language model is to predict, drawn anew in each epoch (Devlin et al.,
// 2019).
//
// Of two texts the model also tells whether the second follows the first or was taken from another
// place (BERT), or whether they are in order or swapped (ALBERT; Lan et al., 2020).
enum class TextRelation { kNextSentence, kSentenceOrder };
std::string_view name_of(TextRelation relation);

struct MaskingConfig {
  double share = 0.15;
  double masked = 0.8, random = 0.1;  // of these; the rest stay as they are
  bool whole_words = false;
  TextRelation relation = TextRelation::kNextSentence;

  template <typename V>
  void fields(V& v) {
    v("share", share, "of tokens that are predicted, at least one of each text");
    v("masked", masked, "share of these that the model reads as the mask token");
    v("random", random, "share of these that it reads as a random token; the rest it sees");
    v("whole_words", whole_words, "choose words instead of tokens");
    v("relation", relation, "two texts: what is told of them, beside their tokens");
  }

  void check() const;  // throws ConfigError
};

// Which spans of a text an encoder-decoder is to write that is pretrained on plain text, drawn anew
// in each epoch (train/span_corruption.h).
struct SpansConfig {
  double share = 0.15;
  double length = 3.0;

  template <typename V>
  void fields(V& v) {
    v("share", share, "of the tokens of a text that are in spans, at least one; at most 0.5");
    v("length", length, "tokens of a span on average");
  }

  void check() const;  // throws ConfigError
};

// What validation measures: one of metrics(), by its number. Those that code refers to have names;
// a task lists which it can measure.
enum class Metric { kLoss, kBleu, kChrf, kAccuracy, kErrorRate };

struct MetricEntry {
  std::string_view name;
  bool higher_is_better = true;
  bool in_percent = true;
};
// Those above, and all of metrics/scores.h, of labels, spans and numbers.
std::span<const MetricEntry> metrics();
Metric metric_named(std::string_view name);  // ConfigError for an unknown one
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
    v("metric", metric, "metric by which the best model is chosen");
    v("lowercase", lowercase, "ignore case in BLEU and chrF");
    v("sentences", sentences, "sentences to decode at most; 0: all", limits::kCount.or_0());
    v("grouped", grouped, "consecutive lines with the same source are references of one source");
    v("patience", patience, "validations without a better score before training stops; 0: never",
      limits::kCount.or_0());
  }
};

// "auto", which is that of the task, and the names of train/objective.h.
std::vector<std::string> objective_choices();

struct TrainingConfig {
  int64_t steps = 20000;
  Choice<objective_choices> objective = std::string_view("auto");
  size_t shards = 1;  // of an update; their gradients are summed in a fixed order
  std::optional<float> label_smoothing;    // none: that of the task
  std::vector<std::string> class_weights;  // "auto", or LABEL=WEIGHT: see train/class_weights.h
  double coverage_loss = 0.0;              // weight of the model's "coverage" loss
  double average = 0.0;  // decay of the mean of weights that is kept; 0: the weights themselves
  // Patterns of parameters, as in matches_pattern(): those that are not trained, and
  // PATTERN=FACTOR for rates of their own.
  std::vector<std::string> frozen, rates;
  double layer_decay = 1.0;  // the rate of each layer is that of the one above it times this
  std::string unfreeze;      // "epoch", or a number of steps, in which one more layer is trained
  size_t reinitialize = 0;   // of RunConfig::init_from: layers that keep their new weights
  uint64_t seed = 1;
  int64_t report_every = 50;
  int64_t save_every = 500;
  size_t keep = 2;          // newest checkpoints, beside the best one
  int64_t keep_every = 0;   // and those of every so many steps
  size_t bad_updates = 5;   // in a row that are not finite before training stops
  size_t accumulation = 1;  // of files of earlier versions: read_run_config() makes it shards

  template <typename V>
  void fields(V& v) {
    v("steps", steps, "total number of updates", limits::kSteps);
    v("objective", objective, "loss to minimise; auto: that of the task");
    v("shards", shards,
      "parts into which an update is divided to save memory, a power of two; each gets an equal "
      "share of batch.tokens",
      Range{1, 65'536});
    v("label_smoothing", label_smoothing,
      "probability spread over all tokens; none: 0.1, and 0 for language models and "
      "with class weights");
    v("class_weights", class_weights,
      "weights of labels in the loss, such as spam=3; auto: the rarer a label, the more it weighs");
    v("coverage_loss", coverage_loss, "weight of the loss for attending to a position twice");
    v("average", average, "decay of the moving average of the weights, such as 0.999; 0: off");
    v("frozen", frozen, "parameters that are not trained, such as encoder or *.bias");
    v("rates", rates,
      "rates of some parameters as PATTERN=FACTOR, such as encoder=0.1; the last that matches "
      "counts");
    v("layer_decay", layer_decay,
      "factor of the rate from a layer to the one below it, such as 0.9; embeddings are lowest");
    v("unfreeze", unfreeze,
      "train what is above the top layer first, and one more layer after each so many steps, or "
      "after each 'epoch'");
    v("reinitialize", reinitialize,
      "layers at the top of the encoder that init_from gives no weights", limits::kLayers.or_0());
    v("seed", seed, "seed of weights and dropout; batch.seed is that of the data's order",
      limits::kAny);
    v("report_every", report_every, "steps between reports", limits::kSteps);
    v("save_every", save_every, "steps between checkpoints", limits::kSteps);
    v("keep", keep, "newest checkpoints to keep, besides the best one", limits::kCount.or_0());
    v("keep_every", keep_every, "also keep a checkpoint every N steps; 0: none",
      limits::kSteps.or_0());
    v("bad_updates", bad_updates, "consecutive updates that may fail before training stops",
      limits::kCount.or_0());
    v.old("accumulation", accumulation, Range{1, 65'536});
  }
};

// Attention maps that are stored as the model learns; see inspect/snapshot.h.
struct SnapshotsConfig {
  int64_t every = 0;  // steps; 0: none
  size_t sentences = 3;

  template <typename V>
  void fields(V& v) {
    v("every", every, "steps between snapshots of attention for `attend explore`; 0: none",
      limits::kSteps.or_0());
    v("sentences", sentences, "sentences in a snapshot, the first ones of the validation text",
      limits::kCount.or_0());
  }
};

struct RunConfig {
  std::filesystem::path out;  // the model directory
  // A model directory, or a checkpoint in one, whose weights a new run starts with; a run that is
  // resumed does not read it again.
  std::filesystem::path init_from;
  VocabularyTransfer init_vocabulary = VocabularyTransfer::kSame;
  MemorySize memory;  // for training; 0: what batch.tokens takes
  Duration time;      // that the run was planned for; 0: it was not
  ModelConfig model;
  DataConfig data;
  VocabularyConfig vocabulary;
  BatchConfig batch;
  LowRankConfig lora;
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  TrainingConfig training;
  MaskingConfig masking;
  SpansConfig spans;
  ValidationConfig validation;
  SearchConfig search;
  SnapshotsConfig snapshots;

  RunConfig() {
    optimizer.rate = 1e-3;
    optimizer.beta2 = 0.98;
    optimizer.clip_norm = 1.0;
  }

  template <typename V>
  void fields(V& v) {
    v("out", out, "model directory to write or resume");
    v("init_from", init_from,
      "model directory, or a checkpoint in one, to start from: fine-tuning");
    v("init_vocabulary", init_vocabulary,
      "where init_from has another vocabulary: same: stop; match: keep the vectors of tokens that "
      "both have; new: keep none");
    v("memory", memory, "such as 4GB: batches are sized to fit; 0: use batch.tokens");
    v("time", time, "such as 30m: plan model size, steps and schedule to be done by then");
    v("model", model, "what is trained");
    v("data", data, "what it is trained on");
    v("vocabulary", vocabulary, "how text becomes tokens");
    v("batch", batch, "how records are batched");
    v("lora", lora, "an adapter that is trained in place of the weights of init_from");
    v("optimizer", optimizer, "how weights are updated");
    v("schedule", schedule, "how the learning rate changes");
    v("training", training, "how long, how often");
    v("masking", masking, "which tokens a masked language model predicts");
    v("spans", spans, "which spans of text an encoder-decoder writes that is pretrained on it");
    v("validation", validation, "how the model is judged during training");
    v("search", search, "how validation decodes");
    v("snapshots", snapshots, "attention maps stored during training");
    v.old("looks", snapshots);
  }

  // Throws ConfigError where there is no model directory, or text cannot be read more than once.
  void check_files() const;
  // Throws ConfigError for everything that can be known to be wrong before any text is read.
  void check() const;
};

// Sets what a file names, also where an earlier version wrote it: settings that have changed since
// are expressed by those of today, and `say` hears what became of them.
void read_run_config(RunConfig& config, const std::filesystem::path& file,
                     const std::function<void(const std::string&)>& say = {});

// The settings that a model was trained by; the defaults where its directory does not tell.
RunConfig trained_config(const ModelDirectory& directory);

// What a model reads and writes, whatever its vocabularies will be. Throws ConfigError where there
// cannot be such a model.
Signature signature_of(const ModelConfig& config);

}  // namespace attend
