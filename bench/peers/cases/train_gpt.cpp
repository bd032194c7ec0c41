// A training step of a decoder-only Transformer.
#include "attend/models/gpt.h"
#include "bench/peers/training.h"

namespace attend::peers {
namespace {

Case train_gpt_case(const Inputs& in) {
  const auto number = [&in](const char* name) { return static_cast<size_t>(in.number(name)); };
  GptConfig c;
  c.text_vocabulary = number("vocabulary");
  c.width = number("width");
  c.heads = number("heads");
  c.layers = number("layers");
  c.max_length = number("context");
  c.bias = false;
  c.dropout = c.attention_dropout = in.number("dropout");
  Rng rng(1);
  return training_case(Gpt(c, rng), in);
}

const Kind train_gpt_kind("train_gpt", train_gpt_case);

}  // namespace
}  // namespace attend::peers
