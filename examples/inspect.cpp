// Trains a model to write words backwards, and draws its attention and saliency.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "attend/inspect/attention_pictures.h"
#include "attend/inspect/draw.h"
#include "attend/models/rnn_config.h"
#include "attend/train/run.h"

using namespace attend;

int main() {
  const auto folder = std::filesystem::temp_directory_path() / "attend-example-inspect";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream pairs(folder / "pairs.tsv");
  const RandomStream random(1, 0);
  for (uint64_t i = 0; i < 2000; ++i) {
    std::string word;
    for (uint64_t j = 0; j < 3 + i % 3; ++j) word += "aeinst"[random.below(8 * i + j, 6)];
    pairs << word << "\t" << std::string(word.rbegin(), word.rend()) << "\n";
  }
  pairs.close();

  RunConfig config;
  config.model = ModelConfig::of_preset("bahdanau");
  auto& settings = config.model.settings.as<RnnConfig>();
  settings.embedding = 16;
  settings.hidden = 48;
  config.data.source = folder / "pairs.tsv";
  config.vocabulary.tokenizer.kind = TokenizerKind::kCharacter;
  config.batch.tokens = 800;
  config.optimizer.rate = 5e-3;
  config.schedule.warmup = 50;
  config.training.steps = 500;
  config.out = folder / "model";
  TrainingObserver silent;
  run_training(config, silent, false);

  const TextModel model = TextModel::load(config.out);
  const Trace trace = written_trace(model, "saint");
  HeatMap attention = attention_picture(model, trace, trace.layers.front().name);
  attention.most = 1.0f;  // black is all of the weight
  const HeatMap saliency = saliency_picture(model, trace);
  fmt::print("{}", draw_maps({&attention, 1}, PictureFormat::kTerminal));
  fmt::print("{}", draw_maps({&attention, 1}, PictureFormat::kMoses));
  for (size_t t = 0; t + 1 < saliency.rows.size(); ++t) {  // what counted most for each letter
    size_t most = 0;
    for (size_t s = 0; s < saliency.columns.size(); ++s) {
      if (saliency.at(t, s) > saliency.at(t, most)) most = s;
    }
    fmt::print("{} from {}\n", saliency.rows[t], saliency.columns[most]);
  }
  std::ofstream(folder / "saint.html") << draw_maps({&attention, 1}, PictureFormat::kHtml);
  std::filesystem::remove_all(folder);
}

// Prints:
// decoder.attention
// target ↓ source →
//       s    a    i    n    t    </s>
//    t                 ░░░░░▓▓▓▓▓░░░░░
//    n            ░░░░░█████
//    i            █████
//    a       █████
//    s  █████
// </s>  ░░░░░               ░░░░░▓▓▓▓▓
// 4-0 3-1 2-2 1-3 0-4
// t from t
// n from n
// i from i
// a from a
// s from s
