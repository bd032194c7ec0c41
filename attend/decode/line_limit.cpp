#include "attend/decode/line_limit.h"

#include <algorithm>

#include "attend/base/error.h"

namespace attend {
namespace {

template <typename Config>
std::optional<size_t> places_of(const Config& config) {
  if (config.positions != PositionScheme::kLearned) return std::nullopt;
  return config.max_length;
}

}  // namespace

std::optional<size_t> learned_positions(const ModelConfig& config) {
  const bool label = config.kind == ModelKind::kLabel;
  const EncoderKind encoder = config.label.encoder;
  if (config.kind == ModelKind::kTransformer || (label && encoder == EncoderKind::kTransformer)) {
    return places_of(config.transformer);
  }
  if (config.kind == ModelKind::kConv || (label && encoder == EncoderKind::kConv)) {
    return places_of(config.conv);
  }
  return std::nullopt;
}

LineLimit line_limit(const ModelConfig& config, size_t most) {
  const std::optional<size_t> places = learned_positions(config);
  if (!places) return {most};
  const bool start =
      config.kind == ModelKind::kLabel && config.label.pooling == LabelPooling::kFirst;
  const size_t taken = start ? 2 : 1;  // by the end, and by a start before the text
  const size_t fit = std::max(*places, taken + 1) - taken;
  return most > 0 && most <= fit ? LineLimit{most} : LineLimit{fit, true};
}

void LineLimit::fail(std::string_view place, size_t count) const {
  throw DataError("{}: the line has {} tokens, and {}; break it into sentences{}", place, count,
                  by_places ? fmt::format("the model has learned places for {}", tokens)
                            : fmt::format("at most {} go through at once", tokens),
                  by_places ? "" : ", or raise --longest-line");
}

}  // namespace attend
