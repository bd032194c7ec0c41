#include "attend/nn/embedding_tap.h"

namespace attend {
namespace {

thread_local EmbeddingTap* current = nullptr;

}  // namespace

EmbeddingTap::EmbeddingTap() : before_(current) { current = this; }

EmbeddingTap::~EmbeddingTap() { current = before_; }

EmbeddingTap* current_embedding_tap() { return current; }

}  // namespace attend
