#include "attend/inspect/point_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/inspect/npy.h"
#include "attend/inspect/pca.h"
#include "attend/inspect/png_map.h"
#include "attend/inspect/point_page.h"
#include "attend/io/json_text.h"

namespace attend {
namespace {

constexpr Named<ProjectionMethod> kProjections[] = {{ProjectionMethod::kPca, "pca"},
                                                    {ProjectionMethod::kTsne, "tsne"}};

std::optional<double> number_in(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && read == end ? std::optional(number) : std::nullopt;
}

std::string axis_name(size_t component, double share) {
  return fmt::format("component {}, {:.3g} % of the variance", component, 100 * share);
}

void place(PointMap& map, const Tensor& points) {
  const size_t width = points.width();
  for (size_t i = 0; i < map.points.size(); ++i) {
    map.points[i].x = points.data()[i * width];
    map.points[i].y = width > 1 ? points.data()[i * width + 1] : 0.0f;
  }
}

}  // namespace

ProjectionMethod projection_from_name(std::string_view name) {
  return value_from_name(kProjections, "method", name);
}

std::string_view name_of(ProjectionMethod method) { return name_from_value(kProjections, method); }

std::vector<std::string> projection_names() {
  std::vector<std::string> names;
  for (const auto& projection : kProjections) names.emplace_back(projection.name);
  return names;
}

std::vector<PointMap::LabelCount> PointMap::labels() const {
  std::map<std::string, size_t> counts;
  for (const MapPoint& point : points) ++counts[point.label];
  if (counts.size() == 1 && counts.begin()->first.empty()) return {};
  std::vector<LabelCount> found;
  for (const auto& [label, count] : counts) found.push_back({label, count});
  const bool all_numbers = std::ranges::all_of(
      found, [](const LabelCount& each) { return number_in(each.label).has_value(); });
  if (all_numbers) {
    std::ranges::stable_sort(found, {},
                             [](const LabelCount& each) { return *number_in(each.label); });
  }
  return found;
}

PointMap project(const Tensor& vectors, std::span<const std::string> texts,
                 std::span<const std::string> labels, const ProjectionConfig& config,
                 const TsneListener& listener) {
  if (texts.size() != vectors.rows()) {
    throw DataError("picture: {} vectors, but {} texts", vectors.rows(), texts.size());
  }
  if (!labels.empty() && labels.size() != texts.size()) {
    throw DataError("picture: {} texts, but {} labels; each text needs one", texts.size(),
                    labels.size());
  }
  if (texts.size() > kMostPoints) {
    throw DataError("picture: {} points cannot be told apart; give at most {}", texts.size(),
                    kMostPoints);
  }
  PointMap map;
  for (size_t i = 0; i < texts.size(); ++i) {
    map.points.push_back({.text = texts[i], .label = labels.empty() ? "" : labels[i]});
  }
  if (config.method == ProjectionMethod::kPca) {
    const PrincipalComponents found = principal_components(vectors, 2);
    map.title = "PCA";
    map.x_axis = axis_name(1, found.shares[0]);
    if (found.shares.size() > 1) map.y_axis = axis_name(2, found.shares[1]);
    place(map, found.points);
  } else {
    const TsnePoints found = tsne(vectors, config.tsne, listener);
    map.title = fmt::format("t-SNE, perplexity {:.3g}", found.perplexity);
    place(map, found.points);
  }
  return map;
}

std::string points_json(const PointMap& map) {
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (const MapPoint& point : map.points) {
    points.push_back({{"x", shortest(point.x)},
                      {"y", shortest(point.y)},
                      {"text", point.text},
                      {"label", point.label}});
  }
  return json_text({{"title", map.title},
                    {"x_axis", map.x_axis},
                    {"y_axis", map.y_axis},
                    {"points", std::move(points)}});
}

std::string draw_points(const PointMap& map, PictureFormat format) {
  switch (format) {
    case PictureFormat::kSvg:
      return points_svg(map);
    case PictureFormat::kPng:
      return png_of_svg(points_svg(map));
    case PictureFormat::kHtml:
      return points_html(map);
    case PictureFormat::kJson:
      return points_json(map) + "\n";
    case PictureFormat::kNpy: {
      std::vector<float> values;
      for (const MapPoint& point : map.points) values.insert(values.end(), {point.x, point.y});
      return npy_bytes(Tensor::of(values, {map.points.size(), 2}));
    }
    case PictureFormat::kTerminal:
    case PictureFormat::kMoses:
      break;
  }
  throw ConfigError("picture: points are drawn as .svg, .png, .html, .json or .npy");
}

}  // namespace attend
