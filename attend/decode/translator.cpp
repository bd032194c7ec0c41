#include "attend/decode/translator.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/base/special_tokens.h"
#include "attend/decode/align_text.h"
#include "attend/decode/by_length.h"
#include "attend/decode/covering.h"
#include "attend/decode/ensemble.h"

namespace attend {

Translator::Translator(std::vector<TextModel> models, TranslatorConfig config)
    : models_(std::move(models)), config_(std::move(config)) {
  std::vector<std::shared_ptr<const Generator>> generators;
  for (const TextModel& m : models_) {
    if (m.source->fingerprint() != models_.front().source->fingerprint() ||
        m.target->fingerprint() != models_.front().target->fingerprint()) {
      throw ConfigError("translate: models of an ensemble must share their tokenizers");
    }
    generators.push_back(m.model);
    const LineLimit own = line_limit(m.config, config_.longest_line);
    if (limit_.tokens == 0 || (own.tokens > 0 && own.tokens < limit_.tokens)) limit_ = own;
    if (const auto places = learned_positions(m.config)) {
      size_t& all = config_.search.places;
      all = all == 0 ? *places : std::min(all, *places);
    }
  }
  ensemble_ = std::make_unique<Ensemble>(generators);
  config_.search.check(ensemble_->vocabulary());
  if (config_.alignment) config_.alignment = with_best_place(*config_.alignment, model());
}

std::vector<Translation> Translator::operator()(std::span<const std::string> lines,
                                                size_t first_line,
                                                std::span<const std::string> starts) const {
  if (!starts.empty() && starts.size() != lines.size()) {
    throw DataError("translate: {} starts for {} lines", starts.size(), lines.size());
  }
  const size_t rows_each = config_.search.sample ? config_.search.n_best : config_.search.beam;
  std::vector<std::vector<int32_t>> sources;
  std::vector<size_t> rows, asked, empty;  // of those that are asked; their numbers; the others'
  std::vector<Translation> all(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool nothing = stays_empty(lines[i], starts.empty() ? "" : starts[i]);
    sources.push_back(nothing ? std::vector<int32_t>() : model().source->encode(lines[i]));
    if (!limit_.allows(sources.back().size())) {
      limit_.fail(fmt::format("translate: line {}", first_line + i + 1), sources.back().size());
    }
    sources.back().push_back(kEnd);
    if (nothing) {
      all[i] = {{Hypothesis{.ended = true}}, {""}, sources.back(), {}};
      empty.push_back(i);
    } else {
      rows.push_back(sources.back().size() * rows_each);
      asked.push_back(i);
    }
  }
  for (std::vector<size_t>& batch : batches_by_length(rows, config_.batch_tokens)) {
    for (size_t& number : batch) number = asked[number];
    run(batch, sources, first_line, starts, all);
  }
  if (!empty.empty()) align(empty, all);
  return all;
}

bool Translator::fits(std::string_view line) const {
  return limit_.allows(model().source->encode(line).size());
}

void Translator::check(std::string_view line, std::string_view place) const {
  const size_t tokens = model().source->encode(line).size();
  if (!limit_.allows(tokens)) limit_.fail(place, tokens);
}

// There is nothing to translate, and a model that never read an empty line makes something up.
bool Translator::stays_empty(std::string_view line, std::string_view start) const {
  constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";
  return model().config.kind != ModelKind::kLabel && start.empty() &&
         line.find_first_not_of(kWhiteSpace) == line.npos;
}

void Translator::run(std::span<const size_t> which, std::span<const std::vector<int32_t>> sources,
                     size_t first_line, std::span<const std::string> starts,
                     std::vector<Translation>& to) const {
  TokenLines some;
  std::vector<size_t> lines;
  Prefixes prefixes;
  for (const size_t i : which) {
    some.add(sources[i]);
    lines.push_back(first_line + i);
    if (!starts.empty()) prefixes.push_back(model().target->encode(starts[i]));
  }
  auto found =
      search_covering(*ensemble_, *model().model, some.tokens(), config_.search, prefixes, lines);
  for (size_t i = 0; i < which.size(); ++i) {
    Translation& translation = to[which[i]];
    translation.source = sources[which[i]];
    for (Hypothesis& h : found[i]) {
      std::string text = model().target->decode(h.tokens);
      // Different subwords may write the same text; lots are drawn as often as they are.
      if (!config_.search.sample && std::ranges::count(translation.texts, text) > 0) continue;
      translation.texts.push_back(std::move(text));
      translation.hypotheses.push_back(std::move(h));
    }
  }
  align(which, to);
}

void Translator::align(std::span<const size_t> which, std::vector<Translation>& to) const {
  if (!config_.alignment) return;
  TokenLines sources, targets;
  for (const size_t i : which) {
    for (const Hypothesis& h : to[i].hypotheses) {
      sources.add(to[i].source);
      targets.add(h.tokens);
    }
  }
  const std::vector<Tensor> all =
      alignments(*model().model, sources.tokens(), targets.tokens(), *config_.alignment);
  size_t next = 0;
  for (const size_t i : which) {
    for (size_t h = 0; h < to[i].hypotheses.size(); ++h) to[i].alignments.push_back(all[next++]);
  }
}

}  // namespace attend
