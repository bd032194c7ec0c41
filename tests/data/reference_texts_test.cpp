#include "attend/data/reference_texts.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

using Texts = std::vector<std::string>;

TEST(ReferenceTexts, AreOneForEachLineUnlessGrouped) {
  const Texts sources = {"a", "a", "b", "a"}, targets = {"1", "2", "3", "4"};
  const ReferenceTexts lines = reference_texts(sources, targets, false);
  EXPECT_EQ(lines.sources, sources);
  EXPECT_EQ(lines.targets, (std::vector<Texts>{{"1"}, {"2"}, {"3"}, {"4"}}));
  const ReferenceTexts grouped = reference_texts(sources, targets, true);
  EXPECT_EQ(grouped.sources, (Texts{"a", "b", "a"}));
  EXPECT_EQ(grouped.targets, (std::vector<Texts>{{"1", "2"}, {"3"}, {"4"}}));
  EXPECT_TRUE(reference_texts({}, {}, true).sources.empty());
}

}  // namespace
}  // namespace attend
