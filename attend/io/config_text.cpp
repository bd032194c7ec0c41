// Writing configs, in the order of their fields.
#include <algorithm>

#include "attend/base/error.h"
#include "attend/io/config.h"
#include "attend/io/document.h"

namespace attend::detail {
namespace {

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (size_t begin = 0, end = 0; begin <= path.size(); begin = end + 1) {
    end = std::min(path.find('.', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
  }
  return parts;
}

// Walks the fields as the tree their paths make: open(path) and close() a section, or show(name,
// field); each is told its depth.
template <typename Open, typename Close, typename Show>
void walk(const FieldList& list, const Open& open, const Close& close, const Show& show) {
  std::vector<std::string> inside;
  const auto leave = [&](size_t depth) {
    for (; inside.size() > depth; inside.pop_back()) close(inside.size() - 1);
  };
  for (const Field& field : list.fields) {
    std::vector<std::string> parts = parts_of(field.path);
    const std::string name = std::move(parts.back());
    parts.pop_back();
    const auto common = std::mismatch(inside.begin(), inside.end(), parts.begin(), parts.end());
    leave(static_cast<size_t>(common.first - inside.begin()));
    while (inside.size() < parts.size()) {
      inside.push_back(parts[inside.size()]);
      open(fmt::format("{}", fmt::join(inside, ".")), inside.size() - 1);
    }
    show(name, field, inside.size());
  }
  leave(0);
}

// Letters first, and no word that YAML takes for something else.
bool plain_in_yaml(const std::string& text) {
  static constexpr std::string_view kTaken[] = {"true", "false", "null", "none", "yes", "no",
                                                "on",   "off",   "y",    "n",    "~"};
  std::string lower = text;
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '/' || c == '_'; };
  const auto inner = [&](char c) { return letter(c) || (c >= '-' && c <= '9'); };
  return !lower.empty() && letter(lower.front()) &&
         std::all_of(lower.begin(), lower.end(), inner) &&
         std::find(std::begin(kTaken), std::end(kTaken), lower) == std::end(kTaken);
}

std::string value_text(const Field& field, bool yaml) {
  const FieldTexts texts = field.get();
  if (!texts) return "null";
  const FieldKind kind = field.type->kind;
  const bool literal = kind == FieldKind::kBool || kind == FieldKind::kInteger;
  std::string joined;
  for (const std::string& text : *texts) {
    const bool finite = text.find_first_of("in") == std::string::npos;
    const bool bare = literal || (kind == FieldKind::kNumber && (finite || yaml)) ||
                      (yaml && (kind == FieldKind::kMemory || plain_in_yaml(text)));
    joined += (joined.empty() ? "" : ", ") + (bare ? text : json_quoted(text));
  }
  return field.type->list ? "[" + joined + "]" : joined;
}

std::string comment(const std::string& help, bool with_help) {
  return with_help && !help.empty() ? "  # " + help : "";
}

}  // namespace

std::string to_json(const FieldList& list) {
  std::string text = "{";
  bool first = true;
  const auto line = [&](size_t depth, const std::string& name) {
    text += (first ? "\n" : ",\n") + std::string(2 * (depth + 1), ' ') + json_quoted(name) + ": ";
    first = false;
  };
  walk(
      list,
      [&](const std::string& path, size_t depth) {
        line(depth, parts_of(path).back());
        text += "{";
        first = true;
      },
      [&](size_t depth) {
        text += "\n" + std::string(2 * (depth + 1), ' ') + "}";
        first = false;
      },
      [&](const std::string& name, const Field& field, size_t depth) {
        line(depth, name);
        text += value_text(field, false);
      });
  return text + (first ? "}\n" : "\n}\n");
}

std::string to_yaml(const FieldList& list, bool with_help) {
  std::string text;
  walk(
      list,
      [&](const std::string& path, size_t depth) {
        const auto section = std::find_if(list.sections.begin(), list.sections.end(),
                                          [&](const auto& entry) { return entry.path == path; });
        text += std::string(2 * depth, ' ') + parts_of(path).back() + ":" +
                comment(section->help, with_help) + "\n";
      },
      [](size_t /*depth*/) {},
      [&](const std::string& name, const Field& field, size_t depth) {
        text += std::string(2 * depth, ' ') + name + ": " + value_text(field, true) +
                comment(field.help, with_help) + "\n";
      });
  return text;
}

}  // namespace attend::detail
