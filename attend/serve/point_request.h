// What the page asks for when it wants a picture of embeddings. Not for use outside serve/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attend/inspect/point_map.h"
#include "attend/io/model_directory.h"
#include "attend/models/text_model.h"

namespace attend {

// Whose vectors become points.
enum class PointSource {
  kTexts,  // texts of validation, then of training, with their labels
  kWords,  // the first words of the vocabulary
  kLines,  // lines that were given, each with a label after a tab, or none
};

struct PointRequest {
  size_t model = 0;
  PointSource source = PointSource::kTexts;
  size_t most = 500;                       // points
  std::vector<std::string> texts, labels;  // of kLines; labels are as many, or none
  ProjectionConfig projection;

  // Throws ConfigError or DataError that a person can act on.
  static PointRequest parse(std::string_view json);
};

// The most points that the page shows.
inline constexpr size_t kMostShownPoints = 2000;

// Texts with their labels, or without any.
struct LabelledTexts {
  std::vector<std::string> texts, labels;
};

// Records of the corpora that training leaves in a model directory, validation first, at even
// distances, cut to what the model can read. None where there are no such corpora, or where they are damaged.
LabelledTexts texts_of_corpus(const ModelDirectory& directory, const TextModel& model, size_t most);

}  // namespace attend
