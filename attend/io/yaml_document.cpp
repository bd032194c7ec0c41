// Documents from YAML, built from the parser's events: a tree of yaml-cpp's own would be made
// before any limit could be checked.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/base/utf8.h"
#include "attend/io/document.h"

namespace attend {
namespace {

size_t line_of(const YAML::Mark& mark) { return static_cast<size_t>(mark.line + 1); }

struct Extent {
  size_t values = 1, bytes = 0, depth = 1;
};

Extent extent_of(const Document& tree) {
  Extent extent{.values = 1 + tree.keys.size(), .bytes = tree.text.size()};
  for (const std::string& key : tree.keys) extent.bytes += key.size();
  for (const Document& item : tree.items) {
    const Extent inner = extent_of(item);
    extent.values += inner.values;
    extent.bytes += inner.bytes;
    extent.depth = std::max(extent.depth, 1 + inner.depth);
  }
  return extent;
}

class YamlBuilder : public YAML::EventHandler {
 public:
  YamlBuilder(std::string_view text, std::string_view origin)
      : origin_(origin), budget_(kYamlDocument, "YAML", origin, text.size()) {
    // The scanner takes a list in brackets in whole before the first event tells of it.
    const auto opens = [](char c) { return c == '[' || c == '{'; };
    budget_.take(static_cast<size_t>(std::ranges::count_if(text, opens)));
  }
  Document root;

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add({.line = line_of(mark)}, anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    using Style = Document::Style;
    add({.kind = Document::Kind::kScalar,
         .style = tag == "!" ? Style::kQuoted : Style::kPlain,
         .text = value,
         .line = line_of(mark)},
        anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) {
      throw FormatError("{}:{}: an alias stands for what it is part of", origin_, line_of(mark));
    }
    take_copy(found->second);
    place(found->second);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(Document::Kind::kList, mark, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(Document::Kind::kMap, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Document tree;
    YAML::anchor_t anchor;
  };

  void open(Document::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    budget_.check_depth(open_.size() + 1);
    budget_.take(1);
    open_.push_back({{.kind = kind, .line = line_of(mark)}, anchor});
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    keep(done.tree, done.anchor);
    place(std::move(done.tree));
  }

  void add(Document scalar, YAML::anchor_t anchor) {
    budget_.take(1, scalar.text.size());
    if (!valid_utf8(scalar.text)) {  // yaml-cpp gives single bytes for two of YAML's escapes
      throw FormatError(
          "{}:{}: the escapes \\_ and \\N are not supported; write the character itself", origin_,
          scalar.line);
    }
    keep(scalar, anchor);
    place(std::move(scalar));
  }

  // What aliases may stand for. A copy counts as well: anchors may lie within one another.
  void keep(const Document& tree, YAML::anchor_t anchor) {
    if (anchor == YAML::NullAnchor) return;
    take_copy(tree);
    anchored_[anchor] = tree;
  }

  void take_copy(const Document& tree) {
    const Extent extent = extent_of(tree);
    budget_.take(extent.values, extent.bytes);
    budget_.check_depth(open_.size() + extent.depth);
  }

  // As the next key or value of what is open.
  void place(Document done) {
    if (open_.empty()) {
      root = std::move(done);
      return;
    }
    Document& parent = open_.back().tree;
    if (parent.kind == Document::Kind::kMap && parent.keys.size() == parent.items.size()) {
      if (done.kind != Document::Kind::kScalar) {
        throw FormatError("{}:{}: a key must be a plain word", origin_, done.line);
      }
      parent.keys.push_back(std::move(done.text));
      parent.key_lines.push_back(done.line);
    } else {
      parent.items.push_back(std::move(done));
    }
  }

  std::string origin_;
  DocumentBudget budget_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Document> anchored_;
};

}  // namespace

Document parse_yaml(std::string_view text, std::string_view origin) {
  YamlBuilder builder(text, origin);
  if (!valid_utf8(text)) {
    throw FormatError("{}: not UTF-8; convert it with iconv -t UTF-8", origin);
  }
  if (const size_t nul = text.find('\0'); nul != text.npos) {
    throw FormatError("{}:{}: a NUL byte, which YAML cannot hold; remove it", origin,
                      1 + std::ranges::count(text.substr(0, nul), '\n'));
  }
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    if (YamlBuilder second(text, origin); parser.HandleNextDocument(second)) {
      throw FormatError("{}:{}: a second document begins; keep all settings in one", origin,
                        second.root.line);
    }
  } catch (const YAML::Exception& error) {
    throw FormatError("{}:{}: not YAML: {}", origin, error.mark.line + 1, shown_name(error.msg));
  }
  return std::move(builder.root);
}

}  // namespace attend
