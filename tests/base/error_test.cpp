#include "attend/base/error.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace attend
