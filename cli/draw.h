// A matrix of weights as shades in the terminal.
#pragma once

#include <string>
#include <vector>

#include "attend/tensor/tensor.h"

namespace attend::cli {

// Rows of targets, columns of sources, whose labels stand upright above them. Labels past the
// weights' width, such as that of an end that was left out, are not drawn.
std::string draw_alignment(const Tensor& weights, const std::vector<std::string>& sources,
                           const std::vector<std::string>& targets);

}  // namespace attend::cli
