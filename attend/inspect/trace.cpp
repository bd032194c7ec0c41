#include "attend/inspect/trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/decode/covering.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

// A column of one record as it is before it is framed; `pieces` are known where a text was given,
// which is where unknown tokens can say what they stand for.
struct Raw {
  std::vector<int32_t> ids = {};
  std::vector<std::string> pieces = {};
};

SequenceRole role_of(const ColumnSpec& column) {
  const bool one = column.kind == ColumnKind::kLabel || column.kind == ColumnKind::kNumber;
  if (one) return SequenceRole::kLabel;
  return column.written ? SequenceRole::kWritten : SequenceRole::kRead;
}

std::vector<TraceItem> items_of(const Tokenizer& tokenizer, const Raw& raw, Framing framing) {
  const SpecialTokens special = tokenizer.special();
  std::vector<TraceItem> items;
  if (framing.start) items.push_back({tokenizer.piece(special.start)});
  for (size_t i = 0; i < raw.ids.size(); ++i) {
    items.push_back({i < raw.pieces.size() ? raw.pieces[i] : tokenizer.piece(raw.ids[i])});
  }
  if (framing.end) items.push_back({tokenizer.piece(special.end)});
  return items;
}

TraceSequence sequence_of(const TextModel& model, const ColumnSpec& column, const Raw& raw) {
  TraceSequence sequence{.name = column.name, .role = role_of(column)};
  if (column.kind == ColumnKind::kNumber) {
    sequence.items = {{column.name}};
    return sequence;
  }
  const Tokenizer& tokenizer = model.tokenizer(column.name);
  if (sequence.role == SequenceRole::kLabel) {
    sequence.items = {{column.name}};
    sequence.written = raw.ids;
    sequence.next = items_of(tokenizer, raw, {});
    return sequence;
  }
  const bool written = sequence.role == SequenceRole::kWritten;
  sequence.framing = written ? Framing{.start = true} : column.framing;
  sequence.ids = framed(raw.ids, sequence.framing, tokenizer.special());
  sequence.items = items_of(tokenizer, raw, sequence.framing);
  if (written) {
    sequence.written = framed(raw.ids, {.end = true}, tokenizer.special());
    sequence.next = items_of(tokenizer, raw, {.end = true});
  }
  return sequence;
}

TraceSequence joined(const std::string& name, std::span<const TraceSequence> parts) {
  TraceSequence all{.name = name, .role = SequenceRole::kJoined, .framing = parts.front().framing};
  for (const TraceSequence& part : parts) {
    if (part.role == SequenceRole::kLabel) continue;
    all.ids.insert(all.ids.end(), part.ids.begin(), part.ids.end());
    all.items.insert(all.items.end(), part.items.begin(), part.items.end());
  }
  return all;
}

// With the one that they are together, where the model sees it.
void add_joined(const Signature& signature, Trace& trace) {
  if (!signature.joined) return;
  trace.sequences.push_back(joined(signature.joined->name, trace.sequences));
}

Raw raw_of(const TextModel& model, const ColumnSpec& column, std::string_view text) {
  if (!column.has_tokenizer()) return {};
  const Tokenizer& tokenizer = model.tokenizer(column.name);
  Raw raw{tokenizer.encode(text), tokenizer.pieces(text)};
  if (column.kind != ColumnKind::kLabel) return raw;
  if (raw.ids.size() != 1) {
    throw DataError("{}: '{}' is {} tokens, but a label is one", column.name, shown_name(text),
                    raw.ids.size());
  }
  if (raw.ids.front() < tokenizer.first_piece()) {
    throw DataError("{}: the model has no label '{}'", column.name, shown_name(text));
  }
  return raw;
}

void check_names(const Signature& signature, const TraceTexts& texts) {
  for (const auto& [name, _] : texts) signature.column(name);  // throws where there is none
}

// Tags are no sequence that a model attends to.
bool is_traced(const ColumnSpec& column) { return column.kind != ColumnKind::kLabels; }

// A column without a text: nothing was written yet.
Raw missing(const Signature& signature, const ColumnSpec& column) {
  if (role_of(column) != SequenceRole::kRead) return {};
  std::vector<std::string_view> read;
  for (const ColumnSpec& each : signature.columns) {
    if (role_of(each) == SequenceRole::kRead) read.push_back(each.name);
  }
  throw DataError("there is no text for '{}'; the model reads: {}", column.name,
                  fmt::join(read, ", "));
}

Hypothesis searched(const TextModel& model, const Trace& trace, std::string_view start,
                    const SearchConfig& config) {
  SearchRuntime runtime = search_runtime(model);
  if (!start.empty()) runtime.prefixes = {model.tokenizer(trace.written()->name).encode(start)};
  const auto found =
      search_covering(model.generator(), *model.model, inputs_of(trace), config, runtime);
  return found.front().front();
}

int32_t likeliest_label(const TextModel& model, const Trace& trace) {
  const NoGrad no_grad;
  const std::vector<float> logits = model.classifier().label_logits(inputs_of(trace)).to_vector();
  const auto number = std::ranges::max_element(logits) - logits.begin();
  return model.tokenizer(trace.written()->name).first_piece() + static_cast<int32_t>(number);
}

}  // namespace

std::vector<int32_t> TraceSequence::text_ids() const {
  if (role == SequenceRole::kLabel) return written;
  const std::ptrdiff_t first = framing.start ? 1 : 0, last = framing.end ? 1 : 0;
  return {ids.begin() + first, ids.end() - last};
}

const TraceSequence& Trace::sequence(std::string_view name) const {
  return sequences[index_of(name)];
}

size_t Trace::index_of(std::string_view name) const {
  const auto found = std::ranges::find(sequences, name, &TraceSequence::name);
  if (found != sequences.end()) return static_cast<size_t>(found - sequences.begin());
  std::vector<std::string_view> names(sequences.size());
  std::ranges::transform(sequences, names.begin(), &TraceSequence::name);
  throw ConfigError("there is no sequence '{}'; the model has: {}", shown_name(name),
                    fmt::join(names, ", "));
}

const TraceSequence* Trace::written() const {
  const auto is_written = [](const TraceSequence& s) {
    return s.role == SequenceRole::kWritten || s.role == SequenceRole::kLabel;
  };
  const auto found = std::ranges::find_if(sequences, is_written);
  return found == sequences.end() ? nullptr : &*found;
}

size_t Trace::first_written(std::string_view queries) const {
  const TraceSequence& all = sequence(queries);
  const TraceSequence* last = written();
  const bool writes = last != nullptr && last->role == SequenceRole::kWritten;
  return all.role == SequenceRole::kJoined && writes ? all.size() - last->size() : 0;
}

std::vector<int32_t> Trace::output() const {
  return written() == nullptr ? std::vector<int32_t>() : written()->text_ids();
}

TraceTexts texts_of(const Signature& signature, std::string_view read, std::string_view written) {
  const ColumnSpec *first = nullptr, *output = nullptr;
  for (const ColumnSpec& column : signature.columns) {
    const ColumnSpec*& slot = role_of(column) == SequenceRole::kRead ? first : output;
    if (slot == nullptr) slot = &column;
  }
  TraceTexts texts;
  if (first != nullptr) texts[first->name] = read;
  if (first == nullptr && output != nullptr) {
    texts[output->name] = std::string(read) + std::string(written);
  } else if (output != nullptr && !written.empty()) {
    texts[output->name] = written;
  }
  return texts;
}

Trace given_trace(const TextModel& model, const TraceTexts& texts) {
  const Signature signature = model.model->signature();
  check_names(signature, texts);
  Trace trace{.sequences = {}, .layers = signature.layers};
  for (const ColumnSpec& column : signature.columns) {
    if (!is_traced(column)) continue;
    const auto text = texts.find(column.name);
    const Raw raw =
        text == texts.end() ? missing(signature, column) : raw_of(model, column, text->second);
    trace.sequences.push_back(sequence_of(model, column, raw));
  }
  add_joined(signature, trace);
  return trace;
}

Trace given_trace(const TextModel& model, std::string_view read, std::string_view written) {
  return given_trace(model, texts_of(model.model->signature(), read, written));
}

Trace written_trace(const TextModel& model, const TraceTexts& texts, const SearchConfig& config) {
  TraceTexts read = texts;
  std::string start;
  for (const ColumnSpec& column : model.model->signature().columns) {
    if (role_of(column) == SequenceRole::kRead) continue;
    if (const auto begun = read.extract(column.name)) start = begun.mapped();
  }
  const Trace trace = given_trace(model, read);
  if (trace.written() == nullptr) return trace;
  if (trace.written()->role == SequenceRole::kLabel) {
    if (model.model->classifier() == nullptr) return trace;
    return with_output(model, trace, std::vector{likeliest_label(model, trace)});
  }
  const Hypothesis found = searched(model, trace, start, config);
  const Trace written = with_output(model, trace, found.tokens);
  if (found.ended) return written;
  return with_output(model, written, found.tokens, likeliest_next(model, written));
}

Trace written_trace(const TextModel& model, std::string_view text, const SearchConfig& config) {
  return written_trace(model, texts_of(model.model->signature(), text), config);
}

Trace with_output(const TextModel& model, Trace trace, std::span<const int32_t> output,
                  std::optional<int32_t> next) {
  const bool same = std::ranges::equal(trace.output(), output);  // it may know its pieces
  const Signature signature = model.model->signature();
  std::erase_if(trace.sequences, [](const auto& s) { return s.role == SequenceRole::kJoined; });
  for (TraceSequence& sequence : trace.sequences) {
    if (sequence.role == SequenceRole::kRead) continue;
    const ColumnSpec column = signature.column(sequence.name);
    if (!same) sequence = sequence_of(model, column, {.ids = {output.begin(), output.end()}});
    if (sequence.role == SequenceRole::kLabel) continue;
    const Tokenizer& tokenizer = model.tokenizer(sequence.name);
    sequence.written.back() = next.value_or(tokenizer.special().end);
    sequence.next.back().text = tokenizer.piece(sequence.written.back());
  }
  add_joined(signature, trace);
  return trace;
}

int32_t likeliest_next(const TextModel& model, const Trace& trace) {
  const NoGrad no_grad;
  const TraceSequence& written = *trace.written();
  const Tensor logits = model.generator().logits(inputs_of(trace), one_sequence(written.ids));
  const auto last = logits.slice_rows(logits.rows() - 1, 1).span();
  const SpecialTokens special = model.tokenizer(written.name).special();
  int32_t best = special.end;
  for (size_t id = 0; id < last.size(); ++id) {
    const auto token = static_cast<int32_t>(id);
    if (special.has(token) && token != special.end) continue;
    if (last[id] > last[static_cast<size_t>(best)]) best = token;
  }
  return best;
}

int32_t label_number(const TextModel& model, const TraceSequence& label, int32_t id) {
  const Tokenizer& tokenizer = model.tokenizer(label.name);
  const int32_t number = id - tokenizer.first_piece();
  if (number >= 0 && static_cast<size_t>(number) < model.classifier().labels()) return number;
  throw DataError("{}: the model has no label {}, but {} of them, from {}", label.name, id,
                  model.classifier().labels(), tokenizer.first_piece());
}

Batch inputs_of(const Trace& trace) {
  Batch inputs(1);
  for (const TraceSequence& sequence : trace.sequences) {
    if (sequence.role == SequenceRole::kRead) inputs.add(sequence.name, one_sequence(sequence.ids));
  }
  return inputs;
}

std::vector<Trace> traces_of(const TextModel& model, const Batch& records) {
  const Signature signature = model.model->signature();
  std::vector<Trace> traces(records.size(), {.sequences = {}, .layers = signature.layers});
  for (const ColumnSpec& column : signature.columns) {
    if (!is_traced(column)) continue;
    if (!column.has_tokenizer()) {
      for (Trace& trace : traces) trace.sequences.push_back(sequence_of(model, column, {}));
      continue;
    }
    const Tokens tokens = records.tokens(column.name);
    for (size_t i = 0; i < records.size(); ++i) {
      const auto ids = tokens.sequence(i);
      traces[i].sequences.push_back(sequence_of(model, column, {.ids = {ids.begin(), ids.end()}}));
    }
  }
  for (Trace& trace : traces) add_joined(signature, trace);
  return traces;
}

void check_length(std::string_view command, const ColumnSpec& column, size_t tokens, size_t most) {
  const std::optional<size_t> longest = column.longest();
  if (longest && tokens > *longest) {
    throw DataError(
        "{}: '{}' has {} tokens, but the model has positions for {}; use a shorter text", command,
        column.name, tokens, *longest);
  }
  if (tokens > most) {
    throw DataError("{}: '{}' has {} tokens; at most {} can be shown, so use a part of the text",
                    command, column.name, tokens, most);
  }
}

}  // namespace attend
