// A matrix to be drawn. Every picture (terminal, SVG, HTML) and every file of values starts here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/tokens.h"

namespace attend {

// Printed beside pictures of attention, and of saliency.
inline constexpr std::string_view kAttentionNote =
    "Attention weights show where the model looks, not why it decides: what it looks at may matter "
    "little, and other weights can give the same output. Compare with saliency.";
inline constexpr std::string_view kSaliencyNote =
    "Saliency shows how the output would change with each token's vector, near this input only "
    "(integrated: on the path from unknown tokens to it). Above 0, a token speaks for the output. "
    "Attention shows where the model looks.";

struct HeatMap {
  std::string title;                       // "decoder.1.cross, head 3"
  std::vector<std::string> rows, columns;  // labels; as many as values has
  Tensor values;                           // [rows, columns] fp32
  float most = 1.0f;                       // |value| of the darkest colour; lighter in proportion
  bool has_sign = false;                   // negative values have a colour of their own
  std::string note{kAttentionNote};        // what a reader should know of such maps
  Framing row_framing = {}, column_framing = {};  // which labels are a start or an end, no text

  // Throws ShapeError where the labels are not as many as the values, DataError where `most` is no
  // positive number. Values may be anything: what is no number is drawn as 0.
  void check() const;

  float largest() const;  // |value|, or 1 where all are zero: a `most` that uses all colours
  float at(size_t row, size_t column) const;  // the value
  float level(size_t row,
              size_t column) const;  // in parts of `most`: in [0, 1], or [-1, 1] with sign
};

// The strongest colour becomes the largest value of all of them: maps that stand together can be
// compared.
void share_scale(std::span<HeatMap> maps);

}  // namespace attend
