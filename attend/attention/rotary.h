// Rotary positions (Su et al., 2021): pairs of columns of a head are turned by an angle that grows
// with the position, so that a dot product depends on differences of positions only.
#pragma once

#include <span>
#include <string_view>

#include "attend/tensor/tensor.h"

namespace attend {

// Which columns are a pair: i and i + rotated / 2 (GPT-NeoX, Llama), or 2 i and 2 i + 1 (GPT-J, the
// paper).
enum class RotaryLayout { kHalf, kInterleaved };

RotaryLayout rotary_layout_from_name(std::string_view name);  // "half", "interleaved"
std::string_view name_of(RotaryLayout layout);

struct Rotary {
  RotaryLayout layout = RotaryLayout::kHalf;
  float base = 10000.0f;  // pair i turns by position * scale / base^(2 i / rotated)
  float scale = 1.0f;     // of positions: 1 / 4 stretches a trained length by 4 (Chen et al., 2023)
  size_t rotated = 0;     // columns of each head that turn, from the first on; 0: all
};

// x [rows, heads x width]; positions, one a row.
Tensor rotate(const Tensor& x, std::span<const int32_t> positions, size_t heads,
              const Rotary& rotary = {});

}  // namespace attend
