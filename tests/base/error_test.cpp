#include "attend/base/error.h"

#include <gtest/gtest.h>

#include <string>

#include "attend/base/utf8.h"

namespace attend {
namespace {

template <typename Thrown>
void expect_kind(ErrorKind kind) {
  try {
    throw Thrown("keys have {} rows but values have {}", 6, 5);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_STREQ(error.what(), "keys have 6 rows but values have 5");
  }
}

TEST(Error, KnowsItsKindAndText) {
  expect_kind<ShapeError>(ErrorKind::kShape);
  expect_kind<ConfigError>(ErrorKind::kConfig);
  expect_kind<FormatError>(ErrorKind::kFormat);
  expect_kind<IoError>(ErrorKind::kIo);
  expect_kind<DataError>(ErrorKind::kData);
  expect_kind<MemoryError>(ErrorKind::kMemory);
}

TEST(Error, IsCaughtByKindOrAsAStandardException) {
  EXPECT_THROW(throw IoError("gone"), IoError);
  EXPECT_THROW(throw IoError("gone"), std::runtime_error);
  try {
    throw IoError("gone");
  } catch (const ShapeError&) {
    FAIL() << "an IoError is not a ShapeError";
  } catch (const Error&) {
  }
}

TEST(Error, CanBeShownWhateverItQuotes) {
  EXPECT_STREQ(IoError("a\x1b[2Jb\n\xff{}", "\u202e").what(), "a\\x1b[2Jb\n\\xff\\u202e");
  const std::string longest(4096, 'a');
  EXPECT_EQ(IoError("{}", longest).what(), longest);
  EXPECT_EQ(IoError("{}b", longest).what(), longest.substr(3) + "...");
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "ä";
  for (const char* before : {"", "a"}) {
    const std::string shown = IoError("{}{}", before, text).what();
    EXPECT_TRUE(valid_utf8(shown));
    EXPECT_TRUE(shown.ends_with("ä..."));
    EXPECT_GE(shown.size(), 4094u);
    EXPECT_LE(shown.size(), 4096u);
  }
  EXPECT_LE(std::string(IoError("{}", std::string(4000, '\x01')).what()).size(), 4096u);
}

// Out of the sight of the compiler, which warns of what throws where nothing may.
template <typename Thrown>
void throw_it() {
  throw Thrown("keys have {} rows but values have {}", 6, 5);
}
template <typename Thrown>
void expect_named(const std::string& name) {
  const auto uncaught = []() noexcept { throw_it<Thrown>(); };
  EXPECT_DEATH(uncaught(), "throwing an instance of 'attend::" + name +
                               "'\n +what\\(\\): +keys have 6 rows but values have 5");
}

// As a program ends that does not catch it.
TEST(ErrorDeathTest, NamesItselfWhenUncaught) {
  expect_named<ShapeError>("ShapeError");
  expect_named<ConfigError>("ConfigError");
  expect_named<FormatError>("FormatError");
  expect_named<IoError>("IoError");
  expect_named<DataError>("DataError");
  expect_named<MemoryError>("MemoryError");
}

}  // namespace
}  // namespace attend
