#include "cli/bench_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "attend/base/clock.h"
#include "attend/base/counted.h"
#include "attend/base/error.h"
#include "attend/base/parallel.h"
#include "attend/base/rng.h"
#include "attend/data/corpus.h"
#include "attend/decode/loaded_model.h"
#include "attend/kernels/machine.h"
#include "attend/nn/visit.h"
#include "attend/train/training_speed.h"
#include "cli/adapters.h"
#include "cli/commands.h"
#include "cli/terminal.h"

namespace attend::cli {
namespace {

constexpr size_t kLines = 64, kMadeUpTokens = 24, kWritten = 64, kPrompt = 128;

// Texts to measure with, and where they are from.
struct BenchTexts {
  std::vector<std::string> lines;
  size_t tokens = 0;  // of all of them
  std::string from;
};

// Records from all over a corpus that training left; none where it left none that fits.
std::vector<std::string> texts_of_corpus(const std::filesystem::path& file, std::string_view column,
                                         const Tokenizer& tokenizer) {
  std::vector<std::string> texts;
  if (!std::filesystem::exists(file)) return texts;
  try {
    const Corpus corpus(file);
    const size_t number = corpus.column(column), count = std::min(kLines, corpus.size());
    if (corpus.columns()[number].vocabulary != tokenizer.size()) return texts;
    for (size_t i = 0; i < count; ++i) {
      std::vector<int32_t> ids;
      corpus.append(i * corpus.size() / count, number, ids);
      texts.push_back(tokenizer.decode(ids));
    }
  } catch (const Error&) {  // made-up text will do
    texts.clear();
  }
  return texts;
}

std::vector<std::string> made_up_texts(const Tokenizer& tokenizer) {
  std::vector<std::string> texts;
  const auto first = static_cast<size_t>(tokenizer.first_piece());
  if (tokenizer.size() <= first) throw ConfigError("bench: the vocabulary has no tokens");
  for (size_t line = 0; line < kLines; ++line) {
    const RandomStream random(1, line);
    std::vector<int32_t> ids;
    for (size_t i = 0; i < kMadeUpTokens; ++i) {
      ids.push_back(static_cast<int32_t>(first + random.below(i, tokenizer.size() - first)));
    }
    texts.push_back(tokenizer.decode(ids));
  }
  return texts;
}

BenchTexts texts_for(const ModelDirectory& directory, const TextModel& model,
                     const ColumnSpec& column) {
  const Tokenizer& tokenizer = model.tokenizer(column.name);
  BenchTexts texts;
  for (const char* split : {"valid", "train"}) {
    texts.lines =
        texts_of_corpus(directory.root / fmt::format("{}.corpus", split), column.name, tokenizer);
    const bool valid = std::string_view(split) == "valid";
    texts.from = valid ? "of its validation text" : "of its training text";
    if (!texts.lines.empty()) break;
  }
  if (texts.lines.empty()) {
    texts.lines = made_up_texts(tokenizer);
    texts.from = "of random tokens";
  }
  for (const std::string& line : texts.lines) texts.tokens += tokenizer.encode(line).size();
  return texts;
}

struct ModelResult {
  std::string name, each;  // "translate, ...", "a line"
  double tokens_per_second, seconds;
};

double median_seconds(double budget, const std::function<void()>& run) {
  const std::vector<double> all = bench_times(budget, run);
  return all[all.size() / 2];
}

// Lines through a search, one at a time or all at once; tokens are those that are written.
ModelResult translating(const TextModel& model, const std::vector<std::string>& lines, size_t beam,
                        double budget) {
  TranslatorConfig config;
  config.search.beam = beam;
  const Translator translate({model}, config);
  double tokens = 0;
  const double seconds = median_seconds(budget, [&] {
    tokens = 0;
    for (const Translation& line : translate(lines)) {
      tokens += static_cast<double>(line.hypotheses.front().tokens.size());
    }
  });
  const auto count = static_cast<double>(lines.size());
  return {fmt::format("translate, {} at once, beam {}", counted(lines.size(), "line"), beam),
          "a line", tokens / seconds, seconds / count};
}

// Texts of a fixed length after short prompts.
ModelResult writing(const TextModel& model, size_t texts, double budget) {
  GenerationConfig config;
  config.max_tokens = config.min_tokens = kWritten;
  const TextGenerator generate(model, config);
  const std::vector<std::vector<int32_t>> prompts(texts);
  double tokens = 0;
  const double seconds = median_seconds(budget, [&] {
    tokens = 0;
    for (const Generation& of : generate(prompts)) {
      tokens += static_cast<double>(of.texts.front().tokens.size());
    }
  });
  return {fmt::format("write, {} at once", counted(texts, "text")), "a token", tokens / seconds,
          seconds / tokens * static_cast<double>(texts)};
}

// A prompt, and the first token after it.
ModelResult prompting(const TextModel& model, const std::vector<std::string>& lines,
                      double budget) {
  const std::string name = model.written().name;
  std::vector<int32_t> prompt;
  for (size_t i = 0; prompt.size() < kPrompt; i = (i + 1) % lines.size()) {
    const std::vector<int32_t> more = model.tokenizer(name).encode(lines[i]);
    if (more.empty() && prompt.empty() && i + 1 == lines.size()) break;
    prompt.insert(prompt.end(), more.begin(), more.end());
  }
  prompt.resize(
      std::min({prompt.size(), kPrompt, model.written().positions.value_or(kPrompt) / 2}));
  GenerationConfig config;
  config.max_tokens = 1;
  const TextGenerator generate(model, config);
  const double seconds =
      median_seconds(budget, [&] { generate(std::vector<std::vector<int32_t>>{prompt}); });
  return {fmt::format("read a prompt of {}", counted(prompt.size(), "token")), "a prompt",
          static_cast<double>(prompt.size()) / seconds, seconds};
}

ModelResult reading(const TextModel& model, const BenchTexts& texts, double budget) {
  const double seconds = median_seconds(budget, [&] { embed_texts(model, texts.lines); });
  const auto count = static_cast<double>(texts.lines.size());
  return {fmt::format("read, {} at once", counted(texts.lines.size(), "line")), "a line",
          static_cast<double>(texts.tokens) / seconds, seconds / count};
}

std::vector<ModelResult> measured(const TextModel& model, const ColumnSpec& input,
                                  const BenchTexts& texts, double budget) {
  if (model.model->generator() == nullptr) return {reading(model, texts, budget)};
  if (!input.written) {
    const std::vector<std::string> one = {texts.lines[texts.lines.size() / 2]};
    return {translating(model, one, 5, budget), translating(model, texts.lines, 5, budget),
            translating(model, texts.lines, 1, budget)};
  }
  return {prompting(model, texts.lines, budget), writing(model, 1, budget),
          writing(model, 16, budget)};
}

}  // namespace

std::vector<double> bench_times(double budget, const std::function<void()>& run) {
  std::vector<double> all;
  run();
  for (double spent = 0; all.size() < 5 || spent < budget; spent += all.back()) {
    const Clock::time_point start = Clock::now();
    run();
    all.push_back(seconds_since(start));
  }
  std::sort(all.begin(), all.end());
  return all;
}

int bench_model(const std::filesystem::path& root, double budget, bool json) {
  const ModelDirectory directory{root};
  const TextModel model = load_for_use(root);
  const size_t parameters = parameter_count(*model.model);
  model.model->pack();
  const ColumnSpec input = model.read() ? *model.read() : model.written();
  const BenchTexts texts = texts_for(directory, model, input);
  if (!json) {
    fmt::print("{}\n{}\n", version(), machine_summary());
    fmt::print("  model         {}, {:.1f} M parameters\n", model.config.kind.name,
               static_cast<double>(parameters) / 1e6);
    fmt::print("  text          {} {}, {:.0f} tokens each\n\n", counted(texts.lines.size(), "line"),
               texts.from,
               static_cast<double>(texts.tokens) / static_cast<double>(texts.lines.size()));
    fmt::print("  {:<38} {:>10} {:>10}\n", "", "tokens/s", "ms");
    std::fflush(stdout);
  }
  std::vector<ModelResult> results = measured(model, input, texts, budget);
  const auto trained = training_speed(directory, budget);
  if (trained) {
    results.push_back({fmt::format("training step, {:.0f} tokens", trained->tokens), "a step",
                       trained->tokens / trained->seconds, trained->seconds});
  }
  if (json) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const ModelResult& r : results) {
      rows.push_back({{"name", r.name},
                      {"tokens_per_second", r.tokens_per_second},
                      {"ms", r.seconds * 1e3},
                      {"of", r.each}});
    }
    fmt::print("{}\n", nlohmann::ordered_json{{"threads", thread_count()},
                                              {"simd", kernels::simd_target()},
                                              {"kind", model.config.kind.name},
                                              {"parameters", parameters},
                                              {"cases", rows}}
                           .dump());
    return 0;
  }
  for (const ModelResult& r : results) {
    fmt::print("  {:<38} {:>10.0f} {:>10.2f}  {}\n", r.name, r.tokens_per_second, r.seconds * 1e3,
               r.each);
  }
  if (!trained) {
    notify("attend: no training step: {} has no training text (train.corpus) for its model\n",
           root.string());
  }
  return 0;
}

}  // namespace attend::cli
