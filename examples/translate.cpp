// Trains a model on text, and translates with it: here, words to the same backwards.
#include <fmt/format.h>

#include <fstream>

#include "attend/decode/translator.h"
#include "attend/io/config.h"
#include "attend/train/run.h"

using namespace attend;

int main() {
  const TemporaryDirectory folder;
  const RandomStream random(1, 0);
  std::ofstream pairs(folder.path() / "pairs.tsv");
  for (uint64_t i = 0; i < 2000; ++i) {
    std::string word;
    for (uint64_t j = 0; j < 3 + i % 3; ++j) word += "aeinst"[random.below(8 * i + j, 6)];
    pairs << word << '\t' << std::string(word.rbegin(), word.rend()) << '\n';
  }
  pairs.close();

  RunConfig config;
  config.out = folder.path() / "model";
  config.model = ModelConfig::of_preset("bahdanau");
  set_flag(config.model, "rnn.embedding", "16");
  set_flag(config.model, "rnn.hidden", "48");
  config.data.source = folder.path() / "pairs.tsv";
  config.vocabulary.tokenizer.kind = TokenizerKind::kCharacter;
  config.batch.tokens = 800;
  config.optimizer.rate = 5e-3;
  config.training.steps = 500;
  TrainingObserver silent;
  run_training(config, silent, false);

  const Translator translate({TextModel::load(config.out)}, {});
  const std::vector<std::string> words = {"tea", "saint", "nest"};
  for (const Translation& t : translate(words)) fmt::print("{}\n", t.texts.front());
}

// Prints:
// aet
// tnias
// tsen
