#include "attend/train/run_config.h"

#include <gtest/gtest.h>

#include "attend/decode/alignment.h"
#include "attend/models/text_model.h"
#include "attend/train/trainer.h"

namespace attend {
namespace {

// What a size is multiplied with is not known where it is read: none may be just any number.
template <typename Config>
void expect_ranges(Config config = {}) {
  for (const Field& field : fields_of(config).fields) {
    if (field.type->kind != FieldKind::kInteger) continue;
    EXPECT_NE(field.range, Range()) << field.path;
  }
  EXPECT_NO_THROW(check_ranges(config, "default"));
}

TEST(RunConfig, EveryIntegerHasARangeThatHoldsItsDefault) {
  expect_ranges<RunConfig>();
  expect_ranges<TrainingState>();
  expect_ranges<AlignmentConfig>();
  expect_ranges<AlignmentPlace>();
  for (const char* preset : {"tiny", "small", "base", "bahdanau", "luong", "vanilla", "conv"}) {
    expect_ranges(ModelConfig::of_preset(preset));
  }
}

}  // namespace
}  // namespace attend
