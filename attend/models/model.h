// Every encoder-decoder there is, by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "attend/models/label.h"

namespace attend {

enum class ModelKind { kTransformer, kRnn, kConv, kLabel };
ModelKind model_kind_from_name(std::string_view name);  // throws ConfigError with the choices
std::string_view name_of(ModelKind kind);

struct ModelConfig {
  std::string preset;  // what the settings started from
  ModelKind kind = ModelKind::kTransformer;
  TransformerConfig transformer;
  RnnConfig rnn;
  ConvConfig conv;
  LabelConfig label;

  template <typename V>
  void fields(V& v) {
    v("preset", preset, "a model from the papers to start from");
    v("kind", kind, "what is trained");
    v("transformer", transformer, "settings of the Transformer");
    v("rnn", rnn, "settings of the recurrent encoder-decoder");
    v("conv", conv, "settings of the convolutional encoder-decoder");
    v("label", label, "settings of what gives sequences labels");
  }

  void set_vocabularies(size_t source, size_t target);

  // "small", "bahdanau" ...; ConfigError with the choices.
  static ModelConfig of_preset(std::string_view name);
};
std::string preset_names();  // "tiny, small, base ..."

std::unique_ptr<Seq2Seq> make_model(const ModelConfig& config, Rng& rng);

}  // namespace attend
