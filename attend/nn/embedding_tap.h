// Vectors of tokens on their way into a model, to be seen, changed or differentiated. While an
// EmbeddingTap is installed in a thread, every Embedding that this thread runs goes through it.
#pragma once

#include <functional>

#include "attend/tensor/tensor.h"

namespace attend {

class EmbeddingTap {
 public:
  EmbeddingTap();  // installs itself, over the one before
  virtual ~EmbeddingTap();
  EmbeddingTap(const EmbeddingTap&) = delete;
  EmbeddingTap& operator=(const EmbeddingTap&) = delete;

  // What the model gets for `ids`, [ids..., width]. `look_up` gives the vectors of any ids; these
  // may be more than the table has, if only the tap knows what they mean.
  using LookUp = std::function<Tensor(const Tensor& ids)>;
  virtual Tensor embed(const Tensor& ids, const LookUp& look_up) = 0;

 private:
  EmbeddingTap* before_;
};

// The innermost one of this thread, or nullptr.
EmbeddingTap* current_embedding_tap();

}  // namespace attend
