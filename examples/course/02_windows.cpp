// Lesson 2: attention within a window (Luong et al., 2015). local-m looks around the step's own
// place, local-p around a place that it predicts. Strings are copied, and written backwards.
#include <fmt/format.h>

#include "attend/models/rnn.h"
#include "letters.h"

using namespace attend;

int main() {
  fmt::print("letters right, in percent, of strings of 10 letters\n");
  fmt::print("reach    window  copied  reversed\n");
  for (const RnnReach reach : {RnnReach::kGlobal, RnnReach::kLocalM, RnnReach::kLocalP}) {
    fmt::print("{:7}  {:>6}", name_of(reach), reach == RnnReach::kGlobal ? "all" : "5");
    for (const auto answer : {copied, reversed}) {
      const Task task{.alphabet = 12, .answer = answer};
      RnnConfig config;
      config.source_vocabulary = config.target_vocabulary = task.vocabulary();
      config.embedding = 16, config.hidden = 32;
      config.attention = Score::kGeneral;
      config.form = RnnForm::kLuong;
      config.bridge = RnnBridge::kZero;
      config.reach = reach, config.window = 2;
      config.embedding_dropout = config.layer_dropout = config.output_dropout = 0.0f;
      Rng rng(1);
      RnnSeq2Seq model(config, rng);
      train(model, task, {.steps = 1000, .longest = 10, .rate = 1e-2});
      fmt::print("  {:6.0f}", letters_right(model, task, 10));
    }
    fmt::print("\n");
  }
}

// Prints, numbers within 10 %:
// letters right, in percent, of strings of 10 letters
// reach    window  copied  reversed
// global      all     100     100
// local-m       5     100      22
// local-p       5     100     100
