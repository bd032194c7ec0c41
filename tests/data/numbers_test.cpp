#include "attend/data/numbers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attend {
namespace {

TEST(Numbers, AreReadAsPeopleWriteThem) {
  const std::pair<const char*, float> cases[] = {
      {"3", 3.0f},      {"-0.5", -0.5f},
      {"1e3", 1000.0f}, {"1E-2", 0.01f},
      {"+2", 2.0f},     {" 2\t", 2.0f},
      {".5", 0.5f},     {"5.", 5.0f},
      {"-0", -0.0f},    {"16777217", 16777216.0f},  // the nearest float32
      {"1e-50", 0.0f},  {"3.4028234e38", 3.4028234e38f},
  };
  for (const auto& [text, number] : cases) {
    ASSERT_TRUE(parsed_number(text)) << text;
    EXPECT_EQ(*parsed_number(text), number) << text;
    EXPECT_EQ(std::signbit(*parsed_number(text)), std::signbit(number)) << text;
  }
}

TEST(Numbers, OtherTextIsNone) {
  for (const char* text : {"",
                           " ",
                           "nan",
                           "NaN",
                           "inf",
                           "-infinity",
                           "0x1",
                           "1e39",
                           "-1e39",
                           "1e999",
                           "1,5",
                           "1 2",
                           "+-2",
                           "++2",
                           "--2",
                           "+",
                           "-",
                           ".",
                           "e3",
                           "1e",
                           "2x",
                           "\xC2\xA0"
                           "2",
                           "٣"}) {
    EXPECT_FALSE(parsed_number(text)) << text;
  }
}

}  // namespace
}  // namespace attend
