#include "attend/text/import.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/base/utf8.h"
#include "attend/text/byte_bpe.h"
#include "attend/text/piece_ids.h"
#include "attend/text/vocabulary_file.h"
#include "attend/text/wordpiece.h"

namespace attend {
namespace {

// Lines without their ends, also those of DOS.
class ImportedLines {
 public:
  explicit ImportedLines(const ImportedFile& file) : rest_(file.content), name_(file.name) {}

  bool next() {
    if (rest_.empty()) return false;
    ++number_;
    line_ = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(rest_.size(), line_.size() + 1));
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    return true;
  }
  std::string_view line() const { return line_; }
  size_t number() const { return number_; }

  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    throw FormatError("{}:{}: {}", name_, number_, fmt::format(text, std::forward<Args>(args)...));
  }

 private:
  std::string_view rest_, line_;
  const std::string& name_;
  size_t number_ = 0;
};

// Some vocabularies of lower-cased text have capital letters that are only symbols.
bool has_capital(std::string_view piece) {
  return std::ranges::any_of(piece, [](char c) { return c >= 'A' && c <= 'Z'; });
}

// The byte that each character stands for: printable ones of Latin-1 for themselves, then, from
// U+0100, the others in their order.
const std::unordered_map<char32_t, char>& byte_characters() {
  static const std::unordered_map<char32_t, char> map = [] {
    std::unordered_map<char32_t, char> bytes;
    char32_t next = 0x100;
    for (char32_t byte = 0; byte < 256; ++byte) {
      const bool itself = (byte > ' ' && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
      bytes.emplace(itself ? byte : next++, static_cast<char>(byte));
    }
    return bytes;
  }();
  return map;
}

// The bytes of a piece; none if some of its characters stand for no byte.
std::optional<std::string> bytes_of(std::string_view piece) {
  std::string bytes;
  while (!piece.empty()) {
    const CodePoint c = first_code_point(piece);
    const auto found = byte_characters().find(c.value);
    if (!c.valid || found == byte_characters().end()) return std::nullopt;
    bytes += found->second;
    piece.remove_prefix(c.bytes);
  }
  return bytes;
}

class ByteBpeImport {
 public:
  ByteBpeImport(const ImportedFile& pieces, const ImportedFile& merges)
      : pieces_name_(pieces.name), merges_name_(merges.name) {
    read_pieces(pieces);
    read_merges(merges);
    find_special();
  }

  ByteBpeVocabulary vocabulary() && { return std::move(vocabulary_); }

 private:
  void read_pieces(const ImportedFile& file) {
    PieceIds entries(file.content, file.name);
    while (auto entry = entries.next()) {
      auto& [piece, id] = *entry;
      if (piece.empty()) entries.fail("a piece is empty");
      if (id >= kMostTokens) entries.fail("an id is too large");
      const auto [at, is_new] = ids_.emplace(std::move(piece), static_cast<int32_t>(id));
      if (!is_new) entries.fail(fmt::format("'{}' is there twice", shown_name(at->first)));
    }
    std::vector<const std::string*> by_id(ids_.size());
    for (const auto& [piece, id] : ids_) {
      const auto place = static_cast<size_t>(id);
      if (place >= by_id.size() || by_id[place] != nullptr) {
        throw FormatError("{}: {} pieces must have the ids 0 to {}, each once; '{}' has {}",
                          pieces_name_, ids_.size(), ids_.size() - 1, shown_name(piece), id);
      }
      by_id[place] = &piece;
    }
    is_text_.resize(by_id.size());
    for (size_t id = 0; id < by_id.size(); ++id) {
      const std::optional<std::string> bytes = bytes_of(*by_id[id]);
      vocabulary_.pieces.push_back(bytes.value_or(*by_id[id]));
      is_text_[id] = bytes && bytes->size() == 1;
    }
  }

  void read_merges(const ImportedFile& file) {
    ImportedLines lines(file);
    while (lines.next()) {
      const std::string_view line = lines.line();
      if (line.empty() || (lines.number() == 1 && line.starts_with("#version"))) continue;
      const size_t space = line.find(' ');
      if (space == line.npos || line.find(' ', space + 1) != line.npos) {
        lines.fail("'{}' is not a merge of two pieces", shown_name(line));
      }
      const auto id = [&](const std::string& piece) {
        const auto found = ids_.find(piece);
        if (found == ids_.end()) {
          lines.fail("{} has no piece '{}'", pieces_name_, shown_name(piece));
        }
        return found->second;
      };
      const std::string left(line.substr(0, space)), right(line.substr(space + 1));
      vocabulary_.merges.push_back({id(left), id(right), id(left + right)});
      is_text_[static_cast<size_t>(vocabulary_.merges.back().made)] = true;
    }
  }

  void find_special() {
    const auto named = [this](std::initializer_list<std::string_view> names) {
      for (const std::string_view name : names) {
        const auto found = ids_.find(std::string(name));
        if (found != ids_.end() && !is_text_[static_cast<size_t>(found->second)]) {
          return found->second;
        }
      }
      return -1;
    };
    vocabulary_.special = {.unknown = named({"<unk>"}),
                           .start = named({"<s>", "<|startoftext|>", "<|endoftext|>"}),
                           .end = named({"</s>", "<|endoftext|>"}),
                           .mask = named({"<mask>"})};
    if (vocabulary_.special.start < 0 || vocabulary_.special.end < 0) {
      throw FormatError("{}: it has neither <|endoftext|> nor <s> and </s>, which {} does not make",
                        pieces_name_, merges_name_);
    }
    for (size_t id = 0; id < is_text_.size(); ++id) {
      const auto other = static_cast<int32_t>(id);
      if (!is_text_[id] && !vocabulary_.special.has(other)) vocabulary_.others.push_back(other);
    }
  }

  const std::string &pieces_name_, &merges_name_;
  std::unordered_map<std::string, int32_t> ids_;
  std::vector<bool> is_text_;  // by id: a byte, or made by a merge
  ByteBpeVocabulary vocabulary_;
};

bool is_json(const ImportedFile& file) {
  const size_t first = file.content.find_first_not_of(" \t\r\n");
  return first != std::string::npos && file.content[first] == '{';
}

}  // namespace

std::shared_ptr<const Tokenizer> import_wordpiece(const ImportedFile& vocabulary,
                                                  std::optional<bool> lowercase) {
  std::vector<std::string> pieces;
  std::unordered_set<std::string_view> seen;
  bool capitals = false;
  ImportedLines lines(vocabulary);
  while (lines.next()) {
    const std::string_view piece = lines.line();
    if (!is_wordpiece(piece)) {
      lines.fail("'{}' is not a piece of a word: a vocab.txt has one in each line",
                 shown_name(piece));
    }
    if (!seen.insert(piece).second) lines.fail("'{}' is there twice", shown_name(piece));
    capitals |= !piece.starts_with('[') && has_capital(piece);
    pieces.emplace_back(piece);
  }
  try {
    return make_wordpiece(lowercase.value_or(!capitals), std::move(pieces));
  } catch (const DataError& error) {
    throw FormatError("{}: {}; give BERT's vocab.txt, or the two files of GPT-2", vocabulary.name,
                      error.what());
  }
}

std::shared_ptr<const Tokenizer> import_byte_bpe(const ImportedFile& pieces,
                                                 const ImportedFile& merges, bool lowercase) {
  ByteBpeVocabulary vocabulary = ByteBpeImport(pieces, merges).vocabulary();
  vocabulary.lowercase = lowercase;
  try {
    check_byte_bpe(vocabulary);
  } catch (const DataError& error) {
    throw FormatError("{} and {}: {}; are they of one vocabulary, of bytes as GPT-2's is?",
                      pieces.name, merges.name, error.what());
  }
  return make_byte_bpe(std::move(vocabulary));
}

std::shared_ptr<const Tokenizer> import_tokenizer(std::span<const ImportedFile> files,
                                                  const ImportOptions& options) {
  for (const ImportedFile& file : files) {
    if (file.content.empty()) throw FormatError("{} is empty; copy the file again", file.name);
  }
  if (files.size() == 1 && !is_json(files[0])) return import_wordpiece(files[0], options.lowercase);
  if (files.size() == 2 && is_json(files[0]) != is_json(files[1])) {
    const size_t json = is_json(files[0]) ? 0 : 1;
    return import_byte_bpe(files[json], files[1 - json], options.lowercase.value_or(false));
  }
  throw ConfigError(
      "tokenizer: give one vocab.txt, as BERT has it, or encoder.json and vocab.bpe, as GPT-2 has "
      "them (also called vocab.json and merges.txt)");
}

}  // namespace attend
