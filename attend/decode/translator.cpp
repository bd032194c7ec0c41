#include "attend/decode/translator.h"

#include <algorithm>
#include <numeric>

#include "attend/base/error.h"
#include "attend/base/special_tokens.h"
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
}

std::vector<Translation> Translator::operator()(std::span<const std::string> lines,
                                                size_t first_line,
                                                std::span<const std::string> starts) const {
  if (!starts.empty() && starts.size() != lines.size()) {
    throw DataError("translate: {} starts for {} lines", starts.size(), lines.size());
  }
  std::vector<std::vector<int32_t>> sources;
  sources.reserve(lines.size());
  for (const std::string& line : lines) {
    sources.push_back(model().source->encode(line));
    sources.back().push_back(kEnd);
  }
  std::vector<size_t> order(lines.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return sources[i].size(); });

  std::vector<Translation> all(lines.size());
  const size_t rows_each = config_.search.sample ? config_.search.n_best : config_.search.beam;
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    size_t tokens = 0;
    while (end < order.size()) {
      tokens += sources[order[end]].size() * rows_each;
      if (end > begin && tokens > config_.batch_tokens) break;
      ++end;
    }
    run(std::span(order).subspan(begin, end - begin), sources, first_line, starts, all);
  }
  return all;
}

void Translator::run(std::span<const size_t> which, std::span<const std::vector<int32_t>> sources,
                     size_t first_line, std::span<const std::string> starts,
                     std::vector<Translation>& to) const {
  std::vector<int32_t> ids, lengths;
  std::vector<size_t> lines;
  Prefixes prefixes;
  for (const size_t i : which) {
    ids.insert(ids.end(), sources[i].begin(), sources[i].end());
    lengths.push_back(static_cast<int32_t>(sources[i].size()));
    lines.push_back(first_line + i);
    if (!starts.empty()) prefixes.push_back(model().target->encode(starts[i]));
  }
  auto found = search(*ensemble_, {ids, Packing(lengths)}, config_.search, prefixes, lines);
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
  std::vector<int32_t> sources, targets, source_lengths, target_lengths;
  for (const size_t i : which) {
    for (const Hypothesis& h : to[i].hypotheses) {
      sources.insert(sources.end(), to[i].source.begin(), to[i].source.end());
      targets.insert(targets.end(), h.tokens.begin(), h.tokens.end());
      source_lengths.push_back(static_cast<int32_t>(to[i].source.size()));
      target_lengths.push_back(static_cast<int32_t>(h.tokens.size()));
    }
  }
  const std::vector<Tensor> all =
      alignments(*model().model, {sources, Packing(source_lengths)},
                 {targets, Packing(target_lengths)}, *config_.alignment);
  size_t next = 0;
  for (const size_t i : which) {
    for (size_t h = 0; h < to[i].hypotheses.size(); ++h) to[i].alignments.push_back(all[next++]);
  }
}

}  // namespace attend
