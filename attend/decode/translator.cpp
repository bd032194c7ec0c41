#include "attend/decode/translator.h"

#include "attend/base/error.h"
#include "attend/base/special_tokens.h"
#include "attend/decode/align_text.h"
#include "attend/decode/by_length.h"
#include "attend/decode/covering.h"
#include "attend/decode/ensemble.h"

namespace attend {

Translator::Translator(std::vector<TextModel> models, const TranslatorConfig& config)
    : models_(std::move(models)), config_(config) {
  std::vector<std::shared_ptr<const Generator>> generators;
  for (const TextModel& m : models_) {
    if (m.source->fingerprint() != models_.front().source->fingerprint() ||
        m.target->fingerprint() != models_.front().target->fingerprint()) {
      throw ConfigError("translate: models of an ensemble must share their tokenizers");
    }
    generators.push_back(m.model);
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
  std::vector<size_t> rows;
  for (const std::string& line : lines) {
    sources.push_back(model().source->encode(line));
    sources.back().push_back(kEnd);
    rows.push_back(sources.back().size() * rows_each);
  }
  std::vector<Translation> all(lines.size());
  for (const std::vector<size_t>& batch : batches_by_length(rows, config_.batch_tokens)) {
    run(batch, sources, first_line, starts, all);
  }
  return all;
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
      config_.search.coverage_penalty > 0.0f
          ? search_covering(*ensemble_, *model().model, some.tokens(), config_.search, prefixes)
          : search(*ensemble_, some.tokens(), config_.search, prefixes, lines);
  for (size_t i = 0; i < which.size(); ++i) {
    Translation& translation = to[which[i]];
    translation.hypotheses = std::move(found[i]);
    translation.source = sources[which[i]];
    for (const Hypothesis& h : translation.hypotheses) {
      translation.texts.push_back(model().target->decode(h.tokens));
    }
  }
  if (config_.alignment) align(which, to);
}

void Translator::align(std::span<const size_t> which, std::vector<Translation>& to) const {
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
