#include "attend/attention/rotary.h"

#include <cmath>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/parallel.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr Named<RotaryLayout> kLayouts[] = {{RotaryLayout::kHalf, "half"},
                                            {RotaryLayout::kInterleaved, "interleaved"}};

// Cosine and sine of each position and pair.
struct Turns {
  size_t pairs;
  std::vector<float> cosine, sine;  // (rows, pairs)

  Turns(std::span<const int32_t> positions, size_t rotated, const Rotary& rotary)
      : pairs(rotated / 2), cosine(positions.size() * pairs), sine(cosine.size()) {
    std::vector<double> rates(pairs);
    for (size_t i = 0; i < pairs; ++i) {
      rates[i] = rotary.scale * std::pow(double{rotary.base}, -2.0 * static_cast<double>(i) /
                                                                  static_cast<double>(rotated));
    }
    for (size_t row = 0; row < positions.size(); ++row) {
      for (size_t i = 0; i < pairs; ++i) {
        const double angle = positions[row] * rates[i];
        cosine[row * pairs + i] = static_cast<float>(std::cos(angle));
        sine[row * pairs + i] = static_cast<float>(std::sin(angle));
      }
    }
  }
};

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

}  // namespace

RotaryLayout rotary_layout_from_name(std::string_view name) {
  return value_from_name(kLayouts, "rotary layout", name);
}

std::string_view name_of(RotaryLayout layout) { return name_from_value(kLayouts, layout); }

Tensor rotate(const Tensor& x, std::span<const int32_t> positions, size_t heads,
              const Rotary& rotary) {
  if (x.rank() != 2 || heads == 0 || x.width() % heads != 0) {
    throw ShapeError("rotate: {} cannot be cut into {} heads", x.shape(), heads);
  }
  if (positions.size() != x.rows()) {
    throw ShapeError("rotate: {} positions for {} rows", positions.size(), x.rows());
  }
  const size_t width = x.width() / heads;
  const size_t rotated = rotary.rotated == 0 ? width : rotary.rotated;
  if (rotated % 2 != 0 || rotated > width) {
    throw ConfigError("rotate: {} of {} columns of a head cannot turn in pairs", rotated, width);
  }
  auto turns = std::make_shared<const Turns>(positions, rotated, rotary);
  const Tensor y = Tensor::like(x);
  turn(x, y, false, *turns, heads, rotary.layout, 1.0f);
  return record(y, {x}, [x, turns, heads, layout = rotary.layout](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    turn(dy, dx.tensor, dx.add, *turns, heads, layout, -1.0f);
  });
}

}  // namespace attend
