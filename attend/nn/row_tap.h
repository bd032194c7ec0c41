// Rows between the layers of a model, as they pass by. While a RowTap is installed in a thread, it
// sees those of every model that this thread runs over whole sequences, and of some over steps;
// nothing changes by a bit.
#pragma once

#include <string>

#include "attend/tensor/tensor.h"

namespace attend {

class RowTap {
 public:
  RowTap();  // installs itself, over the one before
  virtual ~RowTap();
  RowTap(const RowTap&) = delete;
  RowTap& operator=(const RowTap&) = delete;

  // What a stage gave: "embedding", or the path of a layer such as "layers.0". [rows, width]
  virtual void see(const std::string& stage, const Tensor& rows) = 0;

 private:
  RowTap* before_;
};

// Shows the innermost one of this thread, if there is one, what a stage gave.
void tap_rows(const char* stage, const Tensor& rows);
void tap_rows(const char* stage, size_t layer, const Tensor& rows);  // "stage.layer"

}  // namespace attend
