// A hook on the rows between the layers of a model. While a RowTap is installed in a thread, it
// sees those of every model that the thread runs over whole sequences, and of some models in steps.
// It changes no result.
#pragma once

#include <string>

#include "attend/tensor/tensor.h"

namespace attend {

class RowTap {
 public:
  RowTap();  // installs itself in this thread, in place of the one before
  virtual ~RowTap();
  RowTap(const RowTap&) = delete;
  RowTap& operator=(const RowTap&) = delete;

  // The output of a stage, [rows, width]: "embedding", or the path of a layer such as "layers.0".
  virtual void see(const std::string& stage, const Tensor& rows) = 0;

 private:
  RowTap* before_;
};

// Gives the output of a stage to the tap that was installed last in this thread, if there is one.
void tap_rows(const char* stage, const Tensor& rows);
void tap_rows(const char* stage, size_t layer, const Tensor& rows);  // "stage.layer"

}  // namespace attend
