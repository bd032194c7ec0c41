// Where the library's messages go. The library itself never prints: without a sink they are
// dropped.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string_view>

namespace attend {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

using LogSink = std::function<void(LogLevel, std::string_view)>;

// Installs `sink` for the whole process and returns the one it replaces. Calls to a sink never
// overlap.
LogSink set_log_sink(LogSink sink);

void log_message(LogLevel level, std::string_view text);

template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> text, Args&&... args) {
  log_message(level, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace attend
