#include "attend/decode/text_generator.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/windows.h"
#include "attend/decode/text_writing.h"
#include "attend/io/config.h"

namespace attend {
namespace {

constexpr Named<FinishReason> kReasons[] = {
    {FinishReason::kEnded, "end"},
    {FinishReason::kLength, "length"},
    {FinishReason::kStopped, "stop"},
    {FinishReason::kInterrupted, "interrupted"},
};

}  // namespace

std::string_view name_of(FinishReason reason) { return name_from_value(kReasons, reason); }

SearchConfig GenerationConfig::search_config() const {
  SearchConfig made = search;
  made.sample = beam == 0 && search.temperature != 0.0f;
  made.beam = std::max<size_t>(beam, 1);
  made.n_best = made.sample ? std::max(samples, best_of) : samples;
  if (!made.sample) made.temperature = 1.0f;
  return made;
}

void GenerationConfig::check() const {
  check_ranges(*this, "generate");
  const SearchConfig made = search_config();
  if (!made.sample && best_of > 0) {
    throw ConfigError("generate: best_of chooses among samples; leave it out with a beam{}",
                      beam == 0 ? ", which temperature 0 is" : "");
  }
  if (best_of > 0 && best_of < samples) {
    throw ConfigError("generate: the {} best of {}; best_of must be at least samples", samples,
                      best_of);
  }
  if (!(search.temperature >= 0.0f && std::isfinite(search.temperature))) {
    throw ConfigError("generate: temperature {}; it must be finite and at least 0",
                      search.temperature);
  }
  if (!made.sample && beam == 0 && samples > 1) {
    throw ConfigError(
        "generate: {0} texts, but greedy decoding (temperature 0) has one; use a beam of {0}, or a "
        "temperature above 0",
        samples);
  }
  if (!made.sample && samples > made.beam) {
    throw ConfigError("generate: {} texts of a beam of {}; widen the beam, or sample", samples,
                      made.beam);
  }
  if (min_tokens > max_tokens) {
    throw ConfigError("generate: min_tokens {} is more than max_tokens {}", min_tokens, max_tokens);
  }
  if (std::ranges::any_of(stop, &std::string::empty)) {
    throw ConfigError("generate: an empty text cannot stop it");
  }
  made.check();
}

std::optional<size_t> trained_context(const ModelDirectory& directory, const TextModel& model) {
  if (!std::filesystem::exists(directory.training())) return std::nullopt;
  const std::string text = config_text(directory.training());
  const std::string set = peek(text, "data.context", directory.training().string()).value_or("");
  size_t context = WindowConfig().context;
  std::from_chars(set.data(), set.data() + set.size(), context);  // not a number: the default
  return std::min(context, model.written().positions.value_or(context));
}

TextGenerator::TextGenerator(TextModel model, GenerationConfig config)
    : model_(std::move(model)), config_(std::move(config)) {
  model_.generator();  // throws where it writes no sequences, and names the command that is for it
  if (const std::optional<ColumnSpec> read = model_.read()) {
    throw ConfigError("generate: the model reads a {} before it writes; use translate", read->name);
  }
  written_ = model_.written();
  config_.check();
  runtime_ = search_runtime(model_);
  runtime_.score_prefixes = false;
  runtime_.window = config_.context;
  if (runtime_.positions) {
    runtime_.window = std::min(*runtime_.positions, runtime_.window.value_or(*runtime_.positions));
  }
}

bool TextGenerator::streams() const {
  return config_.best_of == 0 && config_.search_config().beam == 1;
}

std::vector<int32_t> TextGenerator::encode(std::string_view text) const {
  std::vector<int32_t> ids;
  while (!text.empty()) {
    const size_t feed = text.find('\n');
    const size_t size = feed == text.npos ? text.size() : feed + 1;
    const std::vector<int32_t> line = tokenizer().encode(text.substr(0, size));
    ids.insert(ids.end(), line.begin(), line.end());
    text.remove_prefix(size);
  }
  return ids;
}

std::vector<Generation> TextGenerator::operator()(std::span<const std::string> prompts,
                                                  const GenerationRuntime& runtime) const {
  std::vector<std::vector<int32_t>> ids;
  ids.reserve(prompts.size());
  for (const std::string& prompt : prompts) ids.push_back(encode(prompt));
  return (*this)(std::move(ids), runtime);
}

std::vector<Generation> TextGenerator::operator()(std::vector<std::vector<int32_t>> prompts,
                                                  const GenerationRuntime& runtime) const {
  return TextWriting(*this, runtime_, std::move(prompts), runtime).run();
}

}  // namespace attend
