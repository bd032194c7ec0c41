#include "attend/text/wordpiece.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/base/utf8.h"
#include "attend/text/basic_words.h"
#include "attend/text/joined_words.h"
#include "attend/text/piece_table.h"
#include "attend/text/vocabulary.h"
#include "attend/text/vocabulary_file.h"
#include "attend/text/word_cache.h"

namespace attend {
namespace {

constexpr std::string_view kContinues = "##";

class WordpieceTokenizer : public Tokenizer {
 public:
  WordpieceTokenizer(bool lowercase, std::vector<std::string> pieces)
      : lowercase_(lowercase), pieces_(std::move(pieces)) {
    special_ = {required("[UNK]"), required("[CLS]"), required("[SEP]"), found("[MASK]")};
    padding_ = found(kWordpiecePadding);
    for (size_t id = 0; id < pieces_.size(); ++id) {
      const std::string_view piece = pieces_[id];
      if (is_special(static_cast<int32_t>(id))) continue;
      const bool continues = piece.starts_with(kContinues) && piece.size() > kContinues.size();
      table_.add(continues ? piece.substr(kContinues.size()) : piece, continues,
                 static_cast<int32_t>(id));
    }
    while (static_cast<size_t>(first_piece_) < size() && stands_for_no_text(first_piece_)) {
      ++first_piece_;
    }
  }

  TokenizerKind kind() const override { return TokenizerKind::kWordpiece; }
  size_t size() const override { return pieces_.size(); }
  SpecialTokens special() const override { return special_; }
  int32_t first_piece() const override { return first_piece_; }

  std::vector<int32_t> encode(std::string_view line) const override {
    ScratchPool::Lease lease(scratch_);
    EncodeScratch& scratch = *lease;
    BasicWords(lowercase_).each(line, [&](std::string_view word, bool too_long) {
      const auto split = [&](std::string_view text, std::vector<int32_t>& ids) {
        split_word(text, too_long, ids);
      };
      scratch.add(word, word.data() + BasicWords::kReadable, split);
    });
    return scratch.ids();
  }

  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    std::string_view before;
    for (const int32_t id : ids) {
      check(id);
      if (is_special(id)) continue;
      const std::string_view piece = pieces_[static_cast<size_t>(id)];
      join_piece(text, before, piece);
      before = piece;
    }
    return text;
  }

  std::string piece(int32_t id) const override {
    check(id);
    return pieces_[static_cast<size_t>(id)];
  }

  bool begins_word(int32_t id) const override { return !piece(id).starts_with(kContinues); }

  std::vector<std::string> pieces(std::string_view line) const override {
    std::vector<std::string> all;
    std::vector<int32_t> ids;
    BasicWords(lowercase_).each(line, [&](std::string_view word, bool too_long) {
      ids.clear();
      split_word(word, too_long, ids);
      for (const int32_t id : ids) {
        all.push_back(id == special_.unknown ? unknown_piece(word) : piece(id));
      }
    });
    return all;
  }

  std::string serialized() const override {
    std::string text = vocabulary_header(kind(), lowercase_ ? "lowercase " : "", size());
    for (const std::string& piece : pieces_) text += escaped_piece(piece) + "\n";
    return text;
  }

 private:
  int32_t found(std::string_view name) const {
    const auto at = std::ranges::find(pieces_, name);
    return at == pieces_.end() ? -1 : static_cast<int32_t>(at - pieces_.begin());
  }

  int32_t required(std::string_view name) const {
    const int32_t id = found(name);
    if (id < 0) throw DataError("a WordPiece vocabulary has {}, and this one does not", name);
    return id;
  }

  bool is_special(int32_t id) const { return special_.has(id) || id == padding_; }

  // BERT's vocabularies have tokens to spare at their beginning.
  bool stands_for_no_text(int32_t id) const {
    return is_special(id) || pieces_[static_cast<size_t>(id)].starts_with("[unused");
  }

  void split_word(std::string_view word, bool too_long, std::vector<int32_t>& ids) const {
    const size_t before = ids.size();
    for (bool continues = false; !too_long && !word.empty(); continues = true) {
      const PieceTable::Match match = table_.longest(word, continues);
      if (match.id < 0) break;
      ids.push_back(match.id);
      word.remove_prefix(match.bytes);
    }
    if (!too_long && word.empty()) return;
    ids.resize(before);
    ids.push_back(special_.unknown);
  }

  bool lowercase_;
  std::vector<std::string> pieces_;
  SpecialTokens special_;
  int32_t padding_ = -1, first_piece_ = 0;
  PieceTable table_;  // refers to pieces_
  mutable ScratchPool scratch_;
};

}  // namespace

bool is_wordpiece(std::string_view text) {
  return !text.empty() && text.size() <= PieceTable::kLongestPiece && valid_utf8(text) &&
         text.find_first_of(kWhiteSpace) == text.npos;
}

std::shared_ptr<const Tokenizer> make_wordpiece(bool lowercase, std::vector<std::string> pieces) {
  return std::make_shared<WordpieceTokenizer>(lowercase, std::move(pieces));
}

}  // namespace attend
