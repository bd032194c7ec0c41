// Trains a model on two text files, and translates with it: here, words to the same backwards.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "attend/decode/translator.h"
#include "attend/train/run.h"

using namespace attend;

int main() {
  const auto folder = std::filesystem::temp_directory_path() / "attend-example-translate";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream forwards(folder / "forwards.txt"), backwards(folder / "backwards.txt");
  const RandomStream random(1, 0);
  for (uint64_t i = 0; i < 2000; ++i) {
    std::string word;
    for (uint64_t j = 0; j < 3 + i % 3; ++j) word += "aeinst"[random.below(8 * i + j, 6)];
    forwards << word << "\n";
    backwards << std::string(word.rbegin(), word.rend()) << "\n";
  }
  forwards.close();
  backwards.close();

  RunConfig config;
  config.model = ModelConfig::of_preset("bahdanau");
  config.model.rnn.embedding = 16;
  config.model.rnn.hidden = 48;
  config.data.source = folder / "forwards.txt";
  config.data.target = folder / "backwards.txt";
  config.vocabulary.tokenizer.kind = TokenizerKind::kCharacter;
  config.batch.tokens = 800;
  config.optimizer.rate = 5e-3;
  config.schedule.warmup = 50;
  config.training.steps = 500;
  config.out = folder / "model";
  TrainingObserver silent;
  run_training(config, silent, false);

  const Translator translate({TextModel::load(config.out)}, {});
  const std::vector<std::string> words = {"tea", "saint", "nest"};
  for (const Translation& t : translate(words)) fmt::print("{}\n", t.texts.front());
  std::filesystem::remove_all(folder);
}

// Prints:
// aet
// tnias
// tsen
