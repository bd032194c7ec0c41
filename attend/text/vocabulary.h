// Tokenizers whose vocabulary is a list: characters, words, lines, bytes. Their file is text:
//
//   attend tokenizer 1 word lowercase 5      the kind, whether text is lower-cased, the number of
//   tokens <unk> <s>
//   </s>
//   the
//   C:\x5c                                   bytes up to space, DEL and backslash are \xHH
//
// A byte tokenizer's file is the first line alone.
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
inline constexpr std::string_view kSpecialPieces[] = {"<unk>", "<s>", "</s>"};
inline constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";  // what separates words

// One token for each byte.
class ByteTokenizer : public Tokenizer {
 public:
  static constexpr size_t kSize = kSpecialTokens + 256;

  explicit ByteTokenizer(bool lowercase) : lowercase_(lowercase) {}

  TokenizerKind kind() const override { return TokenizerKind::kByte; }
  size_t size() const override { return kSize; }
  std::vector<int32_t> encode(std::string_view line) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string piece(int32_t id) const override;
  std::vector<std::string> pieces(std::string_view line) const override;
  std::string serialized() const override;

 private:
  bool lowercase_;
};

// Characters, words or lines.
class ListTokenizer : public Tokenizer {
 public:
  // `pieces` are those of the ids from kSpecialTokens on, without duplicates.
  ListTokenizer(TokenizerKind kind, bool lowercase, std::vector<std::string> pieces);
  ListTokenizer(const ListTokenizer&) = delete;  // ids_ refers to pieces_
  ListTokenizer& operator=(const ListTokenizer&) = delete;

  TokenizerKind kind() const override { return kind_; }
  size_t size() const override { return kSpecialTokens + pieces_.size(); }
  std::vector<int32_t> encode(std::string_view line) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string piece(int32_t id) const override;
  std::vector<std::string> pieces(std::string_view line) const override;
  std::string serialized() const override;

 private:
  TokenizerKind kind_;
  bool lowercase_;
  std::vector<std::string> pieces_;  // without special tokens
  std::unordered_map<std::string_view, int32_t> ids_;
};

// From the contents of a file; `name` is for messages. Throws FormatError.
std::shared_ptr<const Tokenizer> parse_vocabulary(std::string_view text, const std::string& name);
// Trains a tokenizer of one of these kinds.
std::shared_ptr<const Tokenizer> train_vocabulary(const TokenizerConfig& config,
                                                  const LineSource& lines);

}  // namespace attend
