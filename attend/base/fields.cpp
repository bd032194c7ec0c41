#include "attend/base/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "attend/base/error.h"

namespace attend {
namespace {

template <typename T>
bool parse_whole(std::string_view text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && !text.empty();
}

// "1e6" is a whole number too, up to where a double holds every one.
bool parse_exponent(std::string_view text, double& value) {
  return parse_whole(text, value) && std::abs(value) <= 9007199254740992.0 &&
         value == std::trunc(value);
}

template <typename T>
bool parse_float(std::string_view text, T& value) {
  const bool negative = text.starts_with('-');
  const std::string_view size = text.substr(negative ? 1 : 0);
  if (size == ".inf" || size == ".Inf" || size == ".INF") {  // YAML's way
    value = negative ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
    return true;
  }
  if (text == ".nan" || text == ".NaN" || text == ".NAN") text.remove_prefix(1);
  return parse_whole(text, value);
}

// Insertions, deletions, replacements and swaps of neighbours that turn a into b.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> older(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(older, previous);
    std::swap(previous, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], older[j - 2] + 1);
    }
  }
  return row[b.size()];
}

constexpr struct {
  std::string_view name;
  unsigned shift;
} kUnits[] = {{"TB", 40}, {"GB", 30}, {"MB", 20}, {"KB", 10}, {"B", 0}};

}  // namespace

std::string nearest_name(std::string_view name, std::span<const std::string> known) {
  constexpr size_t kLongest = 100;  // no name is, and the distance takes time of its square
  if (name.size() > kLongest) return {};
  const std::string* nearest = nullptr;
  // Of equally near ones, one as long: a letter is mistaken more often than left out.
  std::pair<size_t, bool> best = {std::max<size_t>(2, name.size() / 3) + 1, false};
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(name, candidate);
    const std::pair<size_t, bool> found = {distance, candidate.size() != name.size()};
    if (found >= best || distance >= candidate.size()) continue;
    best = found;
    nearest = &candidate;
  }
  return nearest != nullptr ? *nearest : std::string();
}

std::string Field::expected() const {
  const bool whole = type->kind == FieldKind::kInteger;
  if (!whole || range == Range()) return type->expected;
  std::string text = fmt::format("a whole number from {} to {}", range.low, range.high);
  if (type->list) text = "a list, each item " + text;
  return type->optional ? text + " or none" : text;
}

namespace detail {

void check_ranges(const FieldList& list, std::string_view what) {
  for (const Field& field : list.fields) {
    if (field.type->kind != FieldKind::kInteger) continue;
    const FieldTexts given = field.get();
    if (!given || field.set(given)) continue;
    throw ConfigError("{}: {} is {}, not {}", what, field.path, fmt::join(*given, ","),
                      field.expected());
  }
}

bool parse_field(std::string_view text, bool& value) {
  const bool yes = text == "true" || text == "yes" || text == "on";
  const bool no = text == "false" || text == "no" || text == "off";
  if (yes || no) value = yes;
  return yes || no;
}
bool parse_field(std::string_view text, float& value) { return parse_float(text, value); }
bool parse_field(std::string_view text, double& value) { return parse_float(text, value); }
bool parse_field(std::string_view text, std::string& value) {
  value = text;
  return true;
}
bool parse_field(std::string_view text, std::filesystem::path& value) {
  value = text;
  return true;
}

bool parse_signed(std::string_view text, long long low, long long high, long long& value) {
  double exponent = 0;
  if (!parse_whole(text, value)) {
    if (!parse_exponent(text, exponent)) return false;
    value = static_cast<long long>(exponent);
  }
  return value >= low && value <= high;
}

bool parse_unsigned(std::string_view text, unsigned long long high, unsigned long long& value) {
  double exponent = 0;
  if (!parse_whole(text, value)) {
    if (!parse_exponent(text, exponent) || exponent < 0) return false;
    value = static_cast<unsigned long long>(exponent);
  }
  return value <= high;
}

bool parse_field(std::string_view text, MemorySize& value) {
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string unit;
  for (const char c : text.substr(digits)) {
    if (c == ' ' || c == 'i') continue;  // "4 GB", "4GiB"
    unit += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  if (unit.empty() || unit.back() != 'B') unit += 'B';  // "4G"
  const auto found = std::find_if(std::begin(kUnits), std::end(kUnits),
                                  [&](const auto& known) { return known.name == unit; });
  double amount = 0;
  if (found == std::end(kUnits) || !parse_whole(text.substr(0, digits), amount)) return false;
  const double bytes = std::ldexp(amount, static_cast<int>(found->shift));
  if (!(bytes >= 0 && bytes < 9.2e18)) return false;
  value.bytes = static_cast<size_t>(bytes);
  return true;
}

std::string print_field(bool value) { return value ? "true" : "false"; }
std::string print_field(float value) { return fmt::format("{}", value); }
std::string print_field(double value) { return fmt::format("{}", value); }
std::string print_field(const std::string& value) { return value; }
std::string print_field(const std::filesystem::path& value) { return value.string(); }
bool parse_field(std::string_view text, Duration& value) {
  constexpr std::pair<char, int64_t> kParts[] = {{'h', 3600}, {'m', 60}, {'s', 1}};
  if (text == "0") return value = {}, true;
  double total = 0;
  const auto* part = std::begin(kParts);
  while (!text.empty()) {
    const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    double amount = 0;
    if (digits == text.size() || !parse_whole(text.substr(0, digits), amount)) return false;
    // The largest first, each once.
    while (part != std::end(kParts) && part->first != text[digits]) ++part;
    if (part == std::end(kParts)) return false;
    total += amount * static_cast<double>(part++->second);
    text.remove_prefix(digits + 1);
  }
  if (!(total >= 1 && total <= 1e9)) return false;
  value.seconds = static_cast<int64_t>(std::llround(total));
  return true;
}

std::string print_field(const Duration& value) {
  const int64_t hours = value.seconds / 3600, minutes = value.seconds / 60 % 60;
  std::string text;
  if (hours > 0) text += fmt::format("{}h", hours);
  if (minutes > 0) text += fmt::format("{}m", minutes);
  if (value.seconds % 60 > 0) text += fmt::format("{}s", value.seconds % 60);
  return text.empty() ? "0" : text;
}

std::string print_field(const MemorySize& value) {
  for (const auto& [name, shift] : kUnits) {
    const size_t unit = size_t{1} << shift;
    if (value.bytes >= unit && value.bytes % unit == 0) {
      return fmt::format("{}{}", value.bytes >> shift, name);
    }
  }
  return "0B";
}

FieldType bool_type() {
  return {.kind = FieldKind::kBool, .expected = "true or false", .choices = {"true", "false"}};
}

FieldType integer_type(long long low, unsigned long long high) {
  FieldType type{.kind = FieldKind::kInteger, .expected = "a whole number"};
  if (low == 0) type.expected += " of 0 or more";
  if (high <= std::numeric_limits<unsigned>::max()) {
    type.expected = fmt::format("a whole number from {} to {}", low, high);
  }
  return type;
}

FieldType plain_type(FieldKind kind) {
  const char* const expected = kind == FieldKind::kNumber     ? "a number"
                               : kind == FieldKind::kPath     ? "a path"
                               : kind == FieldKind::kMemory   ? "a size such as 512MB or 4GB"
                               : kind == FieldKind::kDuration ? "a time such as 90s, 30m or 1h30m"
                                                              : "text";
  return {.kind = kind, .expected = expected};
}

FieldType choice_type(std::vector<std::string> choices) {
  FieldType type{.kind = FieldKind::kChoice, .choices = std::move(choices)};
  type.expected = fmt::format("one of {}", fmt::join(type.choices, ", "));
  return type;
}

FieldType list_type(FieldType item) {
  item.list = true;
  item.expected = fmt::format("a list, each item {}", item.expected);
  return item;
}

FieldType optional_type(FieldType inner) {
  inner.optional = true;
  inner.expected += " or none";
  return inner;
}

}  // namespace detail
}  // namespace attend
