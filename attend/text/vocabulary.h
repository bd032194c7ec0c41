// Tokenizers whose vocabulary is a list: characters, words, lines, bytes. The file of Attend's own
// tokenizers, these and WordPiece and byte-level BPE, is text:
//
//   attend tokenizer 1 word lowercase mask 6 kind; is text lower-cased, is there a mask; tokens;
//                                            "sentinels 8 " before them where there are 8
//   <unk>
//   <s>
//   </s>
//   <mask>                                   where there is a mask, and then <extra_id_0> ...
//   the
//   C:\x5c                                   bytes up to space, DEL and backslash are \xHH
//
// A byte tokenizer's file is the first line alone. That of WordPiece has its special tokens, [UNK],
// [CLS], [SEP] and perhaps [MASK] and [PAD], wherever they have their ids:
//
//   attend tokenizer 1 wordpiece lowercase 5
//   [UNK]
//   [CLS]
//   [SEP]
//   the
//   ##ing                                    continues a word
//
// Byte-level BPE has the ids of the special tokens in its second line, unknown, start, end and
// mask, each -1 if there is none, and then those of others that stand for no text; the merges are
// pairs of ids, in the order of their ranks:
//
//   attend tokenizer 1 byte_bpe 50257
//   merges 50000 special -1 50256 50256 -1
//   !                                        50257 tokens, by id; bytes that are not UTF-8 are \xHH
//   ...
//   220 83                                   50000 merges
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attend/text/tokenizer.h"

namespace attend {

// How a file begins.
inline constexpr std::string_view kVocabularyMagic = "attend tokenizer ";
inline constexpr size_t kMostVocabularyBytes = size_t{256} << 20;  // of a file, at most
// The names of the special tokens.
inline constexpr std::string_view kSpecialPieces[] = {"<unk>", "<s>", "</s>", "<mask>"};
inline constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";  // what separates words

inline constexpr int32_t kMostSentinels = 1000;
std::string sentinel_piece(int32_t number);  // from 0: "<extra_id_0>"

// What is done to text first, and which special tokens there are beside the unknown, start and end.
struct VocabularyTraits {
  bool lowercase = false, mask = false;
  int32_t sentinels = 0;

  int32_t first_sentinel() const { return kSpecialTokens + (mask ? 1 : 0); }
  int32_t first_piece() const { return first_sentinel() + sentinels; }
  SpecialTokens special() const {
    return {kUnknown, kStart, kEnd, mask ? kMask : -1, sentinels > 0 ? first_sentinel() : -1,
            sentinels};
  }
  std::string special_piece(int32_t id) const;  // of an id below first_piece()
};

// One token for each byte.
class ByteTokenizer : public Tokenizer {
 public:
  explicit ByteTokenizer(VocabularyTraits traits) : traits_(traits) {}

  TokenizerKind kind() const override { return TokenizerKind::kByte; }
  size_t size() const override { return static_cast<size_t>(first_piece()) + 256; }
  SpecialTokens special() const override { return traits_.special(); }
  int32_t first_piece() const override { return traits_.first_piece(); }
  std::vector<int32_t> encode(std::string_view line) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string piece(int32_t id) const override;
  std::vector<std::string> pieces(std::string_view line) const override;
  std::string serialized() const override;

 private:
  VocabularyTraits traits_;
};

// Characters, words or lines.
class ListTokenizer : public Tokenizer {
 public:
  // `pieces` are those of the ids from first_piece() on, without duplicates.
  ListTokenizer(TokenizerKind kind, VocabularyTraits traits, std::vector<std::string> pieces);
  ListTokenizer(const ListTokenizer&) = delete;  // ids_ refers to pieces_
  ListTokenizer& operator=(const ListTokenizer&) = delete;

  TokenizerKind kind() const override { return kind_; }
  size_t size() const override { return static_cast<size_t>(first_piece()) + pieces_.size(); }
  SpecialTokens special() const override { return traits_.special(); }
  int32_t first_piece() const override { return traits_.first_piece(); }
  std::vector<int32_t> encode(std::string_view line) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string piece(int32_t id) const override;
  std::vector<std::string> pieces(std::string_view line) const override;
  std::string serialized() const override;

 private:
  TokenizerKind kind_;
  VocabularyTraits traits_;
  std::vector<std::string> pieces_;  // without special tokens
  std::unordered_map<std::string_view, int32_t> ids_;
};

// From the contents of a file; `name` is for messages. Throws FormatError.
std::shared_ptr<const Tokenizer> parse_vocabulary(std::string_view text, const std::string& name);
// Trains a tokenizer of one of these kinds.
std::shared_ptr<const Tokenizer> train_vocabulary(const TokenizerConfig& config,
                                                  const LineSource& lines);

}  // namespace attend
