// The settings of recurrent encoder-decoders. The defaults follow Bahdanau et al. (2015).
#pragma once

#include <optional>
#include <string_view>

#include "attend/attention/scores.h"
#include "attend/base/limits.h"
#include "attend/ops/recurrent.h"

namespace attend {

// When the decoder attends, and how the context is used.
enum class RnnForm {
  kBahdanau,  // before the cell, from the last state; the context enters the cell and a deep output
              // layer
  kLuong,     // after the cell, from the new state; tanh(W [context; state]) is the output layer's
              // input
};
std::string_view name_of(RnnForm form);

// Which keys attention may see (Luong et al., 2015).
enum class RnnReach {
  kGlobal,
  kLocalM,  // around the step's own position
  kLocalP,  // around a predicted position
};
std::string_view name_of(RnnReach reach);

// The decoder's initial state.
enum class RnnBridge {
  kTanh,  // each layer: tanh of a projection of the encoder's last backward state, or forward state
          // if that is all
  kStates,  // the encoder's final states, layer by layer
  kZero,    // zeros: the source is seen through the context alone
};
std::string_view name_of(RnnBridge bridge);

// The layer between [state; embedding; context] and the output layer, in Bahdanau's form.
enum class DeepOutput { kMaxout, kTanh };
std::string_view name_of(DeepOutput output);

// Default sizes suit a CPU; those of the papers are 620, 1000 and 500 (bahdanau), and 1000 (luong).
struct RnnConfig {
  size_t source_vocabulary = 0, target_vocabulary = 0;
  Cell cell = Cell::kGru;
  size_t embedding = 256, hidden = 512;
  size_t encoder_layers = 1, decoder_layers = 1;
  bool bidirectional = true;
  std::optional<Score> attention = Score::kAdditive;  // none: one fixed vector (Cho et al., 2014)
  RnnForm form = RnnForm::kBahdanau;
  RnnReach reach = RnnReach::kGlobal;
  size_t window = 10;           // keys on either side, where attention is local
  size_t attention_width = 0;   // of additive and concat; 0: hidden
  size_t longest_source = 256;  // of location, which scores positions
  bool coverage = false;
  bool input_feeding = false;
  RnnBridge bridge = RnnBridge::kTanh;
  DeepOutput deep_output = DeepOutput::kMaxout;
  // Of what the output layer sees; 0: embedding, or hidden in Luong's form.
  size_t output_width = 0;
  bool tied = false;  // the decoder's embedding is the output layer
  float embedding_dropout = 0.1f;
  float layer_dropout = 0.1f;      // between layers
  float output_dropout = 0.1f;     // of what the output layer sees
  float recurrent_dropout = 0.0f;  // of h, one mask for all steps (Gal and Ghahramani, 2016)

  bool operator==(const RnnConfig&) const = default;

  static RnnConfig luong_preset();    // attention of Luong et al. (2015)
  static RnnConfig vanilla_preset();  // one fixed vector
  void check() const;                 // throws ConfigError

  // Whether it has attention, and of Luong's form.
  bool attends() const { return attention.has_value(); }
  bool luong() const { return form == RnnForm::kLuong; }
  // Whether a step of the decoder depends on the attention of the step before.
  bool walks() const { return coverage || (attends() && (!luong() || input_feeding)); }
  // Of a context vector, and of the output layer's input.
  size_t context_width() const { return (bidirectional ? 2 : 1) * hidden; }
  size_t last_width() const {
    return output_width > 0 ? output_width : luong() ? hidden : embedding;
  }
  // Width of what enters the decoder's first layer beside the embedding.
  size_t fed_width() const {
    return luong() ? (input_feeding ? last_width() : 0) : context_width();
  }

  template <typename V>
  void fields(V& v) {
    v("source_vocabulary", source_vocabulary, "tokens of the source; set from its tokenizer",
      limits::kVocabulary);
    v("target_vocabulary", target_vocabulary, "tokens of the target; set from its tokenizer",
      limits::kVocabulary);
    v("cell", cell, "the recurrent unit");
    v("embedding", embedding, "width of embeddings", limits::kWidth);
    v("hidden", hidden, "width of states, in each direction", limits::kWidth);
    v("encoder_layers", encoder_layers, "layers of the encoder", limits::kLayers);
    v("decoder_layers", decoder_layers, "layers of the decoder", limits::kLayers);
    v("bidirectional", bidirectional, "the encoder reads both ways");
    v("attention", attention, "how states are compared; none: one fixed vector");
    v("form", form, "attention before the cell (bahdanau) or after it (luong)");
    v("reach", reach, "where attention may look");
    v("window", window, "keys on either side, where attention is local", limits::kLength);
    v("attention_width", attention_width, "of additive and concat; 0: hidden",
      limits::kWidth.or_0());
    v("longest_source", longest_source, "tokens of a source at most, for the score location",
      limits::kLength);
    v("coverage", coverage, "attention knows where it has looked");
    v("input_feeding", input_feeding, "the attentional vector goes into the next step");
    v("bridge", bridge, "what the decoder starts from");
    v("deep_output", deep_output, "layer before the output, in Bahdanau's form");
    v("output_width", output_width, "of that layer; 0: embedding, or hidden in Luong's form",
      limits::kWidth.or_0());
    v("tied", tied, "the decoder's embedding is the output layer");
    v("embedding_dropout", embedding_dropout, "of embeddings");
    v("layer_dropout", layer_dropout, "between layers");
    v("output_dropout", output_dropout, "before the output layer");
    v("recurrent_dropout", recurrent_dropout, "of states, one mask for all steps");
  }
};

}  // namespace attend
