// Tasks whose text is documents: files, lines or paragraphs, cut into records of tokens. Not for
// use outside train/.
#pragma once

#include "attend/data/documents.h"
#include "attend/train/task.h"

namespace attend {

class DocumentTask : public Task {
 public:
  bool has_text(const DataConfig& data, Split split) const override;
  void check(const RunConfig& config, const Signature& signature) const override;
  void check_text(const RunConfig& config, Split split, bool all) const override;
  bool same_text(const DataConfig& a, const DataConfig& b) const override;
  TextProfile profile(const RunConfig& config) const override;
  std::unique_ptr<Judge> judge(const RunConfig& config, const Corpus& corpus,
                               const Signature& signature,
                               const Tokenizers& tokenizers) const override;

 protected:
  static DocumentFiles files(const DataConfig& data, Split split);
  // Trained on the text that is not held out.
  static std::shared_ptr<const Tokenizer> tokenizer_of_documents(const RunConfig& config,
                                                                 const TokenizerConfig& tokenizer);
};

}  // namespace attend
