// Tags that mark spans, one for each token: B-PER I-PER O (Ramshaw and Marcus, 1995), and the
// spans in them as seqeval finds them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/names.h"
#include "attend/metrics/classes.h"

namespace attend {

// What a tag says of its token.
enum class TagPart { kOutside, kBegin, kInside, kLast, kSingle };

struct SpanTag {
  TagPart part = TagPart::kOutside;
  std::string_view type = {};  // "PER"; "_" for a tag without one; empty for O

  friend bool operator==(const SpanTag&, const SpanTag&) = default;
};

// "O", or one of B, I, E and S with "-" and a type, or without a type; of BILOU, L is read as E and
// U as S. Nothing if it is none of these.
std::optional<SpanTag> span_tag(std::string_view tag);
// The tags of a sequence. Throws DataError that names the first that is none.
std::vector<SpanTag> span_tags(std::span<const std::string_view> tags);

// Which tags make a span.
enum class TagScheme {
  kAny,    // any of the others, and mistakes repaired as conlleval does: seqeval's default mode
  kIob1,   // B only where a span follows one of its type; this and the rest: seqeval's strict mode
  kIob2,   // B begins each span
  kIobes,  // as well, E ends it, and S is a span of one token
};
// Their names.
inline constexpr Named<TagScheme> kTagSchemes[] = {
    {TagScheme::kAny, "any"},
    {TagScheme::kIob1, "iob1"},
    {TagScheme::kIob2, "iob2"},
    {TagScheme::kIobes, "iobes"},
};

inline std::string_view name_of(TagScheme scheme) { return name_from_value(kTagSchemes, scheme); }

struct TagSpan {
  size_t begin = 0, end = 0;  // tokens: end is one past the last
  std::string_view type;

  friend bool operator==(const TagSpan&, const TagSpan&) = default;
};

// The spans of a sequence, in order. With a scheme, spans that break its rules are left out, and a
// tag that it does not have is a DataError.
std::vector<TagSpan> spans_of(std::span<const SpanTag> tags, TagScheme scheme);

// Whether a scheme allows one tag after another; nullptr stands for the ends of the sequence.
bool may_follow(TagScheme scheme, const SpanTag* before, const SpanTag* after);

// Counts of spans by type, which can be summed over sequences: a span is correct if both ends and
// the type are.
struct SpanCounts {
  std::map<std::string, ClassCounts, std::less<>> types;

  // Adds the spans of other sequences.
  SpanCounts& operator+=(const SpanCounts& other);
  ClassScore score(ClassAverage average) const;
};

// The spans of one sequence. Throws DataError if it has more gold tags than predicted ones or
// fewer.
SpanCounts count_spans(std::span<const std::string_view> gold,
                       std::span<const std::string_view> predicted,
                       TagScheme scheme = TagScheme::kAny);

}  // namespace attend
