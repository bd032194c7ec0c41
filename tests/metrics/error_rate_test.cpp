#include "attend/metrics/error_rate.h"

#include <cmath>

#include "attend/base/error.h"
#include "tests/metrics/fixtures.h"

namespace attend {
namespace {

TEST(ErrorRate, AgreesWithJiwer) {
  const MetricFixtures fixtures;
  size_t compared = 0;
  for (const nlohmann::json& one : fixtures.all["errors"]) {
    SCOPED_TRACE(one.dump());
    const std::string hypothesis = one["hypothesis"], reference = one["reference"];
    const std::string_view references[] = {reference};
    for (const auto& [name, unit] :
         {std::pair("word", ErrorUnit::kWord), std::pair("character", ErrorUnit::kCharacter)}) {
      if (!one.contains(name)) continue;
      const ErrorStats stats = error_stats(hypothesis, references, unit);
      EXPECT_EQ(stats.edits, one[name][0].get<uint64_t>()) << name;
      EXPECT_EQ(stats.reference_length, one[name][1].get<uint64_t>()) << name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 100u);
}

TEST(ErrorRate, TakesTheReferenceWithFewestEditsThenTheLongest) {
  const std::string_view references[] = {"T AH M", "T AH M AA T OW", "T AH M EY T OW Z"};
  const ErrorStats stats = error_stats("T AH M EY T OW", references);
  EXPECT_EQ(stats.edits, 1u);
  EXPECT_EQ(stats.reference_length, 7u);
  EXPECT_EQ(stats.wrong_sequences, 1u);
}

TEST(ErrorRate, SumsOverLines) {
  const std::string_view pronunciations[] = {"R EH D", "R IY D"};
  ErrorStats stats = error_stats(" R  IY D ", pronunciations);
  EXPECT_EQ(sequence_accuracy(stats), 100);
  stats += error_stats("L EH D", pronunciations);
  stats += error_stats("R EH", pronunciations);
  stats += error_stats("R EH D Z", pronunciations);
  EXPECT_EQ(error_rate(stats), 25);
  EXPECT_EQ(sequence_accuracy(stats), 25);
}

TEST(ErrorRate, OfEmptyReferences) {
  const std::string_view empty[] = {""};
  EXPECT_EQ(error_rate(error_stats("", empty)), 0);
  EXPECT_TRUE(std::isinf(error_rate(error_stats("a", empty))));
  EXPECT_EQ(error_rate({}), 0);
  EXPECT_EQ(sequence_accuracy({}), 0);
  EXPECT_THROW(error_stats("a", {}), DataError);
}

}  // namespace
}  // namespace attend
