// Tasks whose records are lines of text: line n of each column belongs to line n of the others. Not
// for use outside train/.
#pragma once

#include "attend/data/line_records.h"
#include "attend/decode/line_limit.h"
#include "attend/train/task.h"

namespace attend {

class LineTask : public Task {
 public:
  void check_text(const RunConfig& config, Split split, bool all) const override;
  bool same_text(const DataConfig& a, const DataConfig& b) const override;
  TextProfile profile(const RunConfig& config) const override;
  std::vector<std::string> limits(const RunConfig& config,
                                  const Signature& signature) const override;
  std::unique_ptr<RecordSource> source(const RunConfig& config, const Signature& signature,
                                       const Tokenizers& tokenizers, Split split) const override;

 protected:
  bool by_words = false;  // whether texts are read word by word, for tags
  // Where the text of each column of each corpus is.
  virtual TextCorpora texts(const DataConfig& data, Split split) const = 0;
  // Which of its records: where some are held out, training text is that of validation as well.
  static HeldOut part_of(const DataConfig& data, Split split);
  std::unique_ptr<RecordSource> records_of(const std::vector<TextColumn>& text,
                                           const RunConfig& config, const Signature& signature,
                                           const Tokenizers& tokenizers, Split split) const;
  // The flag that gives the second column, which messages suggest where there is none.
  virtual std::string_view second_flag() const = 0;
};

// A tokenizer of some columns of the records, trained on all their texts.
std::shared_ptr<const Tokenizer> train_on_columns(const TokenizerConfig& config,
                                                  const TextCorpora& corpora, HeldOut held_out,
                                                  const std::vector<size_t>& which);

// The files of a column, and the setting that names them.
struct ColumnFiles {
  std::string_view column, setting;
  const TextFiles& files;
};
// Corpus by corpus. Without files, the second of two columns is that of the first one's files.
// Throws what check_corpora() throws.
TextCorpora corpora_of(std::initializer_list<ColumnFiles> columns);
// Throws ConfigError where a column has other than one file for each of those of the first.
void check_corpora(std::initializer_list<ColumnFiles> columns);

}  // namespace attend
