#include "attend/decode/translator.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/decode/align_text.h"
#include "attend/decode/covering.h"
#include "attend/decode/ensemble.h"
#include "attend/decode/text_batches.h"

namespace attend {
namespace {

// The sequence that a model reads, where it can translate.
ColumnSpec source_of(const TextModel& model) {
  model.generator();  // throws where it writes no sequences, and names the command that is for it
  const std::optional<ColumnSpec> read = model.read();
  if (!read) {
    throw ConfigError(
        "translate: the model reads nothing but the {} that it writes: it is a language model; use "
        "generate",
        model.written().name);
  }
  const auto columns = model.model->signature().columns;
  const auto tokens = std::ranges::count(columns, ColumnKind::kTokens, &ColumnSpec::kind);
  if (columns.size() != 2 || tokens != 2) {
    throw ConfigError(
        "translate: the model has {} columns; one that translates reads one sequence of tokens and "
        "writes another",
        columns.size());
  }
  return *read;
}

bool same_column(const ColumnSpec& a, const ColumnSpec& b) {
  return a.name == b.name && a.framing == b.framing;
}

std::optional<size_t> fewer(std::optional<size_t> a, std::optional<size_t> b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

bool is_blank(std::string_view line) {
  constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";
  return line.find_first_not_of(kWhiteSpace) == line.npos;
}

}  // namespace

Translator::Translator(std::vector<TextModel> models, TranslatorConfig config)
    : models_(std::move(models)), config_(std::move(config)) {
  if (models_.empty()) throw ConfigError("translate: no model");
  source_ = source_of(model());
  target_ = model().written();
  runtime_ = search_runtime(model());
  std::vector<std::shared_ptr<const Generator>> generators;
  for (const TextModel& m : models_) {
    const ColumnSpec read = source_of(m), written = m.written();
    if (!same_column(read, source_) || !same_column(written, target_)) {
      throw ConfigError(
          "translate: models of an ensemble must read and write the same sequences, but one goes "
          "from {} to {} and another from {} to {}",
          source_.name, target_.name, read.name, written.name);
    }
    if (m.tokenizer(read.name).fingerprint() != source().fingerprint() ||
        m.tokenizer(written.name).fingerprint() != target().fingerprint()) {
      throw ConfigError("translate: models of an ensemble must share their tokenizers");
    }
    generators.emplace_back(m.model, &m.generator());
    limit_ = stricter(limit_, line_limit(read, config_.longest_line));
    const SearchRuntime own = search_runtime(m);
    runtime_.positions = fewer(runtime_.positions, own.positions);
    runtime_.joint_positions = fewer(runtime_.joint_positions, own.joint_positions);
  }
  runtime_.banned = config_.banned;
  runtime_.stop = config_.stop;
  ensemble_ = std::make_unique<Ensemble>(generators);
  config_.search.check();
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
  std::vector<size_t> rows, asked, blank;  // of those that are searched; their numbers; the others'
  std::vector<Translation> all(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    // A model that never read a blank line makes something up, unless it is told how to start.
    const bool nothing = is_blank(lines[i]) && (starts.empty() || starts[i].empty());
    sources.push_back(nothing ? std::vector<int32_t>() : source().encode(lines[i]));
    if (!limit_.allows(sources.back().size())) {
      limit_.fail(fmt::format("translate: line {}", first_line + i + 1), sources.back().size());
    }
    all[i].source = framed_source(sources.back());
    if (nothing) {
      all[i].hypotheses = {Hypothesis{.ended = true}};
      all[i].texts = {""};
      blank.push_back(i);
    } else {
      rows.push_back(all[i].source.size() * rows_each);
      asked.push_back(i);
    }
  }
  size_t finished = blank.size();
  for (std::vector<size_t>& batch : batches_by_length(rows, config_.batch_tokens)) {
    for (size_t& number : batch) number = asked[number];
    run(batch, sources, first_line, starts, all);
    finished += batch.size();
    if (config_.on_progress) config_.on_progress(finished);
  }
  if (!blank.empty() && config_.alignment) {
    align(blank, model().inputs(std::vector<std::vector<int32_t>>(blank.size())), all);
  }
  return all;
}

std::vector<int32_t> Translator::framed_source(std::span<const int32_t> ids) const {
  return framed(ids, source_.framing, source().special());
}

bool Translator::fits(std::string_view line) const {
  return limit_.allows(source().encode(line).size());
}

void Translator::check(std::string_view line, std::string_view place) const {
  const size_t tokens = source().encode(line).size();
  if (!limit_.allows(tokens)) limit_.fail(place, tokens);
}

void Translator::run(std::span<const size_t> which, std::span<const std::vector<int32_t>> sources,
                     size_t first_line, std::span<const std::string> starts,
                     std::vector<Translation>& to) const {
  SearchRuntime runtime = runtime_;
  std::vector<std::vector<int32_t>> some;
  for (const size_t i : which) {
    some.push_back(sources[i]);
    runtime.lines.push_back(first_line + i);
    if (!starts.empty()) runtime.prefixes.push_back(target().encode(starts[i]));
  }
  const Batch inputs = model().inputs(some);
  auto found = search_covering(*ensemble_, *model().model, inputs, config_.search, runtime);
  for (size_t i = 0; i < which.size(); ++i) {
    Translation& translation = to[which[i]];
    for (Hypothesis& h : found[i]) {
      std::string text = target().decode(h.tokens);
      // Different subwords may write the same text; samples are counted as often as they come up.
      if (!config_.search.sample && std::ranges::count(translation.texts, text) > 0) continue;
      translation.texts.push_back(std::move(text));
      translation.hypotheses.push_back(std::move(h));
    }
  }
  if (config_.alignment) align(which, inputs, to);
}

void Translator::align(std::span<const size_t> which, const Batch& inputs,
                       std::vector<Translation>& to) const {
  SequencesOfRecords written(which.size());
  for (size_t i = 0; i < which.size(); ++i) {
    for (const Hypothesis& h : to[which[i]].hypotheses) written[i].push_back(h.tokens);
  }
  auto found = alignments(*model().model, inputs, written, runtime_.special, *config_.alignment);
  for (size_t i = 0; i < which.size(); ++i) to[which[i]].alignments = std::move(found[i]);
}

}  // namespace attend
