#include "attend/nn/row_tap.h"

namespace attend {
namespace {

thread_local RowTap* innermost = nullptr;

}  // namespace

RowTap::RowTap() : before_(innermost) { innermost = this; }
RowTap::~RowTap() { innermost = before_; }

void tap_rows(const char* stage, const Tensor& rows) {
  if (innermost != nullptr) innermost->see(stage, rows);
}

void tap_rows(const char* stage, size_t layer, const Tensor& rows) {
  if (innermost != nullptr) innermost->see(std::string(stage) + "." + std::to_string(layer), rows);
}

}  // namespace attend
