#include "attend/train/masking.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "attend/data/words.h"
#include "attend/text/tokenizer.h"
#include "tests/errors.h"

namespace attend {
namespace {

using MaskIds = std::vector<int32_t>;

// A vocabulary of the words w0 to w95, and one without a mask.
std::shared_ptr<const Tokenizer> hundred_words(bool mask = true) {
  std::string line;
  for (int i = 0; i < 96; ++i) line += fmt::format("w{} ", i);
  return train_tokenizer({.kind = TokenizerKind::kWord, .vocabulary = 0, .mask = mask},
                         std::vector{line});
}

// Within five standard deviations of a share of `count` draws.
void expect_share(double found, double share, double count) {
  EXPECT_NEAR(found, share, 5 * std::sqrt(share * (1 - share) / count));
}

TEST(Masking, HidesTheSharesThatWereAskedFor) {
  const auto tokenizer = hundred_words();
  const auto special = tokenizer->special();
  constexpr int kTexts = 400, kTokens = 200;
  double chosen = 0, masked = 0, random = 0, kept = 0;
  for (int t = 0; t < kTexts; ++t) {
    MaskIds ids = {special.start};
    for (int i = 0; i < kTokens; ++i) ids.push_back(4 + (t * 31 + i * 17) % 96);
    ids.push_back(special.end);
    const MaskedText text =
        masked_text(ids, *tokenizer, {}, RandomStream(3, static_cast<uint64_t>(t)));
    ASSERT_EQ(text.read.size(), ids.size());
    EXPECT_TRUE(std::ranges::is_sorted(text.places));
    const std::set<size_t> places(text.places.begin(), text.places.end());
    EXPECT_EQ(places.size(), text.places.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      if (!places.contains(i)) {
        EXPECT_EQ(text.read[i], ids[i]);
        continue;
      }
      EXPECT_TRUE(i > 0 && i + 1 < ids.size()) << "starts and ends are never hidden";
      ++chosen;
      masked += text.read[i] == special.mask ? 1 : 0;
      kept += text.read[i] == ids[i] ? 1 : 0;
      random += text.read[i] != ids[i] && text.read[i] != special.mask ? 1 : 0;
      EXPECT_GE(text.read[i], special.mask);
    }
  }
  expect_share(chosen / (kTexts * kTokens), 0.15, kTexts * kTokens);
  expect_share(masked / chosen, 0.8, chosen);
  expect_share(random / chosen, 0.1 * 95 / 96, chosen);  // one in 96 is the token itself
  expect_share(kept / chosen, 0.1 + 0.1 / 96, chosen);
}

TEST(Masking, SharesCanBeSet) {
  const auto tokenizer = hundred_words();
  const MaskIds ids = {1, 10, 20, 30, 2};
  const RandomStream random(1, 1);
  const MaskedText all =
      masked_text(ids, *tokenizer, {.share = 1, .masked = 1, .random = 0}, random);
  EXPECT_EQ(all.read, (MaskIds{1, kMask, kMask, kMask, 2}));
  EXPECT_EQ(all.places, (std::vector<size_t>{1, 2, 3}));
  const MaskedText seen =
      masked_text(ids, *tokenizer, {.share = 1, .masked = 0, .random = 0}, random);
  EXPECT_EQ(seen.read, ids);
  EXPECT_EQ(seen.places.size(), 3u);
}

TEST(Masking, ATextHasAtLeastOne) {
  const auto tokenizer = hundred_words();
  std::set<size_t> places;
  for (uint64_t i = 0; i < 60; ++i) {
    const MaskedText text =
        masked_text(MaskIds{1, 10, 20, 30, 2}, *tokenizer, {.share = 1e-9}, RandomStream(1, i));
    ASSERT_EQ(text.places.size(), 1u);
    places.insert(text.places.front());
  }
  EXPECT_EQ(places, (std::set<size_t>{1, 2, 3}));
  EXPECT_TRUE(masked_text(MaskIds{1, 2}, *tokenizer, {}, RandomStream(1, 1)).places.empty());
  EXPECT_TRUE(masked_text(MaskIds{}, *tokenizer, {}, RandomStream(1, 1)).places.empty());
}

TEST(Masking, FollowsFromTheStream) {
  const auto tokenizer = hundred_words();
  MaskIds ids;
  for (int i = 0; i < 60; ++i) ids.push_back(4 + i);
  const auto hidden = [&](uint64_t stream) {
    return masked_text(ids, *tokenizer, {}, RandomStream(1, stream));
  };
  EXPECT_EQ(hidden(1).places, hidden(1).places);
  EXPECT_EQ(hidden(1).read, hidden(1).read);
  EXPECT_NE(hidden(1).places, hidden(2).places);
}

// Each word is hidden whole or not at all, with the space before it.
TEST(Masking, WordsAreHiddenWhole) {
  const std::vector<std::string> lines(50, "one two three four");
  for (const TokenizerKind kind :
       {TokenizerKind::kCharacter, TokenizerKind::kByte, TokenizerKind::kBpe}) {
    SCOPED_TRACE(name_of(kind));
    const auto tokenizer = train_tokenizer({.kind = kind, .vocabulary = 18, .mask = true}, lines);
    const WordTokens words =
        encode_words([&](std::string_view word) { return tokenizer->encode(word); },
                     words_of("one two three"), 0);
    ASSERT_GT(words.ids.size(), 3u);
    std::vector<int> hidden_alone(3);
    for (uint64_t i = 0; i < 300; ++i) {
      const MaskedText text = masked_text(words.ids, *tokenizer,
                                          {.share = 0.3, .whole_words = true}, RandomStream(1, i));
      std::vector<size_t> hidden;
      size_t begin = 0;
      for (size_t w = 0; w < 3; ++w) {
        const auto end = static_cast<size_t>(words.last[w]) + 1;
        const auto inside = std::ranges::count_if(
            text.places, [&](size_t place) { return place >= begin && place < end; });
        if (inside > 0) {
          EXPECT_EQ(static_cast<size_t>(inside), end - begin) << w;
          hidden.push_back(w);
        }
        begin = end;
      }
      ASSERT_FALSE(hidden.empty());
      if (hidden.size() == 1) ++hidden_alone[hidden.front()];
    }
    for (const int times : hidden_alone) EXPECT_GT(times, 20);
  }
}

TEST(Masking, NeedsAMaskToken) {
  expect_error<ConfigError>(
      [] {
        masked_text(MaskIds{1, 10, 2}, *hundred_words(false), {}, RandomStream(1, 1));
      },
      "the tokenizer has no mask token");
}

TEST(Masking, SharesAreChecked) {
  const auto check = [](const MaskingConfig& config) { return [=] { config.check(); }; };
  MaskingConfig().check();
  expect_error<ConfigError>(check({.share = 0}), "masking.share is 0");
  expect_error<ConfigError>(check({.share = 1.5}), "masking.share is 1.5");
  expect_error<ConfigError>(check({.share = NAN}), "masking.share is nan");
  expect_error<ConfigError>(check({.masked = 0.8, .random = 0.3}), "together at most 1");
  expect_error<ConfigError>(check({.masked = -0.1}), "together at most 1");
}

}  // namespace
}  // namespace attend
