#include "attend/metrics/chrf.h"

#include "attend/base/error.h"
#include "tests/metrics/fixtures.h"

namespace attend {
namespace {

TEST(Chrf, AgreesWithSacrebleu) {
  const MetricFixtures fixtures;
  ASSERT_EQ(fixtures.all["chrf"].size(), 72u);
  for (const nlohmann::json& one : fixtures.all["chrf"]) {
    SCOPED_TRACE(one.dump());
    const ChrfOptions options{.character_order = one["characters"],
                              .word_order = one["words"],
                              .beta = one["beta"],
                              .lower_case = one["lower"],
                              .white_space = one["space"]};
    ChrfStats stats;
    std::vector<double> lines;
    fixtures.for_each_line(one["corpus"],
                           [&](const std::string& hypothesis, References references) {
                             stats += chrf_stats(hypothesis, references, options);
                             lines.push_back(sentence_chrf(hypothesis, references, options));
                           });
    EXPECT_NEAR(chrf_score(stats, options), one["score"].get<double>(), 1e-10);
    EXPECT_EQ(chrf_name(options), one["name"].get<std::string>());
    EXPECT_EQ(without_version(chrf_signature(stats, options)),
              without_version(one["signature"].get<std::string>()));
    if (!one.contains("lines")) continue;
    for (size_t i = 0; i < lines.size(); ++i) {
      EXPECT_NEAR(lines[i], one["lines"][i].get<double>(), 1e-10) << fixtures.hypotheses[i];
    }
  }
}

TEST(Chrf, OfNothingIsZero) { EXPECT_EQ(chrf_score({}), 0); }

TEST(Chrf, RefusesALineWithoutReference) { EXPECT_THROW(chrf_stats("a", {}), DataError); }

}  // namespace
}  // namespace attend
