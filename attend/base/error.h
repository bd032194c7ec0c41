// Errors that a user of the library can cause and fix. Bugs in the library itself are asserts.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace attend {

// What went wrong; each kind has a class of its own below.
enum class ErrorKind { kShape, kConfig, kFormat, kIo, kData, kMemory };

// The base of all errors that the library throws. The text names the operation, the values, and
// the remedy: "attention: keys have 6 rows but values have 5". It is safe to print, whatever part
// of it came from a file: UTF-8 of at most 4,096 bytes, with control characters other than line
// feeds escaped.
class Error : public std::runtime_error {
 public:
  // Prefer the classes below, which take a format string.
  Error(ErrorKind kind, const std::string& text);
  // Which of the classes below it is, for a switch.
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

// What the classes below share: a constructor that formats the text. They are classes of their own,
// so that a program that lets one escape ends with its name: "terminate called after throwing an
// instance of 'attend::ConfigError'".
template <ErrorKind kKind>
class ErrorOf : public Error {
 public:
  // Formats the text as fmt::format does.
  template <typename... Args>
  explicit ErrorOf(fmt::format_string<Args...> text, Args&&... args)
      : Error(kKind, fmt::format(text, std::forward<Args>(args)...)) {}
};

// Shapes that do not fit together.
class ShapeError : public ErrorOf<ErrorKind::kShape> {
 public:
  using ErrorOf::ErrorOf;
};

// A setting that is not valid, or a model that cannot do what is asked.
class ConfigError : public ErrorOf<ErrorKind::kConfig> {
 public:
  using ErrorOf::ErrorOf;
};

// A file that is not what it claims to be.
class FormatError : public ErrorOf<ErrorKind::kFormat> {
 public:
  using ErrorOf::ErrorOf;
};

// A file that is missing, or that the system will not read or write.
class IoError : public ErrorOf<ErrorKind::kIo> {
 public:
  using ErrorOf::ErrorOf;
};

// Values that cannot be used, such as an id out of range.
class DataError : public ErrorOf<ErrorKind::kData> {
 public:
  using ErrorOf::ErrorOf;
};

// More memory than the system has, or allows.
class MemoryError : public ErrorOf<ErrorKind::kMemory> {
 public:
  using ErrorOf::ErrorOf;
};

}  // namespace attend
