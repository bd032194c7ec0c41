#include "attend/base/fields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "attend/base/names.h"
#include "tests/errors.h"

namespace attend {
namespace {

enum class Colour { kRed, kGreen };
std::string_view name_of(Colour colour) {
  static constexpr Named<Colour> kColours[] = {{Colour::kRed, "red"}, {Colour::kGreen, "green"}};
  return name_from_value(kColours, colour);
}

// Whether text is a T, and what it reads back as.
template <typename T>
std::string round_trip(const std::string& text) {
  T value{};
  detail::FieldCollector collector;
  collector("field", value);
  const Field& field = collector.list.fields.front();
  if (!field.set(std::vector{text})) return "refused";
  const FieldTexts texts = field.get();
  return texts ? texts->front() : "nothing";
}

TEST(Fields, BoolsHaveThreePairsOfWords) {
  for (const char* yes : {"true", "yes", "on"}) EXPECT_EQ(round_trip<bool>(yes), "true");
  for (const char* no : {"false", "no", "off"}) EXPECT_EQ(round_trip<bool>(no), "false");
  for (const char* bad : {"", "1", "True!", "maybe"}) EXPECT_EQ(round_trip<bool>(bad), "refused");
}

TEST(Fields, IntegersKeepToTheirRange) {
  EXPECT_EQ(round_trip<int8_t>("-128"), "-128");
  EXPECT_EQ(round_trip<int8_t>("128"), "refused");
  EXPECT_EQ(round_trip<int8_t>("-129"), "refused");
  EXPECT_EQ(round_trip<uint16_t>("65535"), "65535");
  EXPECT_EQ(round_trip<uint16_t>("65536"), "refused");
  EXPECT_EQ(round_trip<uint64_t>("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(round_trip<uint64_t>("18446744073709551616"), "refused");
  EXPECT_EQ(round_trip<int64_t>("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(round_trip<size_t>("-1"), "refused");
  for (const char* bad : {"", " 1", "1 ", "0x10", "1.5", "1e400", "nan", "inf", "ten"}) {
    EXPECT_EQ(round_trip<int>(bad), "refused") << bad;
  }
}

TEST(Fields, IntegersMayHaveAnExponent) {
  EXPECT_EQ(round_trip<size_t>("1e5"), "100000");
  EXPECT_EQ(round_trip<int>("-2.5e1"), "-25");
  EXPECT_EQ(round_trip<int>("1e-1"), "refused");
  EXPECT_EQ(round_trip<int>("1e10"), "refused");
  EXPECT_EQ(round_trip<uint64_t>("1e19"), "refused");  // past what a double counts exactly
}

TEST(Fields, FloatsReadBackExactly) {
  for (const double value : {0.1, 1e-3, 1.0 / 3, 1e300, 5e-324, -0.0}) {
    const std::string text = detail::print_field(value);
    double back = 7;
    ASSERT_TRUE(detail::parse_field(text, back)) << text;
    EXPECT_EQ(std::memcmp(&back, &value, sizeof back), 0) << text;
  }
  EXPECT_EQ(round_trip<float>("0.1"), "0.1");
  EXPECT_EQ(round_trip<float>("1e39"), "refused");
  EXPECT_EQ(round_trip<double>("-.inf"), "-inf");
  EXPECT_EQ(round_trip<double>(".nan"), "nan");
  for (const char* bad : {"", "1e", "0.1x", "1,5", "."})
    EXPECT_EQ(round_trip<double>(bad), "refused");
}

TEST(Fields, MemoryHasUnits) {
  EXPECT_EQ(round_trip<MemorySize>("4GB"), "4GB");
  EXPECT_EQ(round_trip<MemorySize>("4g"), "4GB");
  EXPECT_EQ(round_trip<MemorySize>("4 GiB"), "4GB");
  EXPECT_EQ(round_trip<MemorySize>("1.5GB"), "1536MB");
  EXPECT_EQ(round_trip<MemorySize>("1024"), "1KB");
  EXPECT_EQ(round_trip<MemorySize>("1023"), "1023B");
  EXPECT_EQ(round_trip<MemorySize>("0"), "0B");
  for (const char* bad : {"", "GB", "-1GB", "4XB", "1e3GB", "99999999TB", "4GBs"}) {
    EXPECT_EQ(round_trip<MemorySize>(bad), "refused") << bad;
  }
}

TEST(Fields, DurationsHaveHoursMinutesAndSeconds) {
  EXPECT_EQ(round_trip<Duration>("90s"), "1m30s");
  EXPECT_EQ(round_trip<Duration>("30m"), "30m");
  EXPECT_EQ(round_trip<Duration>("1h30m"), "1h30m");
  EXPECT_EQ(round_trip<Duration>("1.5h"), "1h30m");
  EXPECT_EQ(round_trip<Duration>("0"), "0");
  for (const char* bad : {"", "30", "m", "-1m", "30m1h", "1m1m", "1d", "0.1s", "99999999h", "1h "}) {
    EXPECT_EQ(round_trip<Duration>(bad), "refused") << bad;
  }
}

TEST(Fields, EnumsGoByTheirTableOfNames) {
  EXPECT_EQ(round_trip<Colour>("green"), "green");
  EXPECT_EQ(round_trip<Colour>("blue"), "refused");
  EXPECT_EQ(round_trip<Colour>("unknown"), "refused");
  EXPECT_EQ(detail::field_type<Colour>().expected, "one of red, green");
}

TEST(Fields, OptionalsAndListsHoldTheOthers) {
  std::optional<Colour> maybe = Colour::kRed;
  std::vector<int> sizes = {1, 2};
  detail::FieldCollector collector;
  collector("maybe", maybe);
  collector("sizes", sizes);
  const std::vector<Field>& fields = collector.list.fields;
  EXPECT_EQ(fields[1].get(), (std::vector<std::string>{"1", "2"}));
  EXPECT_FALSE(fields[1].set(std::vector<std::string>{"3", "x"}));
  EXPECT_EQ(sizes, (std::vector{1, 2}));  // all or nothing
  EXPECT_TRUE(fields[1].set(std::vector<std::string>{}));
  EXPECT_TRUE(sizes.empty());
  EXPECT_FALSE(fields[1].set({}));
  EXPECT_TRUE(fields[0].set({}));
  EXPECT_FALSE(maybe.has_value());
  EXPECT_FALSE(fields[0].get().has_value());
}

struct Bounded {
  size_t width = 8;
  std::optional<int> head;
  std::vector<int64_t> steps = {5};
  void fields(auto& v) {
    v("width", width, "of it", Range{1, 64});
    v("head", head, "of it", Range{1, 8}.or_0());
    v("steps", steps, "of it", Range{-3, 1000});
  }
};

TEST(Fields, IntegersMayHaveARange) {
  Bounded bounded;
  const std::vector<Field> fields = fields_of(bounded).fields;
  const auto set = [&](size_t field, const char* text) {
    return fields[field].set(std::vector<std::string>{text});
  };
  for (const char* good : {"1", "64", "6.4e1"}) EXPECT_TRUE(set(0, good)) << good;
  for (const char* bad : {"0", "65", "4611686018427387904", "-1"}) {
    EXPECT_FALSE(set(0, bad)) << bad;
    EXPECT_EQ(bounded.width, 64u);
  }
  EXPECT_TRUE(set(1, "0") && set(1, "8") && fields[1].set({}));
  EXPECT_FALSE(set(1, "9") || set(1, "-1"));
  EXPECT_TRUE(set(2, "-3") && set(2, "1000"));
  EXPECT_FALSE(fields[2].set(std::vector<std::string>{"7", "1001"}));
  EXPECT_EQ(bounded.steps, std::vector<int64_t>{1000});
  EXPECT_EQ(fields[0].expected(), "a whole number from 1 to 64");
  EXPECT_EQ(fields[1].expected(), "a whole number from 0 to 8 or none");
  EXPECT_EQ(fields[2].expected(), "a list, each item a whole number from -3 to 1000");
}

TEST(Fields, RangesAreCheckedWhereAProgramFilledThemIn) {
  Bounded bounded;
  EXPECT_NO_THROW(check_ranges(bounded, "box"));
  bounded.width = size_t{1} << 62;
  EXPECT_EQ(message_of<ConfigError>([&] { check_ranges(bounded, "box"); }),
            "box: width is 4611686018427387904, not a whole number from 1 to 64");
  bounded.width = 1, bounded.head = 9;
  expect_error<ConfigError>([&] { check_ranges(bounded, "box"); }, "box: head is 9, not");
  bounded.head.reset(), bounded.steps = {1, 2000};
  expect_error<ConfigError>([&] { check_ranges(bounded, "box"); }, "box: steps is 1,2000, not");
}

struct Inner {
  int size = 1;
  void fields(auto& v) { v("size", size, "of it"); }
};
struct Outer {
  Inner inner, other;
  bool last = false;
  void fields(auto& v) {
    v("inner", inner, "the inner one");
    v("other", other);
    v("last", last);
  }
};

TEST(Fields, NestedConfigsHaveDottedPaths) {
  Outer outer;
  const FieldList list = fields_of(outer);
  ASSERT_EQ(list.fields.size(), 3u);
  EXPECT_EQ(list.fields[0].path, "inner.size");
  EXPECT_EQ(list.fields[0].help, "of it");
  EXPECT_EQ(list.fields[1].path, "other.size");
  EXPECT_EQ(list.fields[2].path, "last");
  ASSERT_EQ(list.sections.size(), 2u);
  EXPECT_EQ(list.sections[0].path, "inner");
  EXPECT_EQ(list.sections[0].help, "the inner one");
  EXPECT_TRUE(list.fields[1].set(std::vector<std::string>{"5"}));
  EXPECT_EQ(outer.other.size, 5);
}

TEST(Fields, NearestNameFindsSlipsOnly) {
  const std::vector<std::string> known = {"rate", "momentum", "beta1", "beta2", "weight_decay"};
  EXPECT_EQ(nearest_name("rte", known), "rate");
  EXPECT_EQ(nearest_name("raet", std::vector<std::string>{"rest", "rate"}), "rate");
  EXPECT_EQ(nearest_name("weigth_decay", known), "weight_decay");
  EXPECT_EQ(nearest_name("decay", known), "");
  EXPECT_EQ(nearest_name("colour", known), "");
  EXPECT_EQ(nearest_name("beta2", known), "beta2");
  EXPECT_EQ(nearest_name("", known), "");
}

}  // namespace
}  // namespace attend
