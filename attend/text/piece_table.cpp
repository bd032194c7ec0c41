#include "attend/text/piece_table.h"

#include <algorithm>
#include <array>

namespace attend {

uint64_t PieceTable::start(bool continues) {
  return continues ? 0x9AE16A3B2F90404Fu : 0xCBF29CE484222325u;
}

uint64_t PieceTable::step(uint64_t hash, char c) {
  hash = (hash ^ static_cast<unsigned char>(c)) * 0x9FB21C651E98DF25u;
  return hash ^ (hash >> 32);
}

bool PieceTable::add(std::string_view text, bool continues, int32_t id) {
  if (2 * (pieces_.size() + 1) > slots_.size()) grow();
  uint64_t hash = start(continues);
  for (const char c : text) hash = step(hash, c);
  if (find(hash, text, continues) != nullptr) return false;
  pieces_.push_back({text, id, continues});
  put(hash, static_cast<uint32_t>(pieces_.size()));
  longest_ = std::max(longest_, text.size());
  return true;
}

PieceTable::Match PieceTable::longest(std::string_view text, bool continues) const {
  if (pieces_.empty()) return {};
  std::array<uint64_t, kLongestPiece> hashes;
  const size_t most = std::min({longest_, text.size(), hashes.size()});
  uint64_t hash = start(continues);
  for (size_t i = 0; i < most; ++i) hashes[i] = hash = step(hash, text[i]);
  for (size_t size = most; size > 0; --size) {
    const Piece* const piece = find(hashes[size - 1], text.substr(0, size), continues);
    if (piece != nullptr) return {piece->id, size};
  }
  return {};
}

const PieceTable::Piece* PieceTable::find(uint64_t hash, std::string_view text,
                                          bool continues) const {
  for (size_t at = slot_of(hash); slots_[at].piece != 0; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].hash != static_cast<uint32_t>(hash)) continue;
    const Piece& piece = pieces_[slots_[at].piece - 1];
    if (piece.continues == continues && piece.text == text) return &piece;
  }
  return nullptr;
}

void PieceTable::put(uint64_t hash, uint32_t piece) {
  size_t at = slot_of(hash);
  while (slots_[at].piece != 0) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {static_cast<uint32_t>(hash), piece};
}

void PieceTable::grow() {
  slots_.assign(std::max<size_t>(64, 2 * slots_.size()), Slot());
  for (uint32_t i = 0; i < pieces_.size(); ++i) {
    uint64_t hash = start(pieces_[i].continues);
    for (const char c : pieces_[i].text) hash = step(hash, c);
    put(hash, i + 1);
  }
}

}  // namespace attend
