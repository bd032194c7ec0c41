// What a model is trained for. A task names the columns of its records, where their text comes
// from, the objective, the metrics, and the command that uses the trained model: a file and a line
// of the registry. Which one it is follows from what the model reads and writes.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/hash.h"
#include "attend/data/corpus_build.h"
#include "attend/data/text_profile.h"
#include "attend/models/text_model.h"
#include "attend/train/objective.h"
#include "attend/train/run_config.h"

namespace attend {

// Which text of a run: that it trains on, or that it validates on.
enum class Split { kTraining, kValidation };

struct TaskColumn {
  std::string_view name;
  ColumnKind kind = ColumnKind::kTokens;
  bool written = false;
  bool may_be_empty = false;
};

// What validation decodes to judge a model, beside its loss.
class Judge {
 public:
  virtual ~Judge() = default;
  // The metric's value. Throws Stopped (decode/search.h) when `stop` becomes true.
  virtual double operator()(const TextModel& model, const std::atomic<bool>& stop) const = 0;
  // All that the value depends on beside the model.
  virtual void add_to(Hash& hash) const = 0;
  virtual size_t left_out() const { return 0; }  // lines that the model has no positions for
};

class GivenSettings;  // choices.h

// What a model is trained for.
class Task {
 public:
  std::string_view name, summary;
  std::vector<TaskColumn> columns;
  std::string_view objective;    // unless another is set
  float label_smoothing = 0.1f;  // unless another is set
  std::vector<Metric> metrics;   // that validation can measure
  std::string_view command;      // "translate", for `attend translate`
  std::string_view records;      // what its records are called: "pairs"
  std::string_view flags;        // that give its text: "--source FILE --target FILE"
  std::string_view valid_flags;
  std::vector<std::string_view> settings;  // of DataConfig, that it uses

  virtual ~Task() = default;

  // Whether there is text for it. Training text may be that of a similar task, under its names.
  virtual bool has_text(const DataConfig& data, Split split) const = 0;
  // Throws ConfigError for settings that do not go together.
  virtual void check(const RunConfig& config, const Signature& signature) const = 0;
  // Throws Error for a file that is missing, empty, or does not fit the others; `all` reads to the
  // end.
  virtual void check_text(const RunConfig& config, Split split, bool all) const = 0;
  virtual bool same_text(const DataConfig& a, const DataConfig& b) const = 0;  // of training
  // A look at the training text. Throws what reading it throws.
  virtual TextProfile profile(const RunConfig& config) const = 0;
  // Sets what nobody gave, in place of what is usual, and returns what to tell about it; nothing:
  // what is usual is good for this task.
  virtual std::vector<std::string> choose(RunConfig& /*config*/, const GivenSettings& /*given*/,
                                          const TextProfile& /*profile*/) const {
    return {};
  }
  // What the model allows less of than the settings ask for, for a person.
  virtual std::vector<std::string> limits(const RunConfig& config,
                                          const Signature& signature) const = 0;

  // By the names of the columns.
  virtual Tokenizers train_tokenizers(const RunConfig& config) const = 0;
  virtual std::unique_ptr<RecordSource> source(const RunConfig& config, const Signature& signature,
                                               const Tokenizers& tokenizers, Split split) const = 0;
  // Sets what the model takes from the training text itself, under these names in the settings of
  // its kind; a run that is resumed keeps them. Returns what to tell about it.
  std::vector<std::string_view> fitted_settings;
  virtual std::vector<std::string> fit(ModelConfig& /*model*/, const Corpus& /*corpus*/,
                                       const Tokenizers& /*tokenizers*/) const {
    return {};
  }
  // Of config.validation.metric, which is not the loss. The corpus is that of validation.
  virtual std::unique_ptr<Judge> judge(const RunConfig& config, const Corpus& corpus,
                                       const Signature& signature,
                                       const Tokenizers& tokenizers) const = 0;

  std::string column_names() const;  // "source and target"
};

// All tasks.
std::span<const std::unique_ptr<const Task>> tasks();
// The first that models of these columns are trained for, whatever text there is. Throws
// ConfigError where there is none.
const Task& task_of_columns(const Signature& signature);
// Whether a task trains such models.
bool fits(const Task& task, const Signature& signature);

// The task that trains a model. Throws ConfigError, which says what would fit, where the data have
// other columns.
const Task& task_of(const RunConfig& config, const Signature& signature);

// The same run of a model that fits its data: where the text has other columns than the model, the
// model, or the one it is built around, becomes a part of one that has them (ModelKind::around), if
// there is one.
RunConfig fitted(const RunConfig& config);

// The objective of a run: the one that is set, or the task's.
std::string_view objective_of(const RunConfig& config, const Task& task);
std::unique_ptr<Objective> make_objective(const RunConfig& config, const Task& task,
                                          const Signature& signature);

// Tokens that a language model reads at once in training.
size_t context_of(const RunConfig& config, const Signature& signature);

// Throws ConfigError for a held-out share that cannot be, or beside other text of validation; and
// DataError where what is held out of a file, or what is kept, is nothing.
void check_held_out(const DataConfig& data, bool has_other, std::string_view other_setting);
void check_held_out_left(const DataConfig& data, Split split, const std::filesystem::path& file);

// Throws ConfigError for weights that are not one for each of so many corpora; and how often an
// epoch has the records of one.
void check_weights(const DataConfig& data, size_t corpora);
double weight_of_corpus(const DataConfig& data, size_t corpus);
// What an epoch has of each corpus, for a person: "2 corpora, ...". Empty where there is one.
std::string corpora_text(const TextFiles& files, const Corpus& corpus, std::string_view records);

// The registry's lines.
std::unique_ptr<const Task> translate_task();
std::unique_ptr<const Task> spans_task();
std::unique_ptr<const Task> language_model_task();
std::unique_ptr<const Task> classify_task();
std::unique_ptr<const Task> classify_pairs_task();
std::unique_ptr<const Task> tag_task();
std::unique_ptr<const Task> regress_task();
std::unique_ptr<const Task> regress_pairs_task();
std::unique_ptr<const Task> masked_task();
std::unique_ptr<const Task> masked_pairs_task();
std::unique_ptr<const Task> bidirectional_language_model_task();
std::unique_ptr<const Task> word_vectors_task();

}  // namespace attend
