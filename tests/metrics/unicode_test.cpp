#include "attend/metrics/unicode.h"

#include "tests/metrics/fixtures.h"

namespace attend {
namespace {

TEST(Unicode, ReadsTextAsPythonDoes) {
  const MetricFixtures fixtures;
  for (const nlohmann::json& one : fixtures.all["texts"]) {
    SCOPED_TRACE(one.dump());
    const std::string text = one["text"];
    const std::vector<std::string> words = one["words"];
    const std::vector<std::string_view> split = split_words(text);
    EXPECT_EQ(std::vector<std::string>(split.begin(), split.end()), words);
    EXPECT_EQ(full_lower_case(text), one["lower"].get<std::string>());
    EXPECT_EQ(strip(text), one["strip"].get<std::string>());
    EXPECT_EQ(code_points(text, WhiteSpace::kKeep), one["points"].get<std::vector<uint32_t>>());
  }
}

TEST(Unicode, AnInvalidByteIsAReplacementCharacter) {
  EXPECT_EQ(code_points("a\xff"
                        "b\xe2\x82",
                        WhiteSpace::kKeep),
            (std::vector<uint32_t>{'a', 0xfffd, 'b', 0xfffd}));
  EXPECT_EQ(full_lower_case("A\xff!B"), "a\xff!b");
}

TEST(Unicode, WhiteSpaceIsDroppedWherever) {
  EXPECT_EQ(code_points(" a\xe3\x80\x80"
                        "b\t",
                        WhiteSpace::kDrop),
            (std::vector<uint32_t>{'a', 'b'}));
  EXPECT_EQ(strip_end(" a \n"), " a");
  EXPECT_EQ(strip_end(" \n"), "");
}

}  // namespace
}  // namespace attend
