// Converts text to ids and back. A tokenizer is trained on lines and saved as one file, which tells
// its kind.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/limits.h"
#include "attend/base/special_tokens.h"

namespace attend {

// What a token is.
enum class TokenizerKind {
  kCharacter,  // Unicode code points
  kWord,       // words separated by white space
  kLine,       // a whole line without surrounding white space, for labels
  kByte,       // the bytes of UTF-8; no text is unknown
  kBpe,        // SentencePiece, byte pair encoding (Sennrich et al., 2016)
  kUnigram,    // SentencePiece, unigram language model (Kudo, 2018)
  kWordpiece,  // BERT's: the longest pieces of words and punctuation
  kByteBpe,    // GPT-2's: byte pair encoding of bytes; no text is unknown
};
std::string_view name_of(TokenizerKind kind);
// Whether its tokens are parts of words, of which a vocabulary has as many as one likes.
bool is_subwords(TokenizerKind kind);

// The special ids of the vocabularies that are trained here, which are SentencePiece's defaults.
inline constexpr int32_t kUnknown = 0;
inline constexpr int32_t kStart = 1;
inline constexpr int32_t kEnd = 2;
inline constexpr int32_t kSpecialTokens = 3;  // the first id of a piece of text without a mask
inline constexpr int32_t kMask = 3;  // in vocabularies that have one; text then begins at 4

// Immutable: may be used by several threads at once.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual TokenizerKind kind() const = 0;  // what its tokens are
  virtual size_t size() const = 0;         // ids are 0 .. size() - 1
  // The ids of the unknown token, the start, the end, the mask and the sentinels.
  virtual SpecialTokens special() const = 0;
  // From here on ids stand for text, but for those that special() has. Labels are numbered from
  // there.
  virtual int32_t first_piece() const = 0;
  // Never gives the start, the end, the mask or a sentinel, even where text spells their names.
  virtual std::vector<int32_t> encode(std::string_view line) const = 0;  // without start and end
  // The text of ids. Special ids are skipped. Throws DataError for an id out of range.
  virtual std::string decode(std::span<const int32_t> ids) const = 0;
  // A token for people to read: "▁the", "a", "<unk>".
  virtual std::string piece(int32_t id) const = 0;
  // The pieces of encode(line), one for each id; an unknown one shows its text: "<unk:ß>".
  virtual std::vector<std::string> pieces(std::string_view line) const = 0;
  // Whether a token is the first of a word, as far as it shows.
  virtual bool begins_word(int32_t id) const;
  virtual std::string serialized() const = 0;  // the file's content

  void save(const std::filesystem::path& file) const;  // throws IoError
  uint64_t fingerprint() const;  // of serialized(): equal if ids mean the same

 protected:
  // For derived classes: throws DataError for an id out of range; "<unk:text>".
  void check(int32_t id) const;
  static std::string unknown_piece(std::string_view text);
};

struct TokenizerConfig {
  TokenizerKind kind = TokenizerKind::kBpe;
  size_t vocabulary = 8000;
  size_t minimum_count = 1;
  bool lowercase = false;
  bool mask = false;
  size_t sentinels = 0;
  double character_coverage = 1.0;
  bool byte_fallback = false;
  bool lossless = false;
  size_t sample = 2'000'000;

  template <typename V>
  void fields(V& v) {
    v("kind", kind, "what a token is");
    v("vocabulary", vocabulary,
      "tokens at most, with the special ones; 0: all characters, words or lines there are",
      limits::kVocabulary);
    v("minimum_count", minimum_count,
      "rarer characters, words or lines are unknown; wordpiece, byte_bpe: rarer pairs are not "
      "joined",
      limits::kCount.or_0());
    v("lowercase", lowercase, "make text lower-case first; wordpiece: strip accents as well");
    v("mask", mask, "have a mask token; always on for masked language models, never for lines");
    v("sentinels", sentinels,
      "tokens <extra_id_0>, <extra_id_1> ... that stand for spans of text; span corruption has as "
      "many as it needs; not for wordpiece or lines",
      Range{0, 1000});
    v("character_coverage", character_coverage,
      "bpe, unigram, wordpiece: share of the text whose characters are in the vocabulary");
    v("byte_fallback", byte_fallback, "bpe, unigram: write unknown characters as bytes");
    v("lossless", lossless,
      "bpe, unigram: keep white space and line ends as they are; always on for language models");
    v("sample", sample, "bpe, unigram: learn from at most this many lines; 0 is all",
      limits::kSteps.or_0());
  }
};

// Returns one line after another, then nullopt. A line need only be valid until the next call.
using LineSource = std::function<std::optional<std::string_view>()>;

// Trains a tokenizer. The same lines and config give the same file for any number of threads. To
// share a vocabulary between two languages, train on the lines of both. Throws ConfigError, or
// DataError if there is no text.
std::shared_ptr<const Tokenizer> train_tokenizer(const TokenizerConfig& config,
                                                 const LineSource& lines);
std::shared_ptr<const Tokenizer> train_tokenizer(const TokenizerConfig& config,
                                                 std::span<const std::string> lines);

// Loads a tokenizer of any kind. The whole file is checked first; throws FormatError that says what
// is wrong, and IoError.
std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& file);
// The same from the contents of a file; `name` is for messages.
std::shared_ptr<const Tokenizer> parse_tokenizer(std::string_view content, const std::string& name);

}  // namespace attend
