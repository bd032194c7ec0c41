// What a user of `attend generate` should know about the texts, each said once, on standard error.
#pragma once

#include <optional>
#include <span>

#include "attend/decode/text_generator.h"

namespace attend::cli {

class GenerateNotes {
 public:
  // Tokens read at once: the most the model is given, and the most it was trained with, where that
  // is known and matters.
  GenerateNotes(std::optional<size_t> window, std::optional<size_t> trained)
      : window_(window), trained_(trained) {}

  // After the texts of prompt number `line` were printed.
  void about(const Generation& generation, size_t line);
  void about_unknown(const SpecialTokens& special, std::span<const int32_t> prompt);
  void about_end();  // that the model wrote, where texts are written in turns

 private:
  std::optional<size_t> window_, trained_;
  bool said_unread_ = false, said_rolled_ = false, said_untrained_ = false, said_unknown_ = false,
       said_end_ = false;
};

}  // namespace attend::cli
