#include "attend/io/bounded_json.h"

#include <nlohmann/json.hpp>

#include "tests/errors.h"

namespace attend {
namespace {

std::string refusal(const std::string& text, const DocumentLimits& limits = kSmallJson) {
  return message_of<FormatError>([&] { parse_bounded_json(text, "x.json", limits); });
}

TEST(BoundedJson, IsATree) {
  const auto json = parse_bounded_json(R"({"b":[1,{"c":null}],"a":"\u00e9"})", "x.json");
  EXPECT_EQ(json.dump(), R"({"b":[1,{"c":null}],"a":"é"})");
}

TEST(BoundedJson, SaysWhereItIsNone) {
  EXPECT_EQ(refusal("{\"a\":}"), "x.json: not JSON at byte 6");
  EXPECT_EQ(refusal(""), "x.json: not JSON at byte 1");
  EXPECT_EQ(refusal("1e999"), "x.json: not JSON");
}

TEST(BoundedJson, HasLimits) {
  const DocumentLimits limits{.bytes = 20, .values = 4, .depth = 3};
  EXPECT_EQ(refusal("[[[1]]]", limits), "no error");
  EXPECT_EQ(refusal("[[[[]]]]", limits), "x.json: JSON nested too deeply; at most 3 levels");
  EXPECT_EQ(refusal("[[],[],[]]", limits), "no error");
  EXPECT_EQ(refusal("[1,2,3,4]", limits), "x.json: too many values; at most 4 are read from JSON");
  EXPECT_EQ(refusal("{\"a\":1,\"b\":2}", limits),
            "x.json: too many values; at most 4 are read from JSON");
  EXPECT_EQ(refusal(std::string(21, ' '), limits),
            "x.json: 21 bytes of JSON are too many; at most 20");
  EXPECT_EQ(refusal(std::string(60'000, '[')), "x.json: JSON nested too deeply; at most 16 levels");
}

}  // namespace
}  // namespace attend
