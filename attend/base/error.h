// Errors that a user of the library can cause and put right. Our own bugs are asserts.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace attend {

enum class ErrorKind { kShape, kConfig, kFormat, kIo, kData, kMemory };

// The text names the operation, the values, and the way out:
// "attention: keys have 6 rows but values have 5". Whatever of it came from a file, it can be
// shown: it is UTF-8 of at most 4,096 bytes, with control characters other than ends of lines
// escaped.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& text);
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

// One class a kind, so that a caller can catch just what it can handle.
template <ErrorKind kKind>
class ErrorOf : public Error {
 public:
  template <typename... Args>
  explicit ErrorOf(fmt::format_string<Args...> text, Args&&... args)
      : Error(kKind, fmt::format(text, std::forward<Args>(args)...)) {}
};

using ShapeError = ErrorOf<ErrorKind::kShape>;    // tensors that do not fit together
using ConfigError = ErrorOf<ErrorKind::kConfig>;  // a setting that cannot be
using FormatError = ErrorOf<ErrorKind::kFormat>;  // a file that is not what it claims to be
using IoError = ErrorOf<ErrorKind::kIo>;          // the system refused
using DataError =
    ErrorOf<ErrorKind::kData>;  // values that cannot be used, such as an id out of range
using MemoryError = ErrorOf<ErrorKind::kMemory>;  // more than the system has, or may give

}  // namespace attend
