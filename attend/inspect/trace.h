// What a model read and wrote for one record, item by item, and which sequence looks at which
// meanwhile. Everything that is inspected or drawn starts from a Trace.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/decode/search.h"
#include "attend/models/text_model.h"

namespace attend {

// What a person sees of a position of a sequence: the text of a token.
struct TraceItem {
  std::string text;
};

enum class SequenceRole {
  kRead,     // the model only reads it
  kWritten,  // a generator reads what it wrote before, and writes what follows
  kLabel,    // one item, which no id goes into: a classifier gives it a label
  kJoined,   // the others one after the other, as a model sees them that reads them as one
};

struct TraceSequence {
  std::string name;  // of the model's column
  SequenceRole role = SequenceRole::kRead;
  std::vector<int32_t> ids = {};  // as the model reads them, framed; none of a label
  // After each item; empty where nothing is written. An output ends with the end of a text, or,
  // where it was cut before that, with what the model would write next.
  std::vector<int32_t> written = {};
  Framing framing = {};               // which of `ids` are no text
  std::vector<TraceItem> items = {};  // one for each of `ids`; of a label, one
  std::vector<TraceItem> next = {};   // one for each of `written`

  size_t size() const { return items.size(); }
  std::vector<int32_t> text_ids() const;  // without start and end; of a label, its id
};

struct Trace {
  std::vector<TraceSequence> sequences;  // in the order of the model's columns, the joined one last
  std::vector<AttentionLayer> layers;    // in the order in which data go through them

  // Throws ConfigError with those there are.
  const TraceSequence& sequence(std::string_view name) const;
  size_t index_of(std::string_view name) const;
  // The sequence, or the label, that the model writes; none for an encoder.
  const TraceSequence* written() const;
  // Where items of what is written stand in a sequence that layers look from: behind what is read,
  // if that is of the same sequence.
  size_t first_written(std::string_view queries) const;
  // Its text_ids(); empty where there is none.
  std::vector<int32_t> output() const;
};

// Texts by the name of the sequence they are for.
using TraceTexts = std::map<std::string, std::string, std::less<>>;

// One text for the sequence that the model reads first, and one for what it writes. A model that
// reads nothing but what it writes has the first as the beginning of the second.
TraceTexts texts_of(const Signature& signature, std::string_view read,
                    std::string_view written = "");

// The model is forced to write what is given for the sequence that it writes. Throws DataError
// where a text for a sequence that it reads is missing or a label is no single token, ConfigError
// where the model has no sequence of a name.
Trace given_trace(const TextModel& model, const TraceTexts& texts);
Trace given_trace(const TextModel& model, std::string_view read, std::string_view written = "");

// The model writes the best output that the search finds, or gives the likeliest label. A text for
// the sequence that it writes is what the output begins with.
Trace written_trace(const TextModel& model, const TraceTexts& texts,
                    const SearchConfig& search = {});
Trace written_trace(const TextModel& model, std::string_view text, const SearchConfig& search = {});

// The same trace with another output, without start and end. `next` is what the model would write
// next where it was cut; none: the end.
Trace with_output(const TextModel& model, Trace trace, std::span<const int32_t> output,
                  std::optional<int32_t> next = {});
// The likeliest token after the last item of what the model writes, of those that are ever written.
int32_t likeliest_next(const TextModel& model, const Trace& trace);

// Which of a classifier's logits is that of a label, given by its id. Throws DataError where it has
// none.
int32_t label_number(const TextModel& model, const TraceSequence& label, int32_t id);

// What the model reads of it, as a batch of one record; what it writes is left out.
Batch inputs_of(const Trace& trace);

// Of each record of a batch of columns that are not framed, as a corpus has them. Columns that the
// model neither reads nor writes are left out.
std::vector<Trace> traces_of(const TextModel& model, const Batch& records);

// Throws DataError where a text of so many tokens is longer than a column takes, or than `most`;
// `command` begins the message.
void check_length(std::string_view command, const ColumnSpec& column, size_t tokens, size_t most);

}  // namespace attend
