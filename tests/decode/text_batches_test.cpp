#include "attend/decode/text_batches.h"

#include <gtest/gtest.h>

#include "tests/decode/text_model.h"
#include "tests/errors.h"

namespace attend {
namespace {

using Batches = std::vector<std::vector<size_t>>;

TEST(ByLength, LongestFirstWithinTheBudget) {
  const std::vector<size_t> lengths = {2, 5, 3, 9, 1, 3};
  EXPECT_EQ(batches_by_length(lengths, 8), (Batches{{3}, {1, 2}, {5, 0, 4}}));
  EXPECT_EQ(batches_by_length(lengths, 100), (Batches{{3, 1, 2, 5, 0, 4}}));
}

TEST(ByLength, ALineLargerThanTheBudgetGoesAlone) {
  EXPECT_EQ(batches_by_length(std::vector<size_t>{7, 7}, 3), (Batches{{0}, {1}}));
  EXPECT_TRUE(batches_by_length({}, 3).empty());
}

TEST(TextPairs, InputsAreFramedAndWhatIsWrittenIsNot) {
  const TextModel model = small_text_model(TokenizerKind::kCharacter, {"abcde"});
  const std::vector<std::string> sources = {"a", "bcd"}, targets = {"edc", ""};
  const TextPairs pairs("test", model, sources, targets);
  size_t seen = 0;
  pairs.in_batches(
      model, 1, [&](std::span<const size_t> numbers, const Batch& inputs, const Tokens& written) {
        ASSERT_EQ(numbers.size(), 1u);
        const size_t i = numbers[0];
        const Tokenizer& source = model.tokenizer("source");
        const auto ids = inputs.tokens("source").ids.index_span();
        EXPECT_EQ(std::vector<int32_t>(ids.begin(), ids.end()),
                  framed(source.encode(sources[i]), {.end = true}, source.special()));
        EXPECT_EQ(written.packing.rows(), targets[i].size());
        ++seen;
      });
  EXPECT_EQ(seen, 2u);
}

TEST(TextPairs, ALanguageModelReadsOnlyWhatItWrites) {
  const TextModel model = toy_language_model();
  const std::vector<std::string> lines = {"ab", "cde"};
  const TextPairs pairs("test", model, {}, lines);
  pairs.in_batches(
      model, 100, [&](std::span<const size_t> numbers, const Batch& inputs, const Tokens& written) {
        EXPECT_EQ(inputs.size(), 2u);
        EXPECT_EQ(inputs.rows(), 0u);
        EXPECT_EQ(written.count(), numbers.size());
      });
  expect_error<DataError>(
      [&] { TextPairs("test", model, lines, lines); },
      "test: 2 lines to read, but the model reads nothing besides its own text");
}

}  // namespace
}  // namespace attend
