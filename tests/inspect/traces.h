// Small models, untrained, of every kind of sequences.
#pragma once

#include "attend/inspect/attention_maps.h"
#include "attend/models/decoder_only.h"
#include "attend/models/gpt.h"
#include "attend/models/label.h"
#include "attend/models/rnn_config.h"
#include "tests/decode/text_model.h"
#include "tests/inspect/small_language_model.h"

namespace attend {

inline const std::vector<std::string>& letters() {
  static const std::vector<std::string> lines = {"abcdefgh ij", "hgfedcba ji"};
  return lines;
}

// One tokenizer for all that it reads and writes.
inline TextModel small_model(const ModelConfig& config) {
  const auto tokenizer = train_tokenizer({.kind = TokenizerKind::kCharacter}, letters());
  const size_t size = tokenizer->size();
  TextModel made{config, nullptr, {}};
  made.config.set_vocabularies({{"source", size},
                                {"target", size},
                                {"text", size},
                                {"tags", size - static_cast<size_t>(tokenizer->first_piece())},
                                {"label", size - static_cast<size_t>(tokenizer->first_piece())}});
  Rng rng(1);
  made.model = make_model(made.config, rng);
  for (const ColumnSpec& column : made.model->signature().columns) {
    made.tokenizers[column.name] = tokenizer;
  }
  return made;
}

inline TextModel small_transformer_model() {
  return small_text_model(TokenizerKind::kCharacter, letters());
}

inline void make_small(TransformerConfig& config) {
  config.width = 16;
  config.heads = 2;
  config.encoder_layers = config.decoder_layers = 2;
}

// Two layers of two heads on each side.
inline ModelConfig small_transformer_config() {
  ModelConfig config("transformer");
  make_small(config.settings.as<TransformerConfig>());
  return config;
}

inline TransformerConfig& transformer_of(ModelConfig& config) {
  return config.settings.as<TransformerConfig>();
}

inline TextModel small_weighting_model(Weighting weighting) {
  ModelConfig config = small_transformer_config();
  transformer_of(config).weighting = weighting;
  return small_model(config);
}

inline TextModel small_rnn_model(const std::string& preset) {
  ModelConfig config = ModelConfig::of_preset(preset);
  auto& rnn = config.settings.as<RnnConfig>();
  rnn.embedding = rnn.hidden = 12;
  return small_model(config);
}

// Two layers of two heads that look at the text, and two heads of attention pooling.
inline TextModel small_label_model(LabelPooling pooling) {
  ModelConfig config("label");
  auto& label = config.settings.as<LabelConfig>();
  label.pooling = pooling;
  label.heads = 2;
  make_small(label.encoder.settings.as<TransformerConfig>());
  return small_model(config);
}

// Reads source and target as one sequence, through two layers of two heads.
inline TextModel small_decoder_only_model(bool bidirectional = false) {
  GptConfig gpt;
  gpt.width = 16, gpt.layers = 2, gpt.heads = 2;
  gpt.init = 0.2f;
  gpt.dropout = 0.0f;
  gpt.max_length = 32;
  gpt.bidirectional_prefix = bidirectional;
  ModelConfig config("decoder_only");
  config.settings.as<DecoderOnlyConfig>().language_model.settings = AnyConfig(gpt);
  return small_model(config);
}

// Reads nothing but what it writes.
inline TextModel small_language_model() {
  const auto tokenizer = train_tokenizer({.kind = TokenizerKind::kCharacter}, letters());
  Rng rng(1);
  TextModel made;
  made.model = std::make_shared<SmallLanguageModel>(tokenizer->size(), rng);
  made.tokenizers["text"] = tokenizer;
  return made;
}

}  // namespace attend
