// Walks the protocol buffer of a SentencePiece model. Fields (sentencepiece_model.proto): pieces 1
// {piece 1, score 2, type 3}, trainer_spec 2 {model_type 3}, normalizer_spec 3 and
// denormalizer_spec 5 {precompiled_charsmap 2}, self_test_data 4.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/utf8.h"
#include "attend/text/character_map.h"
#include "attend/text/sentencepiece.h"

namespace attend {
namespace {

// The largest models that are in use have 900,000 pieces, most of them a quarter of it.
constexpr size_t kMostPieces = size_t{1} << 20;
constexpr size_t kLongestPiece = 512;
constexpr size_t kMostSettings = size_t{1} << 20;  // bytes of how it was trained
constexpr size_t kMostNested = 64;                 // symbols that begin with one another

enum Wire : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct ProtoField {
  uint32_t number = 0, wire = 0;
  uint64_t value = 0;      // kVarint, kFixed32
  std::string_view bytes;  // kBytes
};

uint32_t read_u32(std::string_view bytes, size_t index) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    value |= uint32_t{static_cast<unsigned char>(bytes[4 * index + i])} << (8 * i);
  }
  return value;
}

class ModelCheck {
 public:
  explicit ModelCheck(std::string name) : name_(std::move(name)) {}

  // A model that was checked, without its self-test: samples that the library encodes when it loads
  // them, and prints to standard error where it finds other pieces.
  std::string without_self_test(std::string_view model) {
    std::string kept;
    while (!model.empty()) {
      const std::string_view before = model;
      if (next(model).number != 4) kept += before.substr(0, before.size() - model.size());
    }
    return kept;
  }

  TokenizerKind check(std::string_view model) {
    require(model.size() <= kMostSentencePieceBytes, "it is over 32 MB");
    require(count_pieces(model) <= kMostPieces, "it has over a million pieces");
    size_t pieces = 0;
    uint64_t type = 0;
    bool seen[6] = {};
    while (!model.empty()) {
      const ProtoField field = next(model);
      if (field.number > 5) continue;
      require(field.wire == kBytes, "a part is no message");
      require(field.number == 1 || !seen[field.number], "a part is there twice");
      seen[field.number] = true;
      if (field.number == 1) check_piece(field.bytes, pieces++);
      if (field.number == 2) type = model_type(field.bytes);
      if (field.number == 3 || field.number == 5) check_normalizer(field.bytes);
    }
    require(pieces > kSpecialTokens, "there are no pieces");
    require(type != 0 && seen[3], "the end is missing");
    require(type <= 2, "it holds characters or words; use Attend's own tokenizers for those");
    check_symbols();
    return type == 1 ? TokenizerKind::kUnigram : TokenizerKind::kBpe;
  }

 private:
  // Before any of them is looked into: counting a million takes ten milliseconds.
  size_t count_pieces(std::string_view model) {
    size_t pieces = 0;
    while (!model.empty() && pieces <= kMostPieces) pieces += next(model).number == 1 ? 1 : 0;
    return pieces;
  }

  ProtoField next(std::string_view& rest) {
    const uint64_t key = varint(rest);
    require(key >> 3 >= 1 && key >> 3 < 1 << 29, "a field has an impossible number");
    ProtoField field{static_cast<uint32_t>(key >> 3), static_cast<uint32_t>(key & 7)};
    switch (field.wire) {
      case kVarint:
        field.value = varint(rest);
        break;
      case kFixed64:
        take(rest, 8);
        break;
      case kBytes:
        field.bytes = take(rest, varint(rest));
        break;
      case kFixed32:
        field.value = read_u32(take(rest, 4), 0);
        break;
      default:
        require(false, "a field has an impossible type");
    }
    return field;
  }

  uint64_t varint(std::string_view& rest) {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(rest, 1)[0]);
      value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    require(false, "a number is too long");
    return 0;
  }

  std::string_view take(std::string_view& rest, uint64_t size) {
    require(size <= rest.size(), "it is cut off");
    const std::string_view taken = rest.substr(0, size);
    rest.remove_prefix(size);
    return taken;
  }

  void check_piece(std::string_view message, size_t id) {
    std::string_view piece;
    uint64_t type = 1;
    while (!message.empty()) {
      const ProtoField field = next(message);
      if (field.number == 1 && field.wire == kBytes) piece = field.bytes;
      if (field.number == 2 && field.wire == kFixed32) {
        const float score = std::bit_cast<float>(static_cast<uint32_t>(field.value));
        require(std::abs(score) < 1e9F, "a piece has an impossible score");
      }
      if (field.number == 3 && field.wire == kVarint) type = field.value;
    }
    require(piece.size() <= kLongestPiece, "a piece is over 512 bytes");
    require(!piece.empty() && valid_utf8(piece) && piece.find('\0') == piece.npos,
            "a piece is no text");
    require(type >= 1 && type <= 6, "a piece has an impossible type");
    // Other layouts are refused later, with the ids they have.
    require(id != 0 || type != 6, "the first piece is a byte");
    constexpr uint64_t kUserDefined = 4;
    if (type == kUserDefined) symbols_.push_back(piece);
  }

  // The library has room for so many symbols that match at one place, and does not look.
  void check_symbols() {
    std::ranges::sort(symbols_);
    std::vector<std::string_view> begun;  // each begins with those before it
    for (const std::string_view symbol : symbols_) {
      while (!begun.empty() && !symbol.starts_with(begun.back())) begun.pop_back();
      begun.push_back(symbol);
      require(begun.size() <= kMostNested, "too many of its symbols begin with one another");
    }
  }

  uint64_t model_type(std::string_view message) {
    require(message.size() <= kMostSettings, "its settings are over 1 MB");
    uint64_t type = 1;
    while (!message.empty()) {
      const ProtoField field = next(message);
      if (field.number == 3 && field.wire == kVarint) type = field.value;
    }
    require(type >= 1 && type <= 4, "it is of an unknown type");
    return type;
  }

  void check_normalizer(std::string_view message) {
    while (!message.empty()) {
      const ProtoField field = next(message);
      if (field.number == 2 && field.wire == kBytes && !field.bytes.empty()) {
        const std::string_view fault = character_map_fault(field.bytes);
        require(fault.empty(), fault);
      }
    }
  }

  void require(bool holds, std::string_view what) const {
    if (!holds) {
      throw FormatError(
          "{}: not a SentencePiece model nor a vocabulary of Attend: {}; train the tokenizer again "
          "or copy the file again",
          name_, what);
    }
  }

  std::string name_;
  std::vector<std::string_view> symbols_;  // user-defined
};

}  // namespace

TokenizerKind check_sentencepiece_model(std::string_view model, const std::string& name) {
  return ModelCheck(name).check(model);
}

std::string without_self_test(std::string_view model) {
  return ModelCheck("the model").without_self_test(model);
}

}  // namespace attend
