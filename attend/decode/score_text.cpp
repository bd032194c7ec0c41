#include "attend/decode/score_text.h"

#include <algorithm>
#include <numeric>

#include "attend/base/error.h"

namespace attend {
namespace {

std::vector<std::string> chosen(std::span<const std::string> lines, std::span<const size_t> which) {
  std::vector<std::string> some;
  some.reserve(which.size());
  for (const size_t i : which) some.push_back(lines[i]);
  return some;
}

}  // namespace

std::vector<ScoredText> score_text(const TextModel& model, std::span<const std::string> sources,
                                   std::span<const std::string> targets, size_t batch_tokens) {
  if (sources.size() != targets.size()) {
    throw DataError("score: {} sources but {} targets", sources.size(), targets.size());
  }
  std::vector<ScoredText> all(sources.size());
  std::vector<size_t> lengths(sources.size()), order(sources.size());
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].tokens = model.target->encode(targets[i]);
    lengths[i] = model.source->encode(sources[i]).size() + all[i].tokens.size() + 2;  // two ends
  }
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return lengths[i]; });

  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    size_t tokens = lengths[order[end++]];
    while (end < order.size() && (tokens += lengths[order[end]]) <= batch_tokens) ++end;
    const auto which = std::span(order).subspan(begin, end - begin);
    std::vector<Scored> scored = score(*model.model, model.sources(chosen(sources, which)),
                                       model.targets(chosen(targets, which)));
    for (size_t i = 0; i < which.size(); ++i) all[which[i]].scored = std::move(scored[i]);
  }
  return all;
}

}  // namespace attend
