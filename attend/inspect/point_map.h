// Vectors as points of a plane, coloured by their labels: what a picture of embeddings shows.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/inspect/draw.h"
#include "attend/inspect/tsne.h"
#include "attend/tensor/tensor.h"

namespace attend {

// How vectors become points.
enum class ProjectionMethod { kPca, kTsne };
ProjectionMethod projection_from_name(std::string_view name);  // ConfigError with the choices
std::string_view name_of(ProjectionMethod method);
std::vector<std::string> projection_names();

// The most points of a picture.
inline constexpr size_t kMostPoints = 50'000;

// One vector in the plane.
struct MapPoint {
  float x = 0, y = 0;
  std::string text, label = {};
};

struct PointMap {
  std::string title;
  std::string x_axis, y_axis;  // what they are; empty: they mean nothing by themselves
  std::vector<MapPoint> points;
  bool named = false;  // texts stand beside points, where there is room: for words

  // The labels, and how many points each has: numbers by size, others by name. A map without
  // labels has none.
  struct LabelCount {
    std::string label;
    size_t points = 0;
  };
  std::vector<LabelCount> labels() const;
};

struct ProjectionConfig {
  ProjectionMethod method = ProjectionMethod::kPca;
  TsneConfig tsne;
};

// A note for readers.
inline constexpr std::string_view kPointsNote =
    "A plane cannot show all of a space. PCA keeps the largest distances: axes have a meaning, and "
    "shares of the variance say how much is left out. t-SNE keeps neighbours together: distances "
    "between groups, and their sizes, mean little.";

// The rows of `vectors`, [texts, width], with a text each, and a label each or none. Throws
// DataError for too few vectors, too many, or other counts of texts and labels.
PointMap project(const Tensor& vectors, std::span<const std::string> texts,
                 std::span<const std::string> labels, const ProjectionConfig& config,
                 const TsneListener& listener = {});

// As SVG, PNG, HTML (with the text of the point under the pointer), JSON or NPY ([points, 2]).
// Throws ConfigError for a terminal and for Moses links.
std::string draw_points(const PointMap& map, PictureFormat format);

// {"title", "x_axis", "y_axis", "points": [{"x", "y", "text", "label"}]}.
std::string points_json(const PointMap& map);

}  // namespace attend
