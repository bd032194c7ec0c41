// Tasks that give each text, or each pair of texts, an answer: a label, a number, a tag for each
// word. Not for use outside train/.
#pragma once

#include "attend/train/line_task.h"

namespace attend {

class AnswerTask : public LineTask {
 public:
  bool has_text(const DataConfig& data, Split split) const override;
  void check(const RunConfig& config, const Signature& signature) const override;
  Tokenizers train_tokenizers(const RunConfig& config) const override;

 protected:
  // The answers of a split, "--label FILE" for messages, and settings in DataConfig.
  struct Answers {
    std::string_view column, flag, setting, valid_setting;
    TextFiles DataConfig::*training;
    TextFiles DataConfig::*validation;
  };
  AnswerTask(bool pair, Answers answers);

  bool has_pair() const { return columns.size() == 3; }
  TextCorpora texts(const DataConfig& data, Split split) const override;
  // Throws ConfigError where columns have other numbers of files, or there are other weights.
  void check_files(const DataConfig& data) const;
  std::string_view second_flag() const override { return answers_.flag; }
  // How answers become ids; none for numbers.
  virtual std::optional<TokenizerConfig> answer_tokens(const VocabularyConfig& config) const = 0;

  Answers answers_;
};

// Judges by a function of the corpus and the model's answers, batch by batch.
class AnswerJudge : public Judge {
 public:
  AnswerJudge(const RunConfig& config, const Corpus& corpus);

  double operator()(const TextModel& model, const std::atomic<bool>& stop) const override;
  void add_to(Hash& hash) const override;

 protected:
  // One measurement: sees the batches of validation in order, as training_batch() makes them.
  class Measurement {
   public:
    virtual ~Measurement() = default;
    virtual void add(const TextModel& model, const Batch& batch) = 0;
    virtual double value() const = 0;
  };
  virtual std::unique_ptr<Measurement> measurement() const = 0;

 private:
  const RunConfig& config_;
  const Corpus& corpus_;
  size_t count_;
};

}  // namespace attend
