#include "attend/text/vocabulary.h"

#include <algorithm>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/utf8.h"
#include "attend/text/lower_case.h"

namespace attend {
namespace {

// Calls use(character) for each character of the line, U+FFFD for bytes that are none.
template <typename Use>
void each_character(std::string_view line, const Use& use) {
  while (!line.empty()) {
    const CodePoint c = first_code_point(line);
    use(c.valid ? line.substr(0, c.bytes) : kReplacementText);
    line.remove_prefix(c.bytes);
  }
}

template <typename Use>
void each_word(std::string_view line, const Use& use) {
  size_t begin = line.find_first_not_of(kWhiteSpace);
  while (begin != line.npos) {
    const size_t end = std::min(line.find_first_of(kWhiteSpace, begin), line.size());
    use(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kWhiteSpace, end);
  }
}

template <typename Use>
void each_piece(TokenizerKind kind, std::string_view line, const Use& use) {
  if (kind == TokenizerKind::kWord) return each_word(line, use);
  if (kind == TokenizerKind::kCharacter) return each_character(line, use);
  const size_t begin = line.find_first_not_of(kWhiteSpace);
  if (begin == line.npos) return;
  use(line.substr(begin, line.find_last_not_of(kWhiteSpace) + 1 - begin));
}

// Spaces are told from those that part tokens.
std::string visible_piece(std::string piece) {
  for (size_t at = piece.find(' '); at != piece.npos; at = piece.find(' ')) {
    piece.replace(at, 1, "▁");
  }
  return piece;
}

// The most frequent first; those that are as frequent in the order of their bytes.
std::vector<std::string> most_frequent(std::unordered_map<std::string, size_t> counts,
                                       const TokenizerConfig& config, size_t special) {
  std::erase_if(counts, [&](const auto& entry) { return entry.second < config.minimum_count; });
  std::vector<std::pair<std::string, size_t>> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  const size_t limit = config.vocabulary == 0 ? sorted.size() : config.vocabulary - special;
  sorted.resize(std::min(sorted.size(), limit));
  std::vector<std::string> pieces;
  pieces.reserve(sorted.size());
  for (auto& [piece, count] : sorted) pieces.push_back(std::move(piece));
  return pieces;
}

}  // namespace

std::string sentinel_piece(int32_t number) { return fmt::format("<extra_id_{}>", number); }

std::string VocabularyTraits::special_piece(int32_t id) const {
  return id < first_sentinel() ? std::string(kSpecialPieces[id])
                               : sentinel_piece(id - first_sentinel());
}

std::vector<int32_t> ByteTokenizer::encode(std::string_view line) const {
  const std::string lower = traits_.lowercase ? lower_case(line) : "";
  std::vector<int32_t> ids;
  ids.reserve(line.size());
  for (const char c : traits_.lowercase ? lower : line) {
    ids.push_back(first_piece() + static_cast<unsigned char>(c));
  }
  return ids;
}

std::string ByteTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) {
    check(id);
    if (id >= first_piece()) text += static_cast<char>(id - first_piece());
  }
  return text;
}

std::string ByteTokenizer::piece(int32_t id) const {
  check(id);
  if (id < first_piece()) return traits_.special_piece(id);
  const int32_t byte = id - first_piece();
  const bool printable = byte >= 0x20 && byte < 0x7F;
  return printable ? visible_piece({static_cast<char>(byte)}) : fmt::format("<0x{:02X}>", byte);
}

std::vector<std::string> ByteTokenizer::pieces(std::string_view line) const {
  std::vector<std::string> all;
  for (const int32_t id : encode(line)) all.push_back(piece(id));
  return all;
}

ListTokenizer::ListTokenizer(TokenizerKind kind, VocabularyTraits traits,
                             std::vector<std::string> pieces)
    : kind_(kind), traits_(traits), pieces_(std::move(pieces)) {
  ids_.reserve(pieces_.size());
  for (const std::string& piece : pieces_) {
    ids_.emplace(piece, first_piece() + static_cast<int32_t>(ids_.size()));
  }
}

std::vector<int32_t> ListTokenizer::encode(std::string_view line) const {
  const std::string lower = traits_.lowercase ? lower_case(line) : "";
  if (traits_.lowercase) line = lower;
  std::vector<int32_t> ids;
  const auto add = [&](std::string_view piece) {
    const auto found = ids_.find(piece);
    ids.push_back(found == ids_.end() ? kUnknown : found->second);
  };
  each_piece(kind_, line, add);
  return ids;
}

std::string ListTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) {
    check(id);
    if (id < first_piece()) continue;
    if (kind_ != TokenizerKind::kCharacter && !text.empty()) text += ' ';
    text += pieces_[static_cast<size_t>(id - first_piece())];
  }
  return text;
}

std::string ListTokenizer::piece(int32_t id) const {
  check(id);
  if (id < first_piece()) return traits_.special_piece(id);
  return visible_piece(pieces_[static_cast<size_t>(id - first_piece())]);
}

std::vector<std::string> ListTokenizer::pieces(std::string_view line) const {
  const std::string lower = traits_.lowercase ? lower_case(line) : "";
  std::vector<std::string> all;
  each_piece(kind_, traits_.lowercase ? lower : line, [&](std::string_view text) {
    std::string shown = visible_piece(std::string(text));
    all.push_back(ids_.contains(text) ? std::move(shown) : unknown_piece(shown));
  });
  return all;
}

std::shared_ptr<const Tokenizer> train_vocabulary(const TokenizerConfig& config,
                                                  const LineSource& lines) {
  const bool labels = config.kind == TokenizerKind::kLine;
  const VocabularyTraits traits{config.lowercase, config.mask && !labels,
                                labels ? 0 : static_cast<int32_t>(config.sentinels)};
  if (config.kind == TokenizerKind::kByte) return std::make_shared<ByteTokenizer>(traits);
  const auto special = static_cast<size_t>(traits.first_piece());
  if (config.vocabulary != 0 && config.vocabulary <= special) {
    throw ConfigError("tokenizer: a vocabulary of {} leaves no room after the {} special tokens",
                      config.vocabulary, special);
  }
  std::unordered_map<std::string, size_t> counts;
  const auto count = [&](std::string_view piece) { ++counts[std::string(piece)]; };
  while (true) {
    const std::optional<std::string_view> line = lines();
    if (!line) break;
    size_t replaced = 0;
    std::string text = valid_utf8(*line) ? std::string(*line) : repair_utf8(*line, replaced);
    if (config.lowercase) text = lower_case(text);
    each_piece(config.kind, text, count);
  }
  if (counts.empty()) throw DataError("tokenizer: there is no text to take a vocabulary from");
  return std::make_shared<ListTokenizer>(config.kind, traits,
                                         most_frequent(std::move(counts), config, special));
}

}  // namespace attend
