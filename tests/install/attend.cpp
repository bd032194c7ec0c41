// What somebody else writes with attend::attend.
#include "attend/attend.h"

#include <cstdio>

int main() {
  const std::vector<std::string> lines = {"ein Haus", "eine Maus"};
  const auto tokenizer =
      attend::train_tokenizer({.kind = attend::TokenizerKind::kCharacter}, lines);
  std::puts(tokenizer->decode(tokenizer->encode("eine Haus")).c_str());

  attend::ModelConfig config = attend::ModelConfig::of_preset("tiny");
  config.set_vocabularies({{"source", tokenizer->size()}, {"target", tokenizer->size()}});
  attend::Rng rng(1);
  const auto model = attend::make_model(config, rng);
  std::puts(model->generator() != nullptr ? "writes" : "does not write");
}
