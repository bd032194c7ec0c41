#include "attend/attention/bias.h"

#include <bit>
#include <cmath>

#include "attend/base/error.h"
#include "attend/ops/embedding.h"
#include "attend/ops/shape.h"

namespace attend {

std::vector<float> alibi_slopes(size_t heads) {
  const size_t power = heads == 0 ? 1 : std::bit_floor(heads);
  const auto slope = [](size_t i, size_t of) {
    return static_cast<float>(std::exp2(-8.0 * static_cast<double>(i) / static_cast<double>(of)));
  };
  std::vector<float> slopes;
  for (size_t i = 1; i <= power && slopes.size() < heads; ++i) slopes.push_back(slope(i, power));
  for (size_t i = 1; slopes.size() < heads; i += 2) slopes.push_back(slope(i, 2 * power));
  return slopes;
}

RelativeBias alibi(size_t heads, size_t farthest) {
  const std::vector<float> slopes = alibi_slopes(heads);
  const size_t size = 2 * farthest + 1;
  const Tensor values = Tensor::empty({heads, size});
  for (size_t h = 0; h < heads; ++h) {
    for (size_t i = 0; i < size; ++i) {
      const size_t distance = i < farthest ? farthest - i : i - farthest;
      values.data()[h * size + i] = -slopes[h] * static_cast<float>(distance);
    }
  }
  return {values, farthest};
}

size_t T5Buckets::of(int64_t distance) const {
  size_t half = count, first = 0;
  int64_t apart = -distance;
  if (bidirectional) {
    half /= 2;
    first = distance > 0 ? half : 0;
    apart = std::abs(distance);
  }
  apart = std::max<int64_t>(apart, 0);
  const size_t near = half / 2;
  if (apart < static_cast<int64_t>(near)) return first + static_cast<size_t>(apart);
  const double ratio = std::log(static_cast<double>(apart) / static_cast<double>(near)) /
                       std::log(static_cast<double>(farthest) / static_cast<double>(near));
  const auto far = static_cast<size_t>(ratio * static_cast<double>(half - near));
  return first + std::min(near + far, half - 1);
}

RelativeBias t5_bias(const Tensor& table, const T5Buckets& buckets, size_t reach) {
  if (table.rank() != 2 || table.rows() != buckets.count) {
    throw ShapeError("t5_bias: a table of shape {} for {} buckets; it is [buckets, heads]",
                     table.shape(), buckets.count);
  }
  const size_t least = buckets.bidirectional ? 4 : 2;
  if (buckets.count < least || buckets.farthest <= buckets.count / least) {
    throw ConfigError(
        "t5_bias: {} buckets up to distance {}; have at least {} buckets, and a "
        "distance above {}",
        buckets.count, buckets.farthest, least, buckets.count / least);
  }
  const auto far = static_cast<int64_t>(reach);
  std::vector<int32_t> places;
  for (int64_t d = -far; d <= far; ++d) places.push_back(static_cast<int32_t>(buckets.of(d)));
  return {transpose(gather_rows(table, Tensor::ids(places, {places.size()}))), reach};
}

}  // namespace attend
