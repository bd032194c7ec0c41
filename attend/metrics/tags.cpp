#include "attend/metrics/tags.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/base/printable.h"

namespace attend {
namespace {

constexpr SpanTag kOutsideTag;

bool inside_span(TagPart part) { return part == TagPart::kBegin || part == TagPart::kInside; }
bool continues_span(TagPart part) { return part == TagPart::kInside || part == TagPart::kLast; }

// Whether a tag belongs to the span of the tag before it.
bool continues(const SpanTag& before, const SpanTag& tag) {
  return inside_span(before.part) && continues_span(tag.part) && tag.type == before.type;
}

// Whether a span may begin with a tag after another.
bool begins(TagScheme scheme, const SpanTag& before, const SpanTag& tag) {
  switch (scheme) {
    case TagScheme::kAny:
      return tag.part != TagPart::kOutside;
    case TagScheme::kIob1:
      if (tag.part == TagPart::kBegin) return before.type == tag.type;
      return tag.part == TagPart::kInside &&
             !(before.part == TagPart::kInside && before.type == tag.type);
    case TagScheme::kIob2:
      return tag.part == TagPart::kBegin;
    case TagScheme::kIobes:
      return tag.part == TagPart::kBegin || tag.part == TagPart::kSingle;
  }
  return false;
}

// Whether a span may end with a tag before another.
bool ends(TagScheme scheme, const SpanTag& last, const SpanTag& next) {
  if (scheme == TagScheme::kIobes) {
    return last.part == TagPart::kLast || last.part == TagPart::kSingle;
  }
  const bool two_begin = last.part == TagPart::kBegin && next.part == TagPart::kBegin;
  return scheme != TagScheme::kIob1 || !two_begin || last.type == next.type;
}

bool has(TagScheme scheme, TagPart part) {
  return scheme == TagScheme::kAny || scheme == TagScheme::kIobes ||
         (part != TagPart::kLast && part != TagPart::kSingle);
}

}  // namespace

std::optional<SpanTag> span_tag(std::string_view tag) {
  if (tag == "O") return kOutsideTag;
  if (tag.empty() || (tag.size() > 1 && tag[1] != '-')) return std::nullopt;
  const std::string_view type = tag.size() > 2 ? tag.substr(2) : "_";
  switch (tag.front()) {
    case 'B':
      return SpanTag{TagPart::kBegin, type};
    case 'I':
      return SpanTag{TagPart::kInside, type};
    case 'E':
    case 'L':
      return SpanTag{TagPart::kLast, type};
    case 'S':
    case 'U':
      return SpanTag{TagPart::kSingle, type};
    default:
      return std::nullopt;
  }
}

std::vector<SpanTag> span_tags(std::span<const std::string_view> tags) {
  std::vector<SpanTag> found;
  for (const std::string_view text : tags) {
    const auto tag = span_tag(text);
    if (!tag) {
      throw DataError("'{}' is not a tag of spans; they look like B-PER, I-PER and O",
                      shown_name(text));
    }
    found.push_back(*tag);
  }
  return found;
}

std::vector<TagSpan> spans_of(std::span<const SpanTag> tags, TagScheme scheme) {
  if (!std::ranges::all_of(tags, [&](const SpanTag& tag) { return has(scheme, tag.part); })) {
    throw DataError("tags: {} has no tags that begin with E or S (or L or U); use iobes, or any",
                    name_from_value(kTagSchemes, scheme));
  }
  const auto at = [&](size_t i) { return i < tags.size() ? tags[i] : kOutsideTag; };
  std::vector<TagSpan> found;
  for (size_t begin = 0, end = 0; begin < tags.size(); begin = end) {
    end = begin + 1;
    if (!begins(scheme, begin == 0 ? kOutsideTag : tags[begin - 1], tags[begin])) continue;
    while (end < tags.size() && continues(tags[end - 1], tags[end])) ++end;
    if (ends(scheme, tags[end - 1], at(end))) found.push_back({begin, end, tags[begin].type});
  }
  return found;
}

bool may_follow(TagScheme scheme, const SpanTag* before, const SpanTag* after) {
  if (scheme == TagScheme::kAny) return true;
  const SpanTag& last = before == nullptr ? kOutsideTag : *before;
  const SpanTag& tag = after == nullptr ? kOutsideTag : *after;
  if (!has(scheme, last.part) || !has(scheme, tag.part)) return false;
  if (continues(last, tag)) return true;
  if (last.part != TagPart::kOutside && !ends(scheme, last, tag)) return false;
  return tag.part == TagPart::kOutside || begins(scheme, last, tag);
}

SpanCounts& SpanCounts::operator+=(const SpanCounts& other) {
  for (const auto& [type, counts] : other.types) types[type] += counts;
  return *this;
}

ClassScore SpanCounts::score(ClassAverage average) const {
  std::vector<ClassCounts> all;
  for (const auto& [type, counts] : types) all.push_back(counts);
  return average_score(all, average);
}

SpanCounts count_spans(std::span<const std::string_view> gold,
                       std::span<const std::string_view> predicted, TagScheme scheme) {
  if (gold.size() != predicted.size()) {
    throw DataError("tags: {} gold tags but {} predicted ones; each token has one of both",
                    gold.size(), predicted.size());
  }
  const std::vector<SpanTag> right = span_tags(gold), given = span_tags(predicted);
  const std::vector<TagSpan> expected = spans_of(right, scheme), found = spans_of(given, scheme);
  SpanCounts counts;
  for (const TagSpan& span : expected) ++counts.types[std::string(span.type)].gold;
  auto next = expected.begin();
  for (const TagSpan& span : found) {
    ClassCounts& type = counts.types[std::string(span.type)];
    ++type.predicted;
    while (next != expected.end() && next->begin < span.begin) ++next;
    if (next != expected.end() && *next == span) ++type.correct;
  }
  return counts;
}

}  // namespace attend
