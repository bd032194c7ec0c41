// Lesson 2: the scores side by side. The same recurrent model (Luong et al., 2015) learns to write
// strings backwards, each time with another score.
#include <fmt/format.h>

#include <chrono>

#include "attend/base/parallel.h"
#include "attend/decode/alignment.h"
#include "attend/models/rnn.h"
#include "letters.h"

using namespace attend;

// The largest weight of a step, on average: how sharply the model looks.
double sharpness(const RnnSeq2Seq& model, const Task& task, size_t length) {
  const Pairs pairs(task, 0, 100, length, length);
  double sum = 0;
  for (const Tensor& weights :
       alignments(model, pairs.inputs(), pairs.targets, kSpecial, {.leave_out_ends = false})) {
    for (size_t t = 0; t < length; ++t) {
      sum += std::ranges::max(weights.slice_rows(t, 1).span()) / static_cast<double>(100 * length);
    }
  }
  return sum;
}

int main() {
  const Task task{.alphabet = 8, .answer = reversed};
  RnnConfig config;
  config.source_vocabulary = config.target_vocabulary = task.vocabulary();
  config.embedding = 16, config.hidden = 48;
  config.bidirectional = false;  // states of both sides have one width, which dot and cosine need
  config.form = RnnForm::kLuong;
  config.bridge = RnnBridge::kZero;  // all that is known of the source comes through attention
  config.longest_source = 16;
  config.embedding_dropout = config.layer_dropout = config.output_dropout = 0.0f;

  const ThreadCountScope one_thread(1);
  fmt::print("score       parameters  letters right  largest weight  ms a step\n");
  for (const Score score : all_scores()) {
    config.attention = score;
    Rng rng(1);
    RnnSeq2Seq model(config, rng);
    const auto start = std::chrono::steady_clock::now();
    constexpr uint64_t kSteps = 800;
    train(model, task, {.steps = kSteps, .longest = 6, .rate = 1e-2});
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    fmt::print("{:10}  {:10}  {:11.0f} %  {:14.1f}  {:>9}\n", name_of(score),
               parameter_count(model), letters_right(model, task, 6), sharpness(model, task, 6),
               fmt::format("~{:.1f}", time.count() / kSteps));
  }
}

// Prints, numbers within 5 %:
// score       parameters  letters right  largest weight  ms a step
// dot              24507           98 %             0.7       ~1.1
// scaled_dot       24507          100 %             0.4       ~1.0
// general          26811           99 %             0.8       ~1.1
// additive         29163           99 %             0.6       ~1.4
// concat           29163           99 %             0.6       ~1.3
// cosine           24507           98 %             0.2       ~1.1
// distance         24507           99 %             0.8       ~1.5
// location         25275           99 %             0.6       ~1.3
