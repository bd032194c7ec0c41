#include "attend/attention/rotary.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/parallel.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr Named<RotaryLayout> kLayouts[] = {{RotaryLayout::kHalf, "half"},
                                            {RotaryLayout::kInterleaved, "interleaved"}};

// Cosine and sine of each row and pair.
struct Turns {
  size_t pairs;
  std::vector<float> cosine, sine;  // (rows, pairs)

  Turns(size_t rows, size_t pair_count)
      : pairs(pair_count), cosine(rows * pair_count), sine(rows * pair_count) {}
};

Turns turns_of(std::span<const int32_t> positions, const Rotary& rotary, size_t width) {
  const std::vector<double> frequencies = rotary_frequencies(rotary, width);
  const double factor = rotary_attention_factor(rotary.scaling);
  Turns turns(positions.size(), frequencies.size());
  for (size_t row = 0; row < positions.size(); ++row) {
    for (size_t i = 0; i < turns.pairs; ++i) {
      const double angle = positions[row] * (rotary.scale * frequencies[i]);
      turns.cosine[row * turns.pairs + i] = static_cast<float>(factor * std::cos(angle));
      turns.sine[row * turns.pairs + i] = static_cast<float>(factor * std::sin(angle));
    }
  }
  return turns;
}

Turns turns_of(std::span<const int32_t> positions, const RotaryTables& tables, size_t width) {
  const Tensor &cosine = tables.cosine, &sine = tables.sine;
  const auto shape = [](const Tensor& x) { return x.defined() ? x.shape().text() : "undefined"; };
  if (!cosine.defined() || !sine.defined() || cosine.rank() != 2 ||
      cosine.shape() != sine.shape() || 2 * cosine.width() > width) {
    throw ShapeError(
        "rotate: tables of cosines {} and sines {} for heads of {} columns; both are [positions, "
        "pairs], with up to {} pairs",
        shape(cosine), shape(sine), width, width / 2);
  }
  Turns turns(positions.size(), cosine.width());
  for (size_t row = 0; row < positions.size(); ++row) {
    if (positions[row] < 0 || static_cast<size_t>(positions[row]) >= cosine.rows()) {
      throw ShapeError("rotate: position {} of row {} is not within tables of {} positions",
                       positions[row], row, cosine.rows());
    }
    const auto at = static_cast<size_t>(positions[row]);
    std::copy_n(cosine.data() + at * cosine.stride(), turns.pairs,
                turns.cosine.data() + row * turns.pairs);
    std::copy_n(sine.data() + at * sine.stride(), turns.pairs,
                turns.sine.data() + row * turns.pairs);
  }
  return turns;
}

// to (+)= from, turned by the angles, or back where `sign` is -1.
void turn(const Tensor& from, const Tensor& to, bool add, const Turns& turns, size_t heads,
          RotaryLayout layout, float sign) {
  const size_t width = from.width() / heads, pairs = turns.pairs;
  const size_t first_step = layout == RotaryLayout::kHalf ? 1 : 2;
  const size_t apart = layout == RotaryLayout::kHalf ? pairs : 1;
  parallel_for(from.rows(), 1 + 16384 / (from.width() + 1), [&](size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      const float* cosine = turns.cosine.data() + row * pairs;
      const float* sine = turns.sine.data() + row * pairs;
      for (size_t h = 0; h < heads; ++h) {
        const float* x = from.data() + row * from.stride() + h * width;
        float* y = to.data() + row * to.stride() + h * width;
        const auto put = [add](float& place, float value) { place = add ? place + value : value; };
        for (size_t i = 0; i < pairs; ++i) {
          const size_t a = i * first_step, b = a + apart;
          const float s = sign * sine[i], xa = x[a], xb = x[b];
          put(y[a], xa * cosine[i] - xb * s);
          put(y[b], xb * cosine[i] + xa * s);
        }
        for (size_t c = 2 * pairs; c < width; ++c) put(y[c], x[c]);
      }
    }
  });
}

// The op, with the turns known.
Tensor turned(const Tensor& x, Turns all, size_t heads, RotaryLayout layout) {
  const auto turns = std::make_shared<const Turns>(std::move(all));
  const Tensor y = Tensor::like(x);
  turn(x, y, false, *turns, heads, layout, 1.0f);
  return record(y, {x}, [x, turns, heads, layout](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    turn(dy, dx.tensor, dx.add, *turns, heads, layout, -1.0f);
  });
}

// The width of a head.
size_t checked_width(const Tensor& x, std::span<const int32_t> positions, size_t heads) {
  if (x.rank() != 2 || heads == 0 || x.width() % heads != 0) {
    throw ShapeError("rotate: {} cannot be cut into {} heads", x.shape(), heads);
  }
  if (positions.size() != x.rows()) {
    throw ShapeError("rotate: {} positions for {} rows", positions.size(), x.rows());
  }
  return x.width() / heads;
}

}  // namespace

std::string_view name_of(RotaryLayout layout) { return name_from_value(kLayouts, layout); }

RotaryTables rotary_tables(size_t positions, size_t width, const Rotary& rotary) {
  std::vector<int32_t> all(positions);
  std::iota(all.begin(), all.end(), 0);
  const Turns turns = turns_of(all, rotary, width);
  const Shape shape{positions, turns.pairs};
  return {Tensor::of(turns.cosine, shape), Tensor::of(turns.sine, shape)};
}

Tensor rotate(const Tensor& x, std::span<const int32_t> positions, size_t heads,
              const Rotary& rotary) {
  const size_t width = checked_width(x, positions, heads);
  return turned(x, turns_of(positions, rotary, width), heads, rotary.layout);
}

Tensor rotate(const Tensor& x, std::span<const int32_t> positions, size_t heads,
              const RotaryTables& tables, RotaryLayout layout) {
  const size_t width = checked_width(x, positions, heads);
  return turned(x, turns_of(positions, tables, width), heads, layout);
}

}  // namespace attend
