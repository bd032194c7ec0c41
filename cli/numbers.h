// Numbers of the command line that have a range.
#pragma once

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <string>

#include "attend/decode/line_limit.h"

namespace attend::cli {

// Says what may be given where something else is.
inline CLI::Validator whole_number(size_t least, size_t most) {
  return {[least, most](std::string& text) {
            size_t value = 0;
            const char* const end = text.data() + text.size();
            const auto [rest, error] = std::from_chars(text.data(), end, value);
            const bool good =
                error == std::errc() && rest == end && value >= least && value <= most;
            return good ? std::string()
                        : fmt::format("should be a whole number from {} to {}, not '{}'", least,
                                      most, text);
          },
          ""};
}

// How lines go through a model together.
struct Batching {
  size_t batch_tokens = 4096, window = 1024, longest_line = kMostLineTokens;

  void add(CLI::App& parser, bool with_window = true) {
    constexpr size_t kMost = 1'000'000;
    parser.add_option("--batch-tokens", batch_tokens, "tokens of a batch at most (4096)")
        ->type_name("N")
        ->check(whole_number(1, kMost));
    if (with_window) {
      parser.add_option("--window", window, "lines sorted by length together (1024)")
          ->type_name("N")
          ->check(whole_number(1, kMost));
    }
    parser
        .add_option("--longest-line", longest_line,
                    "tokens of a line; a longer one is an error (4096)")
        ->type_name("N")
        ->check(whole_number(1, kMost));
  }
};

}  // namespace attend::cli
