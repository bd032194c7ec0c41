#include "attend/tensor/training.h"

namespace attend {
namespace {

thread_local TrainingScope* current = nullptr;

}  // namespace

TrainingScope::TrainingScope(Rng source) : rng(source), before_(current) { current = this; }

TrainingScope::~TrainingScope() { current = before_; }

TrainingScope* current_training() { return current; }

}  // namespace attend
