#include "attend/metrics/bleu.h"

#include "attend/base/version.h"
#include "tests/metrics/fixtures.h"

namespace attend {
namespace {

BleuOptions options_of(const nlohmann::json& one) {
  BleuOptions options{
      .tokens = value_from_name(kBleuTokens, "tokens", one["tokens"].get<std::string>()),
      .smoothing =
          value_from_name(kBleuSmoothings, "smoothing", one["smoothing"].get<std::string>()),
      .lower_case = one["lower"],
      .effective_order = one["effective"]};
  if (!one["value"].is_null()) options.smoothing_value = one["value"];
  return options;
}

TEST(Bleu, AgreesWithSacrebleu) {
  const MetricFixtures fixtures;
  ASSERT_EQ(fixtures.all["bleu"].size(), 216u);
  for (const nlohmann::json& one : fixtures.all["bleu"]) {
    SCOPED_TRACE(one.dump());
    const BleuOptions options = options_of(one);
    BleuStats stats;
    std::vector<double> lines;
    fixtures.for_each_line(one["corpus"],
                           [&](const std::string& hypothesis, References references) {
                             stats += bleu_stats(hypothesis, references, options);
                             lines.push_back(sentence_bleu(hypothesis, references, options).score);
                           });
    const BleuScore score = bleu_score(stats, options);
    EXPECT_NEAR(score.score, one["score"].get<double>(), 1e-10);
    EXPECT_EQ(score.text(), one["text"].get<std::string>());
    EXPECT_EQ(without_version(bleu_signature(stats, options)),
              without_version(one["signature"].get<std::string>()));
    if (!one.contains("lines")) continue;
    for (size_t i = 0; i < lines.size(); ++i) {
      EXPECT_NEAR(lines[i], one["lines"][i].get<double>(), 1e-10) << fixtures.hypotheses[i];
    }
  }
}

TEST(Bleu, TokensOf13aAreSacrebleus) {
  const MetricFixtures fixtures;
  for (const nlohmann::json& one : fixtures.all["texts"]) {
    EXPECT_EQ(bleu_tokenize(one["text"].get<std::string>()), one["13a"].get<std::string>());
  }
}

TEST(Bleu, SumsOfPartsAreTheWhole) {
  const MetricFixtures fixtures;
  BleuStats whole, parts[2];
  size_t line = 0;
  fixtures.for_each_line("some have two",
                         [&](const std::string& hypothesis, References references) {
                           const BleuStats stats = bleu_stats(hypothesis, references);
                           whole += stats;
                           parts[line++ % 2] += stats;
                         });
  parts[1] += parts[0];
  EXPECT_EQ(bleu_score(parts[1]).text(), bleu_score(whole).text());
  EXPECT_EQ(bleu_signature(parts[1]), bleu_signature(whole));
}

TEST(Bleu, SignatureSaysWhoseFigureItIs) {
  const std::string_view reference[] = {"a"};
  EXPECT_EQ(bleu_signature(bleu_stats("a", reference)),
            "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:attend-" +
                std::string(library_version()));
}

TEST(Bleu, OfNothingIsZero) {
  EXPECT_EQ(bleu_score({}).score, 0);
  EXPECT_EQ(bleu_score({}, {.effective_order = true}).score, 0);
}

TEST(Bleu, RefusesALineWithoutReference) { EXPECT_THROW(bleu_stats("a", {}), DataError); }

}  // namespace
}  // namespace attend
