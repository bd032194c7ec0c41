// Configs (attend/base/fields.h) as JSON, YAML and command-line flags, and the differences between
// two of them.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/base/fields.h"

namespace attend {

struct Document;

// A field as a command-line flag.
struct Flag {
  std::string path;  // "optimizer.rate", for --optimizer.rate
  std::string type;  // "number", "integer", "path", ... with "..." after it for a list
  std::string help;
  std::string default_text;          // as set_flag takes it
  std::vector<std::string> choices;  // of an enum or a bool
  Range range = {};                  // of an integer
  bool list = false;
};

// A field that differs between two configs, with both values as text.
struct Difference {
  std::string path, before, after;
  bool operator==(const Difference&) const = default;
};

namespace detail {
std::string to_json(const FieldList& list);
std::string to_yaml(const FieldList& list, bool with_help);
void set_flag(const FieldList& list, std::string_view path, std::string_view text);
std::vector<Flag> flags_of(const FieldList& list);
std::vector<Difference> differences(const FieldList& before, const FieldList& after);

// A text as a tree; what it says of fields that decide which others there are; and all it says.
class ParsedConfig {
 public:
  static ParsedConfig json(std::string_view text, std::string_view origin);
  static ParsedConfig yaml(std::string_view text, std::string_view origin);
  static ParsedConfig file(const std::filesystem::path& path);

  bool decide(const FieldList& list) const;  // whether that changed any
  void read(const FieldList& list) const;

 private:
  ParsedConfig(std::shared_ptr<const Document> tree, std::string origin);
  std::shared_ptr<const Document> tree_;
  std::string origin_;
};

// Changes all of `config` or, when reading throws, nothing.
template <typename Config>
void change(Config& config, const ParsedConfig& text) {
  Config changed = config;
  while (text.decide(fields_of(changed))) {
  }
  text.read(fields_of(changed));
  config = std::move(changed);
}
}  // namespace detail

// All fields, in order. Reading the text back gives an equal config.
template <typename Config>
std::string to_json(Config config) {
  return detail::to_json(fields_of(config));
}
// The same as YAML, with the help as comments if asked for.
template <typename Config>
std::string to_yaml(Config config, bool with_help = false) {
  return detail::to_yaml(fields_of(config), with_help);
}

// Sets the fields that the text names and leaves the others unchanged; changes nothing if it
// throws. Unknown, repeated or wrongly typed keys throw ConfigError with the line and the nearest
// known key; text that cannot be parsed throws FormatError. `origin` names the text in messages.
template <typename Config>
void read_json(Config& config, std::string_view text, std::string_view origin) {
  detail::change(config, detail::ParsedConfig::json(text, origin));
}
// The same from YAML.
template <typename Config>
void read_yaml(Config& config, std::string_view text, std::string_view origin) {
  detail::change(config, detail::ParsedConfig::yaml(text, origin));
}
// The same from a file: JSON if its name ends in .json, otherwise YAML. Throws IoError.
template <typename Config>
void read_config(Config& config, const std::filesystem::path& path) {
  detail::change(config, detail::ParsedConfig::file(path));
}

// The text of a config file. Throws IoError, and FormatError if it is too large for one.
std::string config_text(const std::filesystem::path& path);

// The paths of all values in a text, such as "model.kind". The text is JSON or YAML by the name, as
// in read_config.
std::vector<std::string> paths_in(std::string_view text, std::string_view origin);

// One value as text, before its config is known: peek(text, "model.kind", path). None if it is
// missing. The text is JSON or YAML by the name, as in read_config.
std::optional<std::string> peek(std::string_view text, std::string_view path,
                                std::string_view origin);

// Sets one field, "optimizer.rate" to "1e-3". Dashes are underscores, commas separate the items of
// a list, and "none" unsets an optional. Throws ConfigError.
template <typename Config>
void set_flag(Config& config, std::string_view path, std::string_view text) {
  detail::set_flag(fields_of(config), path, text);
}
// The flags of a config, with its values as defaults.
template <typename Config>
std::vector<Flag> flags_of(Config defaults = {}) {
  return detail::flags_of(fields_of(defaults));
}

// The fields that differ, in order.
template <typename Config>
std::vector<Difference> differences(Config before, Config after) {
  return detail::differences(fields_of(before), fields_of(after));
}
// Whether all fields are equal.
template <typename Config>
bool same_config(const Config& a, const Config& b) {
  return differences(a, b).empty();
}

}  // namespace attend
