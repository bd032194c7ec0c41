#include "attend/io/json_scanner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace attend {
namespace {

// Takes in whatever value comes next.
void skip(JsonScanner& scanner) {
  switch (scanner.peek()) {
    case '{':
      scanner.object([&](std::string_view) { skip(scanner); });
      return;
    case '[':
      scanner.array([&] { skip(scanner); });
      return;
    case '"':
      scanner.string();
      return;
    case 't':
    case 'f':
    case 'n':
      scanner.literal();
      return;
    default:
      scanner.number();
  }
}

// The byte where the scanner finds a mistake; 0 where it finds none.
size_t mistake(std::string_view text) {
  try {
    JsonScanner scanner(text);
    skip(scanner);
    scanner.end();
  } catch (const JsonScanner::SyntaxError& error) {
    return error.byte;
  }
  return 0;
}

TEST(JsonScanner, GivesMembersAndElements) {
  JsonScanner scanner(R"( {"a" : [ 1 ,2], "b":{}, "c":[ ] } )");
  std::string seen;
  scanner.object([&](std::string_view name) {
    seen += name;
    if (scanner.peek() == '{') return scanner.object([&](std::string_view) { seen += '?'; });
    scanner.array([&] { seen += std::to_string(scanner.number().value); });
  });
  scanner.end();
  EXPECT_EQ(seen, "a12bc");
}

TEST(JsonScanner, ReadsStrings) {
  JsonScanner scanner(
      R"(["plain", "", "ä猫", "\"\\\/\b\f\n\r\t", "a\u00e4b\uD83D\uDE00c", "\u0000"])");
  std::vector<std::string> texts;
  scanner.array([&] { texts.emplace_back(scanner.string()); });
  EXPECT_EQ(texts, (std::vector<std::string>{"plain", "", "ä猫", "\"\\/\b\f\n\r\t", "aäb😀c",
                                             std::string(1, '\0')}));
}

TEST(JsonScanner, TellsNumbersApart) {
  using Kind = JsonScanner::NumberKind;
  const auto kind = [](std::string_view text) { return JsonScanner(text).number().kind; };
  EXPECT_EQ(JsonScanner("0").number().value, 0u);
  EXPECT_EQ(JsonScanner("18446744073709551615").number().value, 18446744073709551615u);
  EXPECT_EQ(kind("18446744073709551615"), Kind::kUnsigned);
  for (const char* other : {"18446744073709551616", "1.0", "1e1", "0E-2", "-1.5", "1e999"}) {
    EXPECT_EQ(kind(other), Kind::kOther) << other;
  }
  EXPECT_EQ(kind("-1"), Kind::kNegative);
  EXPECT_EQ(kind("-0"), Kind::kNegative);
}

TEST(JsonScanner, SaysWhereAMistakeIs) {
  EXPECT_EQ(mistake(""), 1u);
  EXPECT_EQ(mistake("{\"x\":"), 6u);
  EXPECT_EQ(mistake("{\"x\" 1}"), 6u);
  EXPECT_EQ(mistake("[1,]"), 4u);
  EXPECT_EQ(mistake("[01]"), 3u);
  EXPECT_EQ(mistake("{} x"), 4u);
  EXPECT_EQ(mistake("trve"), 3u);
  EXPECT_EQ(mistake("\"a\\ud83dx\""), 9u);
  EXPECT_EQ(mistake("\"a\x01\""), 3u);
}

// Every text of up to five of these characters, and every string of up to three of those.
TEST(JsonScanner, TakesWhatIsJsonAndNothingElse) {
  const auto compare = [](std::string_view alphabet, size_t longest, std::string_view around) {
    size_t accepted = 0;
    std::string text(around);
    const auto extend = [&](const auto& again, size_t left) -> void {
      const std::string whole = text + std::string(around);
      const bool is_json = nlohmann::json::accept(whole);
      ASSERT_EQ(mistake(whole) == 0, is_json) << whole;
      accepted += is_json ? 1 : 0;
      for (const char c : left == 0 ? std::string_view() : alphabet) {
        text += c;
        again(again, left - 1);
        text.pop_back();
      }
    };
    extend(extend, longest);
    return accepted;
  };
  EXPECT_GT(compare("{}[]:,\"0 1-", 5, ""), 100u);
  EXPECT_GT(compare("01-+.eE ", 5, ""), 100u);
  EXPECT_GT(compare("\x1f\x7f a\"\\/u\x80\xBF\xC2\xE0\xA0\xED\xF0\x90\xF4", 3, "\""), 100u);
  EXPECT_GT(compare("\\uD8Cc0", 6, "\""), 100u);
}

}  // namespace
}  // namespace attend
