// Rotary positions (Su et al., 2021): pairs of columns of a head are rotated by an angle that grows
// with the position, so that a dot product depends on differences of positions only.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "attend/tensor/tensor.h"

namespace attend {

// Which columns are a pair: i and i + rotated / 2 (GPT-NeoX, Llama), or 2 i and 2 i + 1 (GPT-J, the
// paper).
enum class RotaryLayout { kHalf, kInterleaved };

std::string_view name_of(RotaryLayout layout);

// How the frequencies f_i = base^(-2 i / d) of the d / 2 pairs are scaled, so that a model reads
// `factor` times the context C that it was trained on.
enum class RotaryScaling {
  kNone,
  // Position interpolation (Chen et al., 2023): f_i / factor.
  kLinear,
  // NTK-aware (bloc97, 2023): base factor^(d / (d - 2)) for the base. The first pair keeps its
  // frequency, that of the last one is divided by the factor.
  kNtk,
  // NTK-aware by length (emozilla, 2023): for a length L above C,
  // base (factor L / C - factor + 1)^(d / (d - 2)) for the base.
  kDynamicNtk,
  // YaRN (Peng et al., 2023): (1 - r_i) f_i + r_i f_i / factor. The ramp r_i rises from 0 to 1
  // between the pairs that make beta_fast and beta_slow turns in C. It is linear in i, from the
  // floor of the first to the ceiling of the second, as in the authors' code. Cosines and sines
  // are multiplied by 0.1 ln(factor) + 1.
  kYarn,
  // Llama 3.1 (Grattafiori et al., 2024). With t = C f_i / (2 pi) turns in C: f_i for t above
  // high_frequency_factor, f_i / factor for t below low_frequency_factor, and between them
  // s f_i + (1 - s) f_i / factor with s = (t - low) / (high - low).
  kLlama3,
};

std::string_view name_of(RotaryScaling scaling);

// A scaling with its parameters.
struct RotaryScale {
  RotaryScaling method = RotaryScaling::kNone;
  float factor = 1.0f;          // 1 or more
  size_t original_context = 0;  // C, for dynamic NTK, YaRN and Llama 3
  // L, for dynamic NTK. Positions do not set it, because cached keys must keep their base.
  size_t length = 0;
  float beta_fast = 32.0f, beta_slow = 1.0f;                        // for YaRN
  float low_frequency_factor = 1.0f, high_frequency_factor = 4.0f;  // for Llama 3
  float attention_factor = 0.0f;  // multiplies cosines and sines; 0: as the method says
};

// Rotary positions of a head.
struct Rotary {
  RotaryLayout layout = RotaryLayout::kHalf;
  float base = 10000.0f;  // pair i turns by position * scale / base^(2 i / rotated)
  float scale = 1.0f;     // of positions: 1 / 4 is RotaryScaling::kLinear with a factor of 4
  size_t rotated = 0;  // columns of each head that are rotated, from the first on; 0: all, or two
                       // for each inverse frequency
  RotaryScale scaling = {};
  // Used instead of base and scaling if given (a model's `inv_freq`): pair i turns by position *
  // scale * inverse_frequencies[i].
  std::vector<float> inverse_frequencies = {};
};

// How many columns of a head of this width are rotated.
size_t rotated_columns(const Rotary& rotary, size_t width);

// The frequency of each pair after scaling, in radians per position. Throws ConfigError if the
// options contradict each other or the width of the head.
std::vector<double> rotary_frequencies(const Rotary& rotary, size_t width);

// The factor that multiplies cosines and sines.
double rotary_attention_factor(const RotaryScale& scaling);

// Precomputed cosines and sines: row p is for position p.
struct RotaryTables {
  Tensor cosine, sine;  // [positions, pairs]
};
RotaryTables rotary_tables(size_t positions, size_t width, const Rotary& rotary = {});

// Rotates the heads of x [rows, heads x width]; there is one position per row. On the tape.
Tensor rotate(const Tensor& x, std::span<const int32_t> positions, size_t heads,
              const Rotary& rotary = {});
// The same with precomputed tables, which rotate two columns of a head for each of their pairs.
Tensor rotate(const Tensor& x, std::span<const int32_t> positions, size_t heads,
              const RotaryTables& tables, RotaryLayout layout = RotaryLayout::kHalf);

}  // namespace attend
