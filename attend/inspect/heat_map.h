// A matrix to be drawn: the input of every picture (terminal, SVG, HTML) and every file of values.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/tokens.h"

namespace attend {

// Notes for readers of attention and saliency maps.
inline constexpr std::string_view kAttentionNote =
    "Attention weights show where the model looks, not why it decides: what it looks at may matter "
    "little, and other weights can give the same output. Compare with saliency.";
inline constexpr std::string_view kSaliencyNote =
    "Saliency shows how the output would change with each token's vector, near this input only "
    "(integrated: on the path from unknown tokens to it). Above 0, a token speaks for the output. "
    "Attention shows where the model looks.";

// A labelled matrix. Copies share the values.
struct HeatMap {
  std::string title;                       // "decoder.1.cross, head 3"
  std::vector<std::string> rows, columns;  // labels, as many as `values` has
  Tensor values;                           // [rows, columns] fp32
  float most = 1.0f;                       // absolute value of the strongest colour
  bool has_sign = false;                   // negative values have their own colours
  // Of each row, in place of `most`; empty: all rows have that one.
  std::vector<float> row_most = {};
  std::string note{kAttentionNote};               // for readers
  Framing row_framing = {}, column_framing = {};  // which labels are a start or an end
  std::string row_axis = {}, column_axis = {};    // what they are: "target", "source"
  // Rows and columns before which a line is drawn: where one text ends and the next begins.
  std::vector<size_t> row_breaks = {}, column_breaks = {};

  // Throws ShapeError if there are not as many labels as values, DataError if `most` is not
  // positive. Values may be NaN, which is drawn as 0.
  void check() const;

  // The largest absolute value, or 1 if all are 0: a `most` that uses all colours.
  float largest() const;
  float at(size_t row, size_t column) const;  // the value
  float level(size_t row,
              size_t column) const;  // as a share of `most`: in [0, 1], or [-1, 1] with sign
};

// Sets `most` of all maps to their largest value, so that they can be compared.
void share_scale(std::span<HeatMap> maps);

// Gives each row of a map a scale of its own, up to its largest value.
void scale_by_row(HeatMap& map);

}  // namespace attend
