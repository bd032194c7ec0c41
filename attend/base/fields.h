// A config is a plain struct with defaults that lists its fields once:
//
//   struct OptimizerConfig {
//     double rate = 1e-3;
//     template <typename V> void fields(V& v) { v("rate", rate, "learning rate at its peak"); }
//   };
//
// A field is a bool, an integer, a float, a string, a path, a MemorySize, a Duration, an enum, a
// Choice, a vector or an optional of those, or another config. An integer also has a range, which
// holds wherever its value comes from:
//
//   v("width", width, "of a token's vector", Range{1, 65536});
//
// A Choice may decide which fields follow it (base/any_config.h), so it is set before them.
// v.old(name, field) also reads a field under its name in earlier versions.
//
// attend/io/config.h makes JSON, YAML and flags from the list.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace attend {

// Bytes, written "512MB" or "1.5GB" (units of 1024).
struct MemorySize {
  size_t bytes = 0;
  bool operator==(const MemorySize&) const = default;
};

// Whole seconds, written "90s", "30m" or "1h30m".
struct Duration {
  int64_t seconds = 0;
  bool operator==(const Duration&) const = default;
};

// One of the names in a registry; kNames lists them.
template <std::vector<std::string> (*kNames)()>
struct Choice {
  std::string name;

  Choice() = default;
  Choice(std::string_view chosen) : name(chosen) {}     // NOLINT: a name is what it is
  operator const std::string&() const { return name; }  // NOLINT
  bool operator==(const Choice&) const = default;
};

// An enum can be a field when name_of(value) is found beside it, its values count from 0, and
// name_of gives "unknown" past the last (as name_from_value does).
template <typename T>
concept NamedEnum = std::is_enum_v<T> && requires(T value) {
  { name_of(value) } -> std::convertible_to<std::string_view>;
};

// What a field holds, whether alone, in a list or in an optional.
enum class FieldKind { kBool, kInteger, kNumber, kText, kPath, kChoice, kMemory, kDuration };

// The values that an integer may have, both ends included.
struct Range {
  long long low = std::numeric_limits<long long>::min();
  unsigned long long high = std::numeric_limits<unsigned long long>::max();
  bool operator==(const Range&) const = default;
  // The same range, with 0 allowed as well.
  constexpr Range or_0() const { return {0, high}; }
};

// A value as text: one string for a scalar, one per item for a list, and nullopt for an optional
// that is not set.
using FieldTexts = std::optional<std::vector<std::string>>;

// How values of one type are described, printed and parsed.
struct FieldType {
  FieldKind kind = FieldKind::kText;
  bool list = false, optional = false;
  std::string expected;              // "a number", "one of adamw, adam, sgd", "a list of paths"
  std::vector<std::string> choices;  // of an enum, a Choice or a bool
  FieldTexts (*get)(const void* value) = nullptr;
  // Parses and checks the texts. Returns false, and changes nothing, if they are not what is
  // expected.
  bool (*set)(void* value, const FieldTexts& texts, const Range& range) = nullptr;
  bool decides = false;  // whether its value may decide which other fields there are, so that it
                         // must be set first
};

// A reference to one field of a config, which must outlive it. Nested ones have dotted paths.
struct Field {
  std::string path, help;
  const FieldType* type;
  void* value;
  Range range = {};  // of an integer

  // The value as text, and the value from text: false, with nothing changed, if it is not valid.
  FieldTexts get() const { return type->get(value); }
  bool set(const FieldTexts& texts) const { return type->set(value, texts, range); }
  std::string expected() const;  // what a valid value is, for messages, with the range
};

// Fields in the order of the config's own list.
struct FieldList {
  // A nested config.
  struct Section {
    std::string path, help;
  };
  // A nested config that another Choice would bring: the fields it would have, which belong to a
  // copy and change nothing.
  struct Unused {
    Section section;
    std::string why;  // "the model is a transformer"
    std::function<FieldList()> fields;
  };
  std::vector<Field> fields;
  std::vector<Section> sections;
  std::vector<Unused> unused;
  // Names from earlier versions: still read from files, but neither written nor listed.
  std::vector<Field> old_fields;
  std::vector<Section> old_sections;
  std::shared_ptr<void> keeps = nullptr;  // owns what the fields refer to, where nothing else does
};

// The known name that `name` was probably meant to be; empty if none is close.
std::string nearest_name(std::string_view name, std::span<const std::string> known);

namespace detail {

bool parse_field(std::string_view text, bool& value);
bool parse_field(std::string_view text, float& value);
bool parse_field(std::string_view text, double& value);
bool parse_field(std::string_view text, std::string& value);
bool parse_field(std::string_view text, std::filesystem::path& value);
bool parse_field(std::string_view text, MemorySize& value);
bool parse_field(std::string_view text, Duration& value);
bool parse_signed(std::string_view text, long long low, long long high, long long& value);
bool parse_unsigned(std::string_view text, unsigned long long high, unsigned long long& value);

std::string print_field(bool value);
std::string print_field(float value);
std::string print_field(double value);
std::string print_field(const std::string& value);
std::string print_field(const std::filesystem::path& value);
std::string print_field(const MemorySize& value);
std::string print_field(const Duration& value);

FieldType bool_type();
FieldType integer_type(long long low, unsigned long long high);
FieldType plain_type(FieldKind kind);
FieldType choice_type(std::vector<std::string> choices);
FieldType list_type(FieldType item);
FieldType optional_type(FieldType inner);

template <typename T>
constexpr bool kInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;

template <typename T>
requires kInteger<T>
bool parse_field(std::string_view text, T& value) {
  std::conditional_t<std::is_signed_v<T>, long long, unsigned long long> wide = 0;
  constexpr T kHigh = std::numeric_limits<T>::max();
  if constexpr (std::is_signed_v<T>) {
    if (!parse_signed(text, std::numeric_limits<T>::min(), kHigh, wide)) return false;
  } else {
    if (!parse_unsigned(text, kHigh, wide)) return false;
  }
  value = static_cast<T>(wide);
  return true;
}
template <typename T>
requires kInteger<T> std::string print_field(T value) { return std::to_string(value); }

template <NamedEnum T>
std::vector<std::string> choices_of() {
  std::vector<std::string> choices;
  for (int i = 0;; ++i) {
    const std::string_view name = name_of(static_cast<T>(i));
    if (name == "unknown") return choices;
    choices.emplace_back(name);
  }
}
template <NamedEnum T>
bool parse_field(std::string_view text, T& value) {
  const std::vector<std::string> choices = choices_of<T>();
  for (size_t i = 0; i < choices.size(); ++i) {
    if (choices[i] != text) continue;
    value = static_cast<T>(i);
    return true;
  }
  return false;
}
template <NamedEnum T>
std::string print_field(T value) {
  return std::string(name_of(value));
}

template <std::vector<std::string> (*kNames)()>
bool parse_field(std::string_view text, Choice<kNames>& value) {
  const std::vector<std::string> names = kNames();
  if (std::ranges::find(names, text) == names.end()) return false;
  value.name = text;
  return true;
}
template <std::vector<std::string> (*kNames)()>
std::string print_field(const Choice<kNames>& value) {
  return value.name;
}

// Only integers have one.
template <typename T>
bool within(const T& value, const Range& range) {
  if constexpr (!kInteger<T>)
    return true;
  else
    return std::cmp_greater_equal(value, range.low) && std::cmp_less_equal(value, range.high);
}

// How values of T are described, printed and parsed.
template <typename T>
struct Scalar {
  static FieldType type() {
    if constexpr (std::is_same_v<T, bool>) return bool_type();
    if constexpr (kInteger<T>) {
      return integer_type(std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    }
    if constexpr (std::is_floating_point_v<T>) return plain_type(FieldKind::kNumber);
    if constexpr (std::is_same_v<T, std::string>) return plain_type(FieldKind::kText);
    if constexpr (std::is_same_v<T, std::filesystem::path>) return plain_type(FieldKind::kPath);
    if constexpr (std::is_same_v<T, MemorySize>) return plain_type(FieldKind::kMemory);
    if constexpr (std::is_same_v<T, Duration>) return plain_type(FieldKind::kDuration);
    if constexpr (NamedEnum<T>) return choice_type(choices_of<T>());
  }
  static FieldTexts get(const T& value) { return std::vector{print_field(value)}; }
  static bool set(T& value, const FieldTexts& texts, const Range& range) {
    return texts && texts->size() == 1 && parse(value, texts->front(), range);
  }
  static bool parse(T& value, std::string_view text, const Range& range) {
    T parsed{};
    if (!parse_field(text, parsed) || !within(parsed, range)) return false;
    value = std::move(parsed);
    return true;
  }
};

template <std::vector<std::string> (*kNames)()>
struct Scalar<Choice<kNames>> {
  using T = Choice<kNames>;
  static FieldType type() {
    FieldType made = choice_type(kNames());
    made.decides = true;
    return made;
  }
  static FieldTexts get(const T& value) { return std::vector{value.name}; }
  static bool set(T& value, const FieldTexts& texts, const Range&) {
    return texts && texts->size() == 1 && parse_field(texts->front(), value);
  }
};

template <typename T>
struct Scalar<std::vector<T>> {
  static FieldType type() { return list_type(Scalar<T>::type()); }
  static FieldTexts get(const std::vector<T>& values) {
    std::vector<std::string> texts(values.size());
    std::ranges::transform(values, texts.begin(), [](const T& v) { return print_field(v); });
    return texts;
  }
  static bool set(std::vector<T>& values, const FieldTexts& texts, const Range& range) {
    if (!texts) return false;
    std::vector<T> parsed;
    for (const std::string& text : *texts) {
      if (std::is_same_v<T, std::filesystem::path> && text.empty()) continue;  // no file
      T value{};
      if (!Scalar<T>::parse(value, text, range)) return false;
      parsed.push_back(std::move(value));
    }
    values = std::move(parsed);
    return true;
  }
};

template <typename T>
struct Scalar<std::optional<T>> {
  static FieldType type() { return optional_type(Scalar<T>::type()); }
  static FieldTexts get(const std::optional<T>& value) {
    return value ? Scalar<T>::get(*value) : FieldTexts();
  }
  static bool set(std::optional<T>& value, const FieldTexts& texts, const Range& range) {
    if (!texts) {
      value.reset();
      return true;
    }
    T parsed{};
    if (!Scalar<T>::set(parsed, texts, range)) return false;
    value = std::move(parsed);
    return true;
  }
};

// One for each type of field, not for each field: what a config adds to the program is its list.
template <typename T>
const FieldType& field_type() {
  static const FieldType type = [] {
    FieldType made = Scalar<T>::type();
    made.get = [](const void* value) { return Scalar<T>::get(*static_cast<const T*>(value)); };
    made.set = [](void* value, const FieldTexts& texts, const Range& range) {
      return Scalar<T>::set(*static_cast<T*>(value), texts, range);
    };
    return made;
  }();
  return type;
}

class FieldCollector {
 public:
  template <typename T>
  void operator()(std::string_view name, T& value, std::string_view help = "", Range range = {}) {
    std::string path = prefix_ + std::string(name);
    if constexpr (requires { value.fields(*this); }) {
      list.sections.push_back({path, std::string(help)});
      const std::string before = std::exchange(prefix_, path + ".");
      value.fields(*this);
      prefix_ = before;
    } else {
      list.fields.push_back({std::move(path), std::string(help), &field_type<T>(), &value, range});
    }
  }

  // A section that another Choice would bring; `make` gives its defaults.
  template <typename Make>
  void unused(std::string_view name, std::string_view help, std::string why, const Make& make) {
    const std::string path = prefix_ + std::string(name);
    list.unused.push_back({{path, std::string(help)}, std::move(why), [path, make] {
                             auto config = std::make_shared<decltype(make())>(make());
                             FieldCollector collector;
                             collector.prefix_ = path + ".";
                             config->fields(collector);
                             collector.list.keeps = config;
                             return std::move(collector.list);
                           }});
  }

  // The name of a field or section in earlier versions.
  template <typename T>
  void old(std::string_view name, T& value, Range range = {}) {
    FieldCollector named;
    named.prefix_ = prefix_;
    named(name, value, "", range);
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(list.old_fields, named.list.fields);
    append(list.old_sections, named.list.sections);
  }

  FieldList list;

 private:
  std::string prefix_;
};

}  // namespace detail

// The fields of `config`. They refer to it, so it must outlive them.
template <typename Config>
FieldList fields_of(Config& config) {
  detail::FieldCollector collector;
  config.fields(collector);
  return std::move(collector.list);
}

namespace detail {
void check_ranges(const FieldList& list, std::string_view what);
}

// Throws ConfigError if an integer is out of its range. For configs that a program filled in:
// values from files and flags are checked when they are set. `what` begins the message.
template <typename Config>
void check_ranges(Config config, std::string_view what) {
  detail::check_ranges(fields_of(config), what);
}

}  // namespace attend
