// A hook on token embeddings, to see, change or differentiate them. While an EmbeddingTap is
// installed in a thread, every Embedding that the thread runs goes through it.
#pragma once

#include <functional>

#include "attend/tensor/tensor.h"

namespace attend {

class EmbeddingTap {
 public:
  EmbeddingTap();  // installs itself in this thread, in place of the one before
  virtual ~EmbeddingTap();
  EmbeddingTap(const EmbeddingTap&) = delete;
  EmbeddingTap& operator=(const EmbeddingTap&) = delete;

  // What the model gets for `ids`, [ids..., width]. `look_up` gives the vectors of any ids in the
  // table. The ids may lie beyond the table if the tap knows what they mean.
  using LookUp = std::function<Tensor(const Tensor& ids)>;
  virtual Tensor embed(const Tensor& ids, const LookUp& look_up) = 0;

 private:
  EmbeddingTap* before_;
};

// The tap that was installed last in this thread, or nullptr.
EmbeddingTap* current_embedding_tap();

}  // namespace attend
