// Files as they get damaged on their way: bits turn, bytes are lost, come twice or are others.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace attend {

// One damage somewhere in `bytes`.
inline std::string damaged(std::string bytes, std::mt19937& random) {
  const auto below = [&](size_t limit) { return random() % std::max<size_t>(limit, 1); };
  if (bytes.empty()) return "x";
  const size_t at = below(bytes.size());
  switch (below(5)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
      break;
    case 1:
      bytes[at] = static_cast<char>(below(256));
      break;
    case 2:
      bytes.resize(at);
      break;
    case 3:
      bytes.insert(at, bytes.substr(below(bytes.size()), below(40)));
      break;
    default:
      bytes.erase(at, below(40));
  }
  return bytes;
}

// Where in a file to damage it: every byte of its first `header` and last `footer` ones, and at
// most `others` in between.
inline std::vector<size_t> places_to_damage(size_t size, size_t header, size_t footer,
                                            size_t others) {
  const size_t between = size - std::min(size, header + footer);
  const size_t step = between / std::max<size_t>(others, 1) + 1;
  std::vector<size_t> places;
  for (size_t at = 0; at < size;) {
    places.push_back(at);
    const bool inside = at >= header && at + step < size - footer;
    at += inside ? step : 1;
  }
  return places;
}

// How many of `count` damaged copies of `whole`, some of them damaged twice, `take` refuses by an
// error of this kind; any other error, or a crash, is a failure of the test.
template <typename Kind, typename Take>
size_t refusals(const std::string& whole, int count, const Take& take) {
  std::mt19937 random(1);  // NOLINT: the same every time
  size_t refused = 0;
  for (int i = 0; i < count; ++i) {
    std::string bytes = damaged(whole, random);
    if (i % 3 == 0) bytes = damaged(bytes, random);
    try {
      take(bytes);
    } catch (const Kind&) {
      ++refused;
    }
  }
  return refused;
}

}  // namespace attend
