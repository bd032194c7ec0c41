// The part of a model that turns tokens into rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attend/models/model.h"

namespace attend {

class SequenceEncoder {
 public:
  virtual ~SequenceEncoder() = default;
  virtual size_t width() const = 0;                     // of a row
  virtual Tensor rows(const Tokens& tokens) const = 0;  // [rows, width]
  virtual void visit(Visitor& v) = 0;
  // Its self-attention layers, for a sequence of this name.
  virtual std::vector<AttentionLayer> layers(const std::string& sequence) const = 0;
  // How many positions it has learned; none: no limit.
  virtual std::optional<size_t> positions() const = 0;
  // Whether the first row depends on the others.
  virtual bool first_sees_all() const { return true; }
};

}  // namespace attend
