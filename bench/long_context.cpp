// A small gpt over long texts, with full attention and with a window: one step of training, a
// prompt at once and tokens after it, at several lengths. Each row has a process of its own, so
// that its peak of memory is its own; bytes a token that stay the same say that memory is linear in
// length.
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/parallel.h"
#include "attend/base/storage.h"
#include "attend/io/config.h"
#include "attend/models/gpt.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"

namespace attend::bench {
namespace {

struct Options {
  std::vector<size_t> lengths = {4096, 16384, 65536};
  size_t window = 512, tokens = 64, threads = 2;
  bool train = true, generate = true, full = true, windowed = true;
  GptConfig model = small();

  static GptConfig small() {
    GptConfig c;
    c.text_vocabulary = 256;
    c.width = 128, c.layers = 4, c.heads = 4;
    c.positions = PositionScheme::kRotary;
    c.bias = false;
    c.dropout = 0.0f;
    return c;
  }
  template <typename V>
  void fields(V& v) {
    v("lengths", lengths, "tokens of a text, with commas between them", limits::kLength);
    v("window", window, "earlier tokens that a token sees where attention is windowed",
      limits::kLength);
    v("tokens", tokens, "written after a prompt", limits::kLength);
    v("threads", threads, "that compute", Range{1, 1024});
    v("train", train, "time steps of training: forward and backward of one text");
    v("generate", generate, "time a prompt, read at once, and tokens written after it");
    v("full", full, "time attention to all earlier tokens");
    v("windowed", windowed, "time attention within the window");
    v("model", model, "of all rows");
  }
};

// What a process reports of one row, or of a prompt and what is written after it.
struct Measured {
  double seconds = 0, tokens = 0;  // tokens that were read or written in that time
  double bytes = 0;                // of tensors at their peak, above those of the model
};
struct Result {
  Measured first, second;
  double process_bytes = 0;  // at its peak, above the process with its model
};

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The fastest of up to three, but of one where that takes long.
double fastest(const auto& work) {
  double best = seconds_of(work);
  for (double spent = best, i = 0; i < 2 && spent < 10; ++i) {
    const double again = seconds_of(work);
    spent += again;
    best = std::min(best, again);
  }
  return best;
}

// "VmHWM" or "VmRSS" of this process, in bytes.
double resident(const char* name) {
  const std::string format = std::string(name) + ": %lf kB";
  double found = 0;
  if (FILE* file = std::fopen("/proc/self/status", "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, file) && std::sscanf(line, format.c_str(), &found) != 1) {
    }
    std::fclose(file);
  }
  return found * 1024;
}

std::vector<int32_t> random_text(size_t length, size_t vocabulary) {
  std::vector<int32_t> ids(length);
  for (size_t i = 0; i < length; ++i) {
    ids[i] = static_cast<int32_t>(RandomStream(1, 2).below(i, vocabulary));
  }
  return ids;
}

void train(Gpt& model, size_t length) {
  const std::vector<int32_t> ids = random_text(length + 1, model.vocabulary());
  const Tokens text = one_sequence(std::span(ids).first(length));
  const Tensor next = one_sequence(std::span(ids).last(length)).ids;
  const TrainingScope training(Rng(1));
  backward(cross_entropy(model.logits(Batch(1), text), next));
}

Result measure_training(Gpt& model, size_t length) {
  train(model, 256);  // threads start, and parameters get the memory of their gradients
  release_unused_memory();
  reset_peak_bytes();
  const double idle = resident("VmRSS");
  const auto tensors = static_cast<double>(pool_statistics().bytes_in_use);
  Result result;
  result.first.seconds = fastest([&] { train(model, length); });
  result.first.tokens = static_cast<double>(length);
  result.first.bytes = static_cast<double>(pool_statistics().peak_bytes_in_use) - tensors;
  result.process_bytes = resident("VmHWM") - idle;
  return result;
}

Result measure_generation(Gpt& model, size_t length, size_t tokens) {
  const NoGrad no_grad;
  model.pack();
  const std::vector<int32_t> ids = random_text(length, model.vocabulary());
  const auto beginning = std::span(ids).first(std::min<size_t>(length, 256));
  model.step(*model.start(Batch(1)), one_sequence(beginning), StepRows::kLast);
  release_unused_memory();
  reset_peak_bytes();
  const double idle = resident("VmRSS");
  const auto tensors = static_cast<double>(pool_statistics().bytes_in_use);
  std::unique_ptr<Generator::State> state;
  Tensor logits;
  Result result;
  result.first.seconds = fastest([&] {
    state = nullptr;
    state = model.start(Batch(1));
    logits = model.step(*state, one_sequence(ids), StepRows::kLast);
  });
  result.first.tokens = static_cast<double>(length);
  result.first.bytes = static_cast<double>(pool_statistics().peak_bytes_in_use) - tensors;
  const auto write = [&] {
    const auto row = logits.span();
    const auto likeliest = static_cast<int32_t>(std::ranges::max_element(row) - row.begin());
    logits = model.step(*state, std::span(&likeliest, 1));
  };
  write();  // a window lets go of the prompt
  reset_peak_bytes();
  result.second.seconds = seconds_of([&] {
    for (size_t i = 0; i < tokens; ++i) write();
  });
  result.second.tokens = static_cast<double>(tokens);
  result.second.bytes = static_cast<double>(pool_statistics().peak_bytes_in_use) - tensors;
  result.process_bytes = resident("VmHWM") - idle;
  return result;
}

// In a process of its own; this one has no threads yet.
Result measure(const Options& options, size_t window, bool training, size_t length) {
  int ends[2];
  if (pipe(ends) != 0) throw IoError("long_context: no pipe to a process");
  const pid_t child = fork();
  if (child < 0) throw IoError("long_context: no process for a row");
  if (child == 0) {
    set_thread_count(static_cast<int>(options.threads));
    GptConfig config = options.model;
    config.window = window;
    config.max_length = std::max(config.max_length, length + options.tokens);
    Rng rng(1);
    Gpt model(config, rng);
    const Result result = training ? measure_training(model, length)
                                   : measure_generation(model, length, options.tokens);
    _exit(write(ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
  }
  close(ends[1]);
  Result result;
  const bool whole = read(ends[0], &result, sizeof result) == sizeof result;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!whole || status != 0) {
    throw IoError("long_context: the process of a row with {} tokens failed; is there memory?",
                  length);
  }
  return result;
}

void print_row(std::string_view work, size_t window, size_t length, const Measured& m,
               double process_bytes) {
  const std::string attention = window == 0 ? "full" : fmt::format("window {}", window);
  fmt::print("{:10}{:14}{:>9}{:>10.3f}{:>12.0f}{:>10.1f}{:>12.2f}", work, attention, length,
             m.seconds, m.tokens / m.seconds, m.bytes / 1e6, m.bytes / 1e3 / double(length));
  fmt::print("{:>12}\n", process_bytes > 0 ? fmt::format("{:.1f}", process_bytes / 1e6) : "");
  std::fflush(stdout);
}

void run(const Options& options) {
  options.model.check();
  fmt::print("{:10}{:14}{:>9}{:>10}{:>12}{:>10}{:>12}{:>12}\n", "work", "attention", "tokens",
             "seconds", "tokens/s", "MB", "KB a token", "process MB");
  std::fflush(stdout);
  for (const size_t window : {size_t{0}, options.window}) {
    if (!(window == 0 ? options.full : options.windowed)) continue;
    for (const size_t length : options.lengths) {
      if (options.train) {
        const Result result = measure(options, window, true, length);
        print_row("train", window, length, result.first, result.process_bytes);
      }
      if (!options.generate) continue;
      const Result result = measure(options, window, false, length);
      print_row("prompt", window, length, result.first, result.process_bytes);
      print_row("write", window, length, result.second, 0);
    }
  }
}

void print_help() {
  fmt::print(
      "usage: long_context [--OPTION VALUE]...\n"
      "Times a small gpt over long texts, and takes its peak of memory: `MB` that of tensors, and\n"
      "`process MB` that of the process, both above the model alone.\n\n");
  for (const Flag& flag : flags_of<Options>()) {
    fmt::print("  --{:28} {} ({})\n", flag.path, flag.help, flag.default_text);
  }
}

}  // namespace
}  // namespace attend::bench

int main(int count, char** arguments) {
  attend::bench::Options options;
  try {
    for (int i = 1; i < count; i += 2) {
      const std::string_view name = arguments[i];
      if (name == "--help") return attend::bench::print_help(), 0;
      if (!name.starts_with("--") || i + 1 == count) {
        throw attend::ConfigError("'{}' is not an option with a value; see --help", name);
      }
      attend::set_flag(options, name.substr(2), arguments[i + 1]);
    }
    attend::bench::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "long_context: {}\n", error.what());
    return 1;
  }
}
