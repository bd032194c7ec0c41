// The weights of one model as the first weights of another: of the same kind, or of another one
// that is built around the same encoder.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attend/io/safetensors.h"
#include "attend/models/text_model.h"

namespace attend {

// What is done where both models read or write the same column in other tokens.
enum class VocabularyTransfer {
  kSame,   // refused
  kMatch,  // the vectors of tokens that both have are taken, by the text of the token
  kNew,    // none of the vectors are taken
};
std::string_view name_of(VocabularyTransfer transfer);

// A model to start from: its description, and its weights, which are read when they are needed.
class BaseModel {
 public:
  // From a model directory, of which nothing but the model is needed, or from one of its
  // checkpoints. Throws IoError and FormatError that name what is missing or wrong.
  explicit BaseModel(const std::filesystem::path& directory);

  // As it was given, and the model directory that it is, or is in.
  const std::filesystem::path& directory() const { return directory_; }
  const std::filesystem::path& root() const { return root_; }
  const TextModel& model() const { return model_; }
  Tensor read(const NamedTensor& tensor) const;  // the values of one of the model's tensors

 private:
  std::filesystem::path directory_, root_;
  TextModel model_;  // without memory, unless it is an adapter with its base
  std::unique_ptr<SafetensorsFile> weights_;  // none: in memory
  std::string prefix_;                        // of the names in the file
};

// What became of each tensor.
struct TransferReport {
  struct Part {
    std::string name;
    size_t rows = 0, of = 0;  // of a table of tokens or labels
  };
  std::string from, kind;             // the directory, and the kind of model that it has
  std::vector<std::string> taken;     // as the new model names them
  std::vector<Part> taken_in_part;    // the vectors of some tokens or labels
  std::vector<std::string> fresh;     // new weights
  std::vector<std::string> left;      // of the base, as it names them
  std::vector<std::string> reshaped;  // of `fresh`: those that the base has in another shape

  // For a person: two or three lines with counts by part.
  std::vector<std::string> lines() const;
};

struct TransferOptions {
  VocabularyTransfer vocabulary = VocabularyTransfer::kSame;
  size_t reinitialize = 0;  // layers at the top of the encoder that keep their new weights
};

// The column of a base that is what `column` of another model is: that of the same name, or else,
// for the first text that a model reads, the first text of the base. Null if there is none.
const ColumnSpec* column_of_base(const Signature& base, const Signature& own,
                                 const ColumnSpec& column);

// Throws ConfigError, which names the remedies, where kSame is asked for and a text has another
// vocabulary than the base's.
void check_same_vocabularies(const BaseModel& base, const Tokenizers& tokenizers,
                             const Signature& signature);

// Copies what fits into `to`. A tensor is found by its place in the encoder, wherever the encoder
// is in either model, and otherwise by its name; it fits if it has the same shape. Labels are
// matched by their text. Of a model without memory (ShapesOnly) it reports the same and copies
// nothing. Throws ConfigError where nothing fits.
TransferReport transfer_weights(const BaseModel& base, const TextModel& to,
                                const TransferOptions& options = {});

}  // namespace attend
