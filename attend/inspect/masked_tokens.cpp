#include "attend/inspect/masked_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/inspect/attention_maps.h"
#include "attend/inspect/candidates_json.h"
#include "attend/inspect/npy.h"
#include "attend/inspect/text_width.h"
#include "attend/inspect/token_table.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr size_t kMaskedLogitRows = 256;  // at once, each as wide as the vocabulary

// The sequences of a trace that the model reads, by number.
std::vector<size_t> texts_read(const Trace& trace) {
  std::vector<size_t> read;
  for (size_t s = 0; s < trace.sequences.size(); ++s) {
    if (trace.sequences[s].role == SequenceRole::kRead) read.push_back(s);
  }
  return read;
}

// Copies of the texts, one for each place, with its token hidden.
class MaskedCopies {
 public:
  MaskedCopies(const TextModel& model, const Trace& trace, std::span<const MaskedPlace> places)
      : inputs_(places.size()) {
    const std::vector<size_t> read = texts_read(trace);
    size_t whole = 0;  // rows of one copy
    for (const size_t s : read) whole += trace.sequences[s].size();
    for (const size_t s : read) {
      const TraceSequence& sequence = trace.sequences[s];
      const int32_t mask = model.tokenizer(sequence.name).special().mask;
      TokenLines lines;
      for (size_t p = 0; p < places.size(); ++p) {
        std::vector<int32_t> line = sequence.ids;
        if (places[p].sequence == s) line[places[p].item] = mask;
        lines.add(line);
      }
      inputs_.add(sequence.name, lines.tokens());
    }
    for (size_t p = 0; p < places.size(); ++p) {
      size_t row = p * whole + places[p].item;
      for (size_t s = 0; s < places[p].sequence; ++s) {
        if (trace.sequences[s].role == SequenceRole::kRead) row += trace.sequences[s].size();
      }
      rows_.push_back(static_cast<int32_t>(row));
    }
  }

  Tensor logits(const MaskedPredictor& predictor) const {
    return predictor.predict(inputs_, Tensor::ids(rows_, {rows_.size()})).tokens;
  }

 private:
  Batch inputs_;
  std::vector<int32_t> rows_;  // of the hidden tokens
};

const std::string& token_of(const Trace& trace, const MaskedPlace& place) {
  return trace.sequences[place.sequence].items[place.item].text;
}

TokenTable table_of(const Trace& trace, std::span<const MaskedPlace> places) {
  TokenTable table{.title = "Masked tokens",
                   .note = kMaskedNote,
                   .below = {{"text", {}}, {"rank", {}}, {"%", {}}}};
  size_t most = 0;
  for (const MaskedPlace& place : places) {
    most = std::max(most, place.candidates.likeliest.size());
    table.below[0].texts.push_back(token_of(trace, place));
    table.below[1].texts.push_back(fmt::format("{}", place.candidates.rank));
    table.below[2].texts.push_back(fmt::format("{:.3g}", 100 * place.candidates.probability));
  }
  for (size_t i = 0; i < most; ++i) {
    table.names.push_back(fmt::format("{}", i + 1));
    for (const MaskedPlace& place : places) {
      const Candidates& found = place.candidates;
      TokenTable::Cell& cell = table.cells.emplace_back();
      cell.description = fmt::format("{} hidden{}\nrank {}, probability {:.3g}",
                                     isolated(visible(token_of(trace, place))),
                                     described(found.likeliest), found.rank, found.probability);
      if (i >= found.likeliest.size()) continue;
      cell.text = found.likeliest[i].text;
      cell.probability = found.likeliest[i].probability;
    }
  }
  return table;
}

}  // namespace

std::vector<MaskedPlace> masked_tokens(const TextModel& model, const Trace& trace,
                                       const MaskedTokensConfig& config) {
  check_candidates("masked tokens", config.top);
  const MaskedPredictor& predictor = model.masked_predictor();
  check_intervention(trace);
  std::vector<MaskedPlace> places;
  size_t whole = 0;
  for (const size_t s : texts_read(trace)) {
    const TraceSequence& sequence = trace.sequences[s];
    if (model.tokenizer(sequence.name).special().mask < 0) {
      throw ConfigError(
          "masked tokens: the tokenizer of '{}' has no mask token; train the model with one "
          "(tokenizer train --mask)",
          sequence.name);
    }
    whole += sequence.size();
    const size_t first = sequence.framing.start ? 1 : 0;
    for (size_t i = 0; i < sequence.text_ids().size(); ++i) places.push_back({s, first + i, {}});
  }
  if (places.size() * whole > kMostMaskedRows) {
    throw DataError(
        "masked tokens: a text of {} tokens is read once for each of them, which takes too long; "
        "use a part of it",
        places.size());
  }
  const NoGrad no_grad;
  const size_t copies =
      std::clamp<size_t>(config.most_rows / std::max<size_t>(whole, 1), 1, kMaskedLogitRows);
  for (size_t begin = 0; begin < places.size(); begin += copies) {
    const auto some = std::span(places).subspan(begin, std::min(copies, places.size() - begin));
    const Tensor logits = MaskedCopies(model, trace, some).logits(predictor);
    for (size_t i = 0; i < some.size(); ++i) {
      const TraceSequence& sequence = trace.sequences[some[i].sequence];
      const int32_t own = sequence.ids[some[i].item];
      some[i].candidates = candidates_of(model.tokenizer(sequence.name), logits.slice_rows(i, 1),
                                         {&own, 1}, config.top, CandidateChoice::kText)
                               .front();
    }
    if (config.on_pass) config.on_pass();
  }
  return places;
}

std::string masked_tokens_json(const Trace& trace, std::span<const MaskedPlace> places) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const MaskedPlace& place : places) {
    nlohmann::ordered_json one = {{"sequence", trace.sequences[place.sequence].name},
                                  {"item", place.item},
                                  {"token", token_of(trace, place)}};
    one.update(candidates_json(place.candidates));
    all.push_back(std::move(one));
  }
  return json_text({{"places", all}});
}

std::string draw_masked_tokens(const Trace& trace, std::span<const MaskedPlace> places,
                               PictureFormat format, const TerminalStyle& style) {
  if (format == PictureFormat::kJson) return masked_tokens_json(trace, places) + "\n";
  if (format == PictureFormat::kMoses) {
    throw ConfigError("masked tokens have no word links; choose another format");
  }
  if (format == PictureFormat::kNpy) {
    std::vector<float> values;
    for (const MaskedPlace& place : places) values.push_back(place.candidates.probability);
    return npy_bytes(Tensor::of(values, {values.size()}));
  }
  return draw_token_table(table_of(trace, places), format, style);
}

}  // namespace attend
