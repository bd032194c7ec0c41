// A training step of the Transformer.
#include "attend/models/transformer.h"
#include "bench/peers/training.h"

namespace attend::peers {
namespace {

Case train_transformer_case(const Inputs& in) {
  const auto number = [&in](const char* name) { return static_cast<size_t>(in.number(name)); };
  TransformerConfig c;
  c.source_vocabulary = c.target_vocabulary = number("vocabulary");
  c.width = number("width");
  c.heads = number("heads");
  c.feed_forward = number("feed_forward");
  c.encoder_layers = c.decoder_layers = number("layers");
  c.dropout = c.attention_dropout = c.activation_dropout = in.number("dropout");
  Rng rng(1);
  return training_case(Transformer(c, rng), in);
}

const Kind train_transformer_kind("train_transformer", train_transformer_case);

}  // namespace
}  // namespace attend::peers
