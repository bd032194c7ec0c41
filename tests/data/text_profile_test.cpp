#include "attend/data/text_profile.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(TextProfile, CountsCharactersWordsAndLines) {
  TextProfiler profiler({"source", "target"});
  profiler.add({"the cat", "die Katze"});
  profiler.add({"the dog", "der Hund"});
  profiler.add({"the cat", "größer"});
  const TextProfile profile = profiler.profile();
  EXPECT_EQ(profile.records, 3u);
  EXPECT_EQ(profile.seen, 3u);
  const ColumnProfile &source = profile.columns[0], &target = profile.columns[1];
  EXPECT_EQ(source.name, "source");
  EXPECT_EQ(source.characters, 21u);
  EXPECT_EQ(source.words, 6u);
  EXPECT_EQ(source.distinct_words, 3u);
  EXPECT_EQ(source.distinct_lines, 2u);
  EXPECT_EQ(source.long_line, 7u);
  EXPECT_EQ(target.characters, 9u + 8u + 6u);  // ö and ß are one each
  EXPECT_EQ(source.distinct_characters, 9u);   // t h e space c a d o g
  EXPECT_DOUBLE_EQ(profile.mean_characters(0), 7.0);
  EXPECT_DOUBLE_EQ(profile.mean_words(1), 5.0 / 3);
}

TEST(TextProfile, TellsTheWordsThatComeLate) {
  TextProfiler closed({"text"}), open({"text"});
  for (int i = 0; i < 100; ++i) {
    closed.add({i % 2 == 0 ? "left" : "right"});
    open.add({std::to_string(i)});
  }
  EXPECT_EQ(closed.profile().columns[0].new_words, 0u);
  EXPECT_EQ(open.profile().columns[0].new_words, 49u);
}

TEST(TextProfile, ComparesTwoColumns) {
  TextProfiler profiler({"source", "target"});
  profiler.add({"abc de", "abc xy"});
  const TextProfile profile = profiler.profile();
  EXPECT_DOUBLE_EQ(profile.shared_words, 0.5);
  EXPECT_DOUBLE_EQ(profile.shared_characters, 4.0 / 6);  // a b c and the space
}

TEST(TextProfile, LooksAtTheFirstRecordsAndCountsTheRest) {
  TextProfiler profiler({"text"}, 10);
  for (int i = 0; i < 4; ++i) profiler.add({"12345"});
  const TextProfile profile = profiler.profile();
  EXPECT_EQ(profile.records, 4u);
  EXPECT_EQ(profile.seen, 2u);
  EXPECT_DOUBLE_EQ(profile.all(profile.columns[0].characters), 20.0);
}

TEST(TextProfile, LeavesLineEndsAndBlankLinesOut) {
  TextProfiler profiler({"text"});
  profiler.add({"one\r\n"});
  profiler.add({" \n"});
  const TextProfile profile = profiler.profile();
  EXPECT_EQ(profile.blank, 1u);
  EXPECT_EQ(profile.columns[0].characters, 4u);
  EXPECT_EQ(profile.columns[0].words, 1u);
}

}  // namespace
}  // namespace attend
