#include "attend/base/log.h"

#include <mutex>
#include <utility>

namespace attend {
namespace {

std::mutex mutex;

LogSink& current_sink() {
  static LogSink sink;
  return sink;
}

}  // namespace

LogSink set_log_sink(LogSink sink) {
  std::lock_guard lock(mutex);
  return std::exchange(current_sink(), std::move(sink));
}

void log_message(LogLevel level, std::string_view text) {
  std::lock_guard lock(mutex);
  if (current_sink()) current_sink()(level, text);
}

}  // namespace attend
