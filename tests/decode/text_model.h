// Small models that read and write text, untrained.
#pragma once

#include "attend/models/text_model.h"
#include "attend/models/transformer.h"
#include "tests/decode/toy.h"

namespace attend {

inline TextModel small_text_model(TokenizerKind kind, const std::vector<std::string>& lines) {
  const auto tokenizer = train_tokenizer({.kind = kind, .vocabulary = 40}, lines);
  TextModel made;
  TransformerConfig& config = made.config.settings.as<TransformerConfig>();
  config.width = 16, config.heads = 2;
  config.encoder_layers = config.decoder_layers = 2;
  made.config.set_vocabularies({{"source", tokenizer->size()}, {"target", tokenizer->size()}});
  made.tokenizers = {{"source", tokenizer}, {"target", tokenizer}};
  Rng rng(1);
  made.model = make_model(made.config, rng);
  return made;
}

// Writes a column "text" and reads no other.
class ToyLanguageModel : public Model {
 public:
  explicit ToyLanguageModel(size_t vocabulary, std::optional<size_t> positions = {})
      : positions_(positions), toy_(vocabulary, 1) {}
  void visit(Visitor& /*v*/) override {}
  Signature signature() const override {
    return {{{.name = "text", .written = true, .positions = positions_}}, {}};
  }
  const Generator* generator() const override { return &toy_; }
  const ToyGenerator& toy() const { return toy_; }

 private:
  std::optional<size_t> positions_;
  ToyGenerator toy_;
};

inline TextModel toy_language_model(std::shared_ptr<const Tokenizer> tokenizer,
                                    std::optional<size_t> positions = {}) {
  TextModel made;
  made.model = std::make_shared<ToyLanguageModel>(tokenizer->size(), positions);
  made.tokenizers = {{"text", std::move(tokenizer)}};
  return made;
}

inline TextModel toy_language_model(std::optional<size_t> positions = {}) {
  const std::vector<std::string> lines = {"abcde"};
  return toy_language_model(
      train_tokenizer({.kind = TokenizerKind::kCharacter, .vocabulary = 40}, lines), positions);
}

}  // namespace attend
