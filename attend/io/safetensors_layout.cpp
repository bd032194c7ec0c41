// The tensors of a safetensors file in order: of their places, to check them, and of their names.
#include <algorithm>
#include <compare>
#include <cstdint>

#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/io/safetensors_header.h"

namespace attend {
namespace {

using Entry = SafetensorsFile::Entry;

// Where a tensor lies, to be sorted with less to move than an Entry.
struct Place {
  size_t begin, bytes;
  const Entry* entry;

  auto operator<=>(const Place&) const = default;
};

// A tensor by its name, most of which differ within eight bytes.
struct ByName {
  uint64_t start = 0;  // of the name, in the order of numbers
  Entry* entry;

  explicit ByName(Entry& named) : entry(&named) {
    for (size_t i = 0; i < sizeof start; ++i) {
      const bool there = i < named.name.size();
      start = start << 8 | (there ? static_cast<unsigned char>(named.name[i]) : 0);
    }
  }
  bool operator<(const ByName& other) const {
    return start != other.start ? start < other.start : entry->name < other.entry->name;
  }
};

}  // namespace

void check_layout(std::span<const Entry> entries, size_t data_size, std::string_view origin) {
  std::vector<Place> places;
  places.reserve(entries.size());
  for (const Entry& entry : entries) places.push_back({entry.begin, entry.bytes, &entry});
  if (!std::ranges::is_sorted(places)) std::ranges::sort(places);
  size_t end = 0;
  for (const Place& place : places) {
    if (place.begin < end) {
      throw FormatError("{}: '{}' overlaps another tensor", origin, shown_name(place.entry->name));
    }
    if (place.begin > end) {
      throw FormatError("{}: bytes {} to {} of the data belong to no tensor", origin, end,
                        place.begin);
    }
    end = place.begin + place.bytes;
  }
  if (end != data_size) {
    throw FormatError("{}: has {} bytes of data, but its tensors take {}", origin, data_size, end);
  }
}

void sort_by_name(std::vector<Entry>& entries, std::string_view origin) {
  if (!std::ranges::is_sorted(entries, {}, &Entry::name)) {
    std::vector<ByName> order;
    order.reserve(entries.size());
    for (Entry& entry : entries) order.emplace_back(entry);
    std::sort(order.begin(), order.end());
    std::vector<Entry> sorted;
    sorted.reserve(entries.size());
    for (const ByName& each : order) sorted.push_back(std::move(*each.entry));
    entries = std::move(sorted);
  }
  const auto twice = std::ranges::adjacent_find(entries, {}, &Entry::name);
  if (twice != entries.end()) {
    throw FormatError("{}: '{}' is there twice", origin, shown_name(twice->name));
  }
}

}  // namespace attend
