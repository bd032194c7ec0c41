// What a model read and wrote for one record, item by item, and its attention layers. Everything
// that is inspected or drawn starts from a Trace.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/decode/search.h"
#include "attend/models/text_model.h"

namespace attend {

// One position of a sequence, for people to read: the text of a token.
struct TraceItem {
  std::string text;
};

// How a model uses a sequence.
enum class SequenceRole {
  kRead,     // the model only reads it
  kWritten,  // a generator reads what it has written, and writes what follows
  kLabel,    // one item without an input id, to which a classifier gives a label
  kJoined,   // all others, for a model that reads them as one sequence
};

// A sequence of a trace.
struct TraceSequence {
  std::string name;  // of the model's column
  SequenceRole role = SequenceRole::kRead;
  std::vector<int32_t> ids = {};  // as the model reads them, with start and end; empty for a label
  // What was written after each item; empty if nothing is written. The last is the end or, if the
  // output was cut, what the model would write next.
  std::vector<int32_t> written = {};
  Framing framing = {};               // which of `ids` are a start or an end
  std::vector<TraceItem> items = {};  // one for each of `ids`; one for a label
  std::vector<TraceItem> next = {};   // one for each of `written`

  size_t size() const { return items.size(); }  // items
  std::vector<int32_t> text_ids() const;        // without start and end; for a label, its id
};

// A record as a model saw it.
struct Trace {
  // In the order of the model's columns; a joined one is last.
  std::vector<TraceSequence> sequences;
  std::vector<AttentionLayer> layers;  // in the order of computation

  // The sequence of a name, and its place. Throw ConfigError that lists the sequences.
  const TraceSequence& sequence(std::string_view name) const;
  size_t index_of(std::string_view name) const;
  // The sequence or label that the model writes; null for an encoder.
  const TraceSequence* written() const;
  // The position of the first written item in the sequence `queries`: after the input, if both are
  // one sequence.
  size_t first_written(std::string_view queries) const;
  // The text_ids() of written(); empty if there is none.
  std::vector<int32_t> output() const;
};

// Texts by the name of their sequence.
using TraceTexts = std::map<std::string, std::string, std::less<>>;

// The texts of the sequence that the model reads and of the one that it writes. For a language
// model the first is the beginning of the second.
TraceTexts texts_of(const Signature& signature, std::string_view read,
                    std::string_view written = "");

// A trace of given texts, by teacher forcing. Throws DataError if an input text is missing or a
// label is not a single token, ConfigError if the model has no sequence of a name.
Trace given_trace(const TextModel& model, const TraceTexts& texts);
Trace given_trace(const TextModel& model, std::string_view read, std::string_view written = "");

// A trace of the best output that the search finds, or of the most probable label. A text for the
// written sequence is the beginning of the output.
Trace written_trace(const TextModel& model, const TraceTexts& texts,
                    const SearchConfig& search = {});
Trace written_trace(const TextModel& model, std::string_view text, const SearchConfig& search = {});

// The same trace with another output, given without start and end. `next` is what the model would
// write next if the output was cut; none: the end.
Trace with_output(const TextModel& model, Trace trace, std::span<const int32_t> output,
                  std::optional<int32_t> next = {});
// The most probable token after the last written item, of those that may be written.
int32_t likeliest_next(const TextModel& model, const Trace& trace);

// The index of a label, given by its id, among a classifier's logits. Throws DataError if it has
// none.
int32_t label_number(const TextModel& model, const TraceSequence& label, int32_t id);

// The input of a trace as a batch of one record, without what is written.
Batch inputs_of(const Trace& trace);

// Traces of the records of a batch from a corpus, whose columns have no start and end. Columns that
// the model does not use are left out.
std::vector<Trace> traces_of(const TextModel& model, const Batch& records);

// Throws DataError if a text of this many tokens is longer than the column allows, or than `most`;
// `command` begins the message.
void check_length(std::string_view command, const ColumnSpec& column, size_t tokens, size_t most);

}  // namespace attend
