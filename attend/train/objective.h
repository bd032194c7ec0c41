// What training minimises. An objective is a class and a line of the registry: the trainer, the
// validation and the dry run call loss() and know nothing else of it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/rng.h"
#include "attend/data/corpus.h"
#include "attend/models/text_model.h"
#include "attend/train/run_config.h"

namespace attend {

// What an objective knows beside the model and the batch.
struct LossContext {
  const Tokenizers& tokenizers;  // of the batch's columns: special ids come from them
  int64_t step = 0;              // updates done before
  uint64_t seed = 0, epoch = 0;  // for what is drawn for each record anew in every epoch
  RandomStream random{0, 0};     // of this shard of this update
  bool training = false;         // false: what the model is judged by, without regularisation
};

// A term of a loss.
struct LossTerm {
  std::string name;
  Tensor tensor;      // its value
  double labels = 0;  // of its own, for each of which it is that many nats; 0: those of the loss
};

// The loss of a batch.
struct Loss {
  Tensor sum;                        // over all labels that count, on the tape
  double count = 0;                  // labels; ignored ones do not count
  std::vector<LossTerm> parts = {};  // of the sum, where it has several: values for a report
  bool summed = false;  // gradients are those of the sum, not of its mean over the labels
};

// Random numbers for a text, the same in any batch and after a resume: others in each epoch of
// training, and always the same in validation. Texts that are equal have the same.
RandomStream stream_of_text(std::span<const int32_t> ids, const LossContext& context,
                            uint64_t purpose);

// Computes the loss that training minimises and validation measures.
class Objective {
 public:
  virtual ~Objective() = default;
  // Called once with the training text, before the first loss.
  virtual void prepare(const Corpus& /*corpus*/, const Tokenizers& /*tokenizers*/) {}
  // `batch` is as training_batch() makes it. Throws ConfigError where the model lacks what it
  // needs.
  virtual Loss loss(const Model& model, const Batch& batch, const LossContext& context) const = 0;
  // Parameters and buffers of its own: trained with the model's, saved and resumed, but no part of
  // the model that is kept.
  virtual void visit(Visitor& /*v*/) {}
};

// An entry of the registry.
struct ObjectiveKind {
  std::string_view name, summary;
  std::unique_ptr<Objective> (*make)(const RunConfig& config, const Signature& signature);
};

// All objectives.
std::span<const ObjectiveKind> objectives();
const ObjectiveKind& objective_kind(std::string_view name);  // ConfigError with the choices

// Records of a corpus as a model sees them: columns that it only reads get the starts and ends that
// it wants; what it writes, or is to tell, stays as it is.
Batch training_batch(const Batch& records, const Signature& signature,
                     const Tokenizers& tokenizers);
// The rows that a model computes for it, as RecordLengths counts them.
size_t training_rows(const Batch& batch, const Signature& signature);

// Cross-entropy of what a generator writes, under teacher forcing, with label smoothing and with
// those auxiliary losses of the model's own that the config gives a weight. A written column with a
// context column beside it is windows of documents (data/windows.h).
class TeacherForcing : public Objective {
 public:
  TeacherForcing(const RunConfig& config, const Signature& signature);
  Loss loss(const Model& model, const Batch& batch, const LossContext& context) const override;

 private:
  struct Weighted {
    std::string name, setting;  // of Forced::auxiliary, and what gives its weight
    double weight;
  };
  std::string written_;  // the column
  float label_smoothing_;
  std::vector<Weighted> auxiliary_;
};

// Cross-entropy of a classifier's labels. Labels that its vocabulary does not have are ignored.
class LabelCrossEntropy : public Objective {
 public:
  LabelCrossEntropy(const RunConfig& config, const Signature& signature);
  Loss loss(const Model& model, const Batch& batch, const LossContext& context) const override;
  void prepare(const Corpus& corpus, const Tokenizers& tokenizers) override;

 private:
  std::string label_;  // the column
  float label_smoothing_;
  std::vector<std::string> weights_as_set_;
  Tensor class_weights_;  // undefined: all weigh 1
};

// The written column of a kind, which an objective is about. Throws ConfigError if there is none.
std::string written_column(const Signature& signature, ColumnKind kind, std::string_view objective);
// The tokenizer of a column. Throws ConfigError if there is none.
const Tokenizer& tokenizer_of(const LossContext& context, const std::string& column);
// The labels of a column as numbers from 0; kIgnoredTarget for those that the vocabulary lacks.
Tensor label_numbers(const Batch& batch, const std::string& column, const LossContext& context);
double label_count(const Tensor& labels);  // those that are not ignored
// Of objectives that are not about labels: throws ConfigError where there are class weights.
void refuse_class_weights(const RunConfig& config);

// The registry's lines in files of their own.
std::unique_ptr<Objective> make_tag_objective(const RunConfig& config, const Signature& signature);
std::unique_ptr<Objective> make_squared_error(const RunConfig& config, const Signature& signature);
std::unique_ptr<Objective> make_span_corruption(const RunConfig& config,
                                                const Signature& signature);
std::unique_ptr<Objective> make_masked_tokens(const RunConfig& config, const Signature& signature);
std::unique_ptr<Objective> make_both_directions(const RunConfig& config,
                                                const Signature& signature);

}  // namespace attend
