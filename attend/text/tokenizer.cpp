#include "attend/text/tokenizer.h"

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/base/hash.h"
#include "attend/base/names.h"
#include "attend/text/byte_bpe.h"
#include "attend/text/sentencepiece.h"
#include "attend/text/vocabulary.h"
#include "attend/text/wordpiece.h"

namespace attend {
namespace {

constexpr Named<TokenizerKind> kKinds[] = {
    {TokenizerKind::kCharacter, "character"},
    {TokenizerKind::kWord, "word"},
    {TokenizerKind::kLine, "line"},
    {TokenizerKind::kByte, "byte"},
    {TokenizerKind::kBpe, "bpe"},
    {TokenizerKind::kUnigram, "unigram"},
    {TokenizerKind::kWordpiece, "wordpiece"},
    {TokenizerKind::kByteBpe, "byte_bpe"},
};

}  // namespace

std::string_view name_of(TokenizerKind kind) { return name_from_value(kKinds, kind); }

bool Tokenizer::begins_word(int32_t id) const {
  const bool whole = kind() == TokenizerKind::kWord || kind() == TokenizerKind::kLine;
  return whole || piece(id).starts_with("▁");
}

bool is_subwords(TokenizerKind kind) {
  return kind == TokenizerKind::kBpe || kind == TokenizerKind::kUnigram ||
         kind == TokenizerKind::kWordpiece || kind == TokenizerKind::kByteBpe;
}

void Tokenizer::save(const std::filesystem::path& file) const { replace_file(file, serialized()); }

uint64_t Tokenizer::fingerprint() const { return hash_of(serialized()); }

void Tokenizer::check(int32_t id) const {
  if (id < 0 || static_cast<size_t>(id) >= size()) {
    throw DataError("tokenizer: no id {} in a vocabulary of {}", id, size());
  }
}

std::string Tokenizer::unknown_piece(std::string_view text) {
  return fmt::format("<unk:{}>", text);
}

std::shared_ptr<const Tokenizer> train_tokenizer(const TokenizerConfig& config,
                                                 const LineSource& lines) {
  switch (config.kind) {
    case TokenizerKind::kBpe:
    case TokenizerKind::kUnigram:
      return train_sentencepiece(config, lines);
    case TokenizerKind::kWordpiece:
      if (config.sentinels > 0) {
        throw ConfigError("tokenizer: wordpiece has no sentinels; choose bpe, unigram or byte_bpe");
      }
      return train_wordpiece(config, lines);
    case TokenizerKind::kByteBpe:
      return train_byte_bpe(config, lines);
    default:
      return train_vocabulary(config, lines);
  }
}

std::shared_ptr<const Tokenizer> train_tokenizer(const TokenizerConfig& config,
                                                 std::span<const std::string> lines) {
  auto next = lines.begin();
  return train_tokenizer(config, [&]() -> std::optional<std::string_view> {
    if (next == lines.end()) return std::nullopt;
    return *next++;
  });
}

std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& file) {
  std::string start(kVocabularyMagic.size(), '\0');
  const FileReader reader(file);
  if (reader.size() >= start.size()) reader.read(0, std::as_writable_bytes(std::span(start)));
  const bool list = start == kVocabularyMagic;
  return parse_tokenizer(file_contents(file, list ? kMostVocabularyBytes : kMostSentencePieceBytes),
                         file.string());
}

std::shared_ptr<const Tokenizer> parse_tokenizer(std::string_view content,
                                                 const std::string& name) {
  if (content.empty()) {
    throw FormatError("{} is empty; train the tokenizer again or copy the file again", name);
  }
  return content.starts_with(kVocabularyMagic) ? parse_vocabulary(content, name)
                                               : parse_sentencepiece(content, name);
}

}  // namespace attend
