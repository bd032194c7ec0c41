#include "attend/train/class_weights.h"

#include <gtest/gtest.h>

#include "attend/data/line_records.h"
#include "attend/models/text_model.h"
#include "tests/errors.h"
#include "tests/files.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

TEST(ClassWeights, AutoGivesAllLabelsTheSameWeightTogether) {
  const TemporaryDirectory directory;
  const fs::path file = directory.path() / "labels";
  std::ofstream(file) << "ham\nham\nham\nspam\n";
  const std::vector<std::string> lines = {"ham", "ham", "ham", "spam", "other"};
  const auto labels = train_tokenizer({.kind = TokenizerKind::kLine, .vocabulary = 0}, lines);
  LineRecords source({{.text = {.name = "label", .file = file},
                       .encoder = encoder_of(labels),
                       .kind = ColumnKind::kLabel,
                       .longest = 10}});
  const Corpus corpus = open_corpus(source, directory.path() / "corpus");
  const auto weight = [&](const std::vector<std::string>& texts, const char* label) {
    const Tensor weights = class_weights(texts, corpus, "label", *labels);
    return weights.data()[labels->encode(label).front() - labels->first_piece()];
  };
  EXPECT_FLOAT_EQ(weight({"auto"}, "ham"), 4.0f / (2 * 3));
  EXPECT_FLOAT_EQ(weight({"auto"}, "spam"), 4.0f / (2 * 1));
  EXPECT_EQ(weight({"auto"}, "other"), 1.0f);
  EXPECT_EQ(weight({"spam=3"}, "spam"), 3.0f);
  EXPECT_EQ(weight({"spam=3"}, "ham"), 1.0f);
  EXPECT_FALSE(class_weights({}, corpus, "label", *labels).defined());
  expect_error<ConfigError>([&] { weight({"eggs=3"}, "ham"); },
                            "names 'eggs', but the training text has no such label");
  const std::vector<std::string> wrong = {"spam"};
  expect_error<ConfigError>([&] { check_class_weights(wrong); }, "give auto, or a label");
}

}  // namespace
}  // namespace attend
