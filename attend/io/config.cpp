#include "attend/io/config.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/base/printable.h"
#include "attend/io/document.h"

namespace attend {
namespace {

std::string place(std::string_view origin, size_t line) {
  return line == 0 ? std::string(origin) : fmt::format("{}:{}", origin, line);
}

// JSON if the name of the text ends in .json, YAML otherwise.
bool is_json(std::string_view origin) { return origin.ends_with(".json"); }

Document parse(std::string_view text, std::string_view origin) {
  return is_json(origin) ? parse_json(text, origin) : parse_yaml(text, origin);
}

// Where an unknown key was probably meant to go.
std::string suggestion(const FieldList& list, const std::string& path) {
  const size_t dot = path.rfind('.') + 1;  // 0 at the top
  std::vector<std::string> siblings, paths;
  for (const Field& field : list.fields) {
    paths.push_back(field.path);
    if (field.path.ends_with("." + path.substr(dot))) {
      return fmt::format("did you mean '{}'?", field.path);
    }
  }
  for (const FieldList::Section& section : list.sections) paths.push_back(section.path);
  for (const std::string& known : paths) {
    const bool inside = known.starts_with(path.substr(0, dot));
    if (inside && known.find('.', dot) == std::string::npos) siblings.push_back(known.substr(dot));
  }
  const std::string near = nearest_name(path.substr(dot), siblings);
  if (!near.empty()) return fmt::format("did you mean '{}{}'?", path.substr(0, dot), near);
  const std::string elsewhere = nearest_name(path, paths);
  if (!elsewhere.empty()) return fmt::format("did you mean '{}'?", elsewhere);
  return fmt::format("there are: {}", fmt::join(siblings.empty() ? paths : siblings, ", "));
}

// Sets the fields of a config from a tree, checking every key.
class Reader {
 public:
  Reader(const FieldList& list, std::string_view origin) : list_(list), origin_(origin) {}

  void read(const Document& map, const std::string& prefix = "") {
    if (map.kind == Document::Kind::kNull) return;  // "optimizer:" with nothing beneath it
    if (map.kind != Document::Kind::kMap) {
      throw ConfigError("{}: expected settings by name{}, not {}", place(origin_, map.line),
                        prefix.empty() ? "" : " in '" + prefix.substr(0, prefix.size() - 1) + "'",
                        shown(map));
    }
    for (size_t i = 0; i < map.items.size(); ++i) {
      const std::string path = prefix + map.keys[i];
      expect_new(path, map.key_lines[i]);
      if (const Field* field = find_field(path)) {
        set(*field, map.items[i], map.key_lines[i]);
      } else if (find(list_.sections, path) != nullptr ||
                 find(list_.old_sections, path) != nullptr) {
        read_section(path, map.items[i], map.key_lines[i]);
      } else if (const FieldList::Unused* unused = find_unused(path)) {
        read_unused(*unused, map.items[i], map.key_lines[i]);
      } else {
        throw ConfigError("{}: unknown key '{}'; {}", place(origin_, map.key_lines[i]),
                          shown_name(path), suggestion(list_, path));
      }
    }
  }

  // Sets the fields that decide which others there are, in sections that are there already.
  bool decide(const Document& map, const std::string& prefix = "") {
    if (map.kind != Document::Kind::kMap) return false;  // read() refuses it
    bool changed = false;
    for (size_t i = 0; i < map.items.size(); ++i) {
      const std::string path = prefix + map.keys[i];
      const Field* field = find(list_.fields, path);
      if (field != nullptr && field->type->decides) {
        expect_new(path, map.key_lines[i]);
        const FieldTexts before = field->get();
        set(*field, map.items[i], map.key_lines[i]);
        changed |= field->get() != before;
      } else if (find(list_.sections, path) != nullptr) {
        changed |= map.items[i].kind == Document::Kind::kScalar
                       ? decide_by_word(path, map.items[i], map.key_lines[i])
                       : decide(map.items[i], path + ".");
      }
    }
    return changed;
  }

 private:
  // "encoder: rnn" is short for "encoder: {kind: rnn}".
  const Field* kind_field(const std::string& path) const {
    const Field* field = find(list_.fields, path + ".kind");
    return field != nullptr && field->type->decides ? field : nullptr;
  }

  void expect_new(const std::string& path, size_t line) {
    if (seen_.insert(path).second) return;
    throw ConfigError("{}: '{}' is set twice", place(origin_, line), shown_name(path));
  }

  bool decide_by_word(const std::string& path, const Document& word, size_t line) {
    const Field* kind = kind_field(path);
    if (kind == nullptr) return false;
    expect_new(kind->path, line);
    const FieldTexts before = kind->get();
    set(*kind, word, line);
    return kind->get() != before;
  }

  void read_section(const std::string& path, const Document& value, size_t line) {
    const Field* kind = value.kind == Document::Kind::kScalar ? kind_field(path) : nullptr;
    if (kind == nullptr) return read(value, path + ".");
    expect_new(kind->path, line);
    set(*kind, value, line);
  }

  const Field* find_field(const std::string& path) const {
    const Field* const field = find(list_.fields, path);
    return field != nullptr ? field : find(list_.old_fields, path);
  }

  const FieldList::Unused* find_unused(const std::string& path) const {
    const auto found = std::ranges::find_if(
        list_.unused, [&](const FieldList::Unused& u) { return u.section.path == path; });
    return found == list_.unused.end() ? nullptr : &*found;
  }

  // It may say what is so anyway; a vocabulary is what the text gave.
  void read_unused(const FieldList::Unused& unused, const Document& map, size_t line) const {
    const FieldList given = unused.fields(), defaults = unused.fields();
    FieldList nested = given;
    nested.sections.push_back(unused.section);
    Reader(nested, origin_).read(map, unused.section.path + ".");
    for (const Difference& d : detail::differences(defaults, given)) {
      if (d.path.ends_with("_vocabulary")) continue;
      throw ConfigError("{}: '{}' = {} would change nothing: {}", place(origin_, line), d.path,
                        d.after, unused.why);
    }
  }

  template <typename Entry>
  static const Entry* find(const std::vector<Entry>& entries, const std::string& path) {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const Entry& entry) { return entry.path == path; });
    return found == entries.end() ? nullptr : &*found;
  }

  void set(const Field& field, const Document& value, size_t line) const {
    if (!fits(*field.type, value) || !field.set(texts_of(*field.type, value))) {
      throw ConfigError("{}: '{}' should be {}, not {}", place(origin_, line), field.path,
                        field.expected(), shown(value));
    }
  }

  static bool fits(const FieldType& type, const Document& value) {
    switch (value.kind) {
      case Document::Kind::kNull:
        return type.optional;
      case Document::Kind::kMap:
        return false;
      case Document::Kind::kList:
        return type.list && std::all_of(value.items.begin(), value.items.end(), [&](auto& item) {
                 return item.kind == Document::Kind::kScalar && fits(type, item);
               });
      case Document::Kind::kScalar:
        break;
    }
    // JSON has no way to write an infinity but as text.
    const bool infinite = value.text.find("inf") != std::string::npos || value.text == "nan";
    switch (type.kind) {
      case FieldKind::kBool:
      case FieldKind::kInteger:
        return value.style != Document::Style::kQuoted;
      case FieldKind::kNumber:
        return value.style != Document::Style::kQuoted || infinite;
      case FieldKind::kText:
      case FieldKind::kPath:
      case FieldKind::kChoice:
        return value.style != Document::Style::kLiteral;
      case FieldKind::kMemory:
      case FieldKind::kDuration:
        return true;
    }
    return true;
  }

  static FieldTexts texts_of(const FieldType& type, const Document& value) {
    if (value.kind == Document::Kind::kNull) return {};
    if (value.kind == Document::Kind::kScalar) {
      // A choice is a word, however it is written.
      const bool word = value.style == Document::Style::kPlain || type.kind == FieldKind::kChoice;
      const bool none = type.optional && word && value.text == "none";
      return none ? FieldTexts() : std::vector{value.text};
    }
    std::vector<std::string> texts;
    texts.reserve(value.items.size());
    for (const Document& item : value.items) texts.push_back(item.text);
    return texts;
  }

  static std::string shown(const Document& value) {
    switch (value.kind) {
      case Document::Kind::kNull:
        return "nothing";
      case Document::Kind::kMap:
        return "a group of settings";
      case Document::Kind::kList: {
        std::vector<std::string> items;
        for (size_t i = 0; i < std::min<size_t>(value.items.size(), 8); ++i) {
          items.push_back(shown(value.items[i]));
        }
        if (value.items.size() > items.size()) items.emplace_back("...");
        return fmt::format("[{}]", fmt::join(items, ", "));
      }
      case Document::Kind::kScalar:
        break;
    }
    return fmt::format("'{}'", shown_name(value.text));
  }

  const FieldList& list_;
  std::string_view origin_;
  std::set<std::string> seen_;
};

std::string flag_text(const FieldTexts& texts) {
  return texts ? fmt::format("{}", fmt::join(*texts, ",")) : "none";
}

std::string type_name(const FieldType& type) {
  static constexpr std::string_view kNames[] = {"bool", "integer", "number", "text",
                                                "path", "choice",  "size",   "time"};
  return std::string(kNames[static_cast<size_t>(type.kind)]) + (type.list ? "..." : "");
}

}  // namespace

namespace detail {

ParsedConfig::ParsedConfig(std::shared_ptr<const Document> tree, std::string origin)
    : tree_(std::move(tree)), origin_(std::move(origin)) {}

ParsedConfig ParsedConfig::json(std::string_view text, std::string_view origin) {
  return {std::make_shared<Document>(parse_json(text, origin)), std::string(origin)};
}

ParsedConfig ParsedConfig::yaml(std::string_view text, std::string_view origin) {
  return {std::make_shared<Document>(parse_yaml(text, origin)), std::string(origin)};
}

ParsedConfig ParsedConfig::file(const std::filesystem::path& path) {
  const std::string origin = path.string();
  return {std::make_shared<Document>(parse(config_text(path), origin)), origin};
}

bool ParsedConfig::decide(const FieldList& list) const {
  return Reader(list, origin_).decide(*tree_);
}

void ParsedConfig::read(const FieldList& list) const { Reader(list, origin_).read(*tree_); }

void set_flag(const FieldList& list, std::string_view path, std::string_view text) {
  std::string name(path);
  std::replace(name.begin(), name.end(), '-', '_');
  for (const Field& field : list.fields) {
    if (field.path != name) continue;
    FieldTexts texts = std::vector<std::string>();
    if (field.type->optional && text == "none") {
      texts.reset();
    } else if (!field.type->list) {
      texts->emplace_back(text);
    } else {
      for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
        end = std::min(text.find(',', begin), text.size());
        texts->emplace_back(text.substr(begin, end - begin));
      }
    }
    if (field.set(texts)) return;
    throw ConfigError("--{} should be {}, not '{}'", field.path, field.expected(),
                      shown_name(text));
  }
  for (const FieldList::Unused& unused : list.unused) {
    if (!name.starts_with(unused.section.path + ".")) continue;
    throw ConfigError("--{} would change nothing: {}", name, unused.why);
  }
  throw ConfigError("unknown setting '{}'; {}", shown_name(name), suggestion(list, name));
}

std::vector<Flag> flags_of(const FieldList& list) {
  std::vector<Flag> flags;
  std::vector<Field> all = list.fields;
  std::vector<FieldList> others;  // which the fields refer to
  const std::function<void(const FieldList&)> add_unused = [&](const FieldList& from) {
    for (const FieldList::Unused& unused : from.unused) {
      const FieldList other = unused.fields();
      all.insert(all.end(), other.fields.begin(), other.fields.end());
      others.push_back(other);
      add_unused(other);
    }
  };
  add_unused(list);
  for (const Field& field : all) {
    flags.push_back({.path = field.path,
                     .type = type_name(*field.type),
                     .help = field.help,
                     .default_text = flag_text(field.get()),
                     .choices = field.type->choices,
                     .range = field.range,
                     .list = field.type->list});
  }
  return flags;
}

std::vector<Difference> differences(const FieldList& before, const FieldList& after) {
  std::vector<Difference> found;
  // The two may have different fields, where a field decided which there are.
  constexpr std::string_view kNotThere = "-";
  std::map<std::string_view, const Field*> rest;
  for (const Field& field : after.fields) rest[field.path] = &field;
  for (const Field& field : before.fields) {
    const auto now = rest.find(field.path);
    if (now == rest.end()) {
      found.push_back({field.path, flag_text(field.get()), std::string(kNotThere)});
      continue;
    }
    const FieldTexts old_value = field.get(), new_value = now->second->get();
    if (old_value != new_value) {
      found.push_back({field.path, flag_text(old_value), flag_text(new_value)});
    }
    rest.erase(now);
  }
  for (const Field& field : after.fields) {
    if (!rest.contains(field.path)) continue;
    found.push_back({field.path, std::string(kNotThere), flag_text(field.get())});
  }
  return found;
}

}  // namespace detail

std::string config_text(const std::filesystem::path& path) {
  return file_contents(path, (is_json(path.string()) ? kJsonDocument : kYamlDocument).bytes);
}

std::vector<std::string> paths_in(std::string_view text, std::string_view origin) {
  std::vector<std::string> found;
  const std::function<void(const Document&, const std::string&)> collect =
      [&](const Document& at, const std::string& path) {
        if (at.kind != Document::Kind::kMap) return found.push_back(path);
        for (size_t i = 0; i < at.items.size(); ++i) {
          collect(at.items[i], path.empty() ? at.keys[i] : path + "." + at.keys[i]);
        }
      };
  collect(parse(text, origin), "");
  return found;
}

std::optional<std::string> peek(std::string_view text, std::string_view path,
                                std::string_view origin) {
  Document at = parse(text, origin);
  for (size_t begin = 0, end = 0; begin <= path.size(); begin = end + 1) {
    end = std::min(path.find('.', begin), path.size());
    const auto key = std::find(at.keys.begin(), at.keys.end(), path.substr(begin, end - begin));
    if (key == at.keys.end()) return {};
    Document inner = std::move(at.items[static_cast<size_t>(key - at.keys.begin())]);
    at = std::move(inner);
  }
  if (at.kind != Document::Kind::kScalar) return {};
  return at.text;
}

}  // namespace attend
