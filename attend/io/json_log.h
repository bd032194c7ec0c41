// log.jsonl: one line of JSON a report. After a crash and a resume it reads as if the run had never
// stopped. Not for use outside Attend.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

namespace attend {

// A line as an object; nothing where a crash tore it, or where it is larger or deeper than a report
// can be.
std::optional<nlohmann::ordered_json> parse_log_line(std::string_view line);

// Lines have a "step". A trainer logs all there is to say of step N, calls sync(), and then writes
// the checkpoint of step N.
class JsonLog {
 public:
  // Continues after the step that was resumed from: later lines, which the run will write again,
  // and a torn last line are cut. Without one the log starts empty. Throws IoError.
  JsonLog(std::filesystem::path path, std::optional<int64_t> resumed_step);
  ~JsonLog();
  JsonLog(const JsonLog&) = delete;
  JsonLog& operator=(const JsonLog&) = delete;

  // Appends the line and its end, whole or, throwing IoError, not at all.
  void append(std::string_view line);
  void sync();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace attend
