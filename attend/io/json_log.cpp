#include "attend/io/json_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/io/bounded_json.h"

namespace attend {
namespace {

bool belongs(std::string_view line, int64_t last_step) {
  const auto report = parse_log_line(line);
  if (!report) return false;
  const auto step = report->find("step");
  return step == report->end() || !step->is_number() || step->get<double>() <= last_step;
}

// Calls use(line) for each whole line, its end with it. A torn last one is none, and one that is
// too long for a report is passed over without taking memory.
template <typename Use>
void each_line(const FileReader& file, const Use& use) {
  std::string piece(size_t{1} << 16, '\0'), line;
  bool too_long = false;
  for (size_t at = 0; at < file.size(); at += piece.size()) {
    piece.resize(std::min(piece.size(), file.size() - at));
    file.read(at, std::as_writable_bytes(std::span(piece)));
    for (std::string_view rest = piece; !rest.empty();) {
      const size_t end = rest.find('\n');
      const std::string_view part = rest.substr(0, end == rest.npos ? end : end + 1);
      rest.remove_prefix(part.size());
      too_long = too_long || line.size() + part.size() > kSmallJson.bytes;
      if (!too_long) line += part;
      if (!part.ends_with('\n')) continue;
      if (!too_long) use(line);
      line.clear();
      too_long = false;
    }
  }
}

// Writes the log anew where it has lines that do not belong. Never held in memory: it may be long.
void cut_log(const std::filesystem::path& path, std::optional<int64_t> resumed_step) {
  const FileReader file(path);
  const auto kept = [&](std::string_view line) {
    return resumed_step && belongs(line.substr(0, line.size() - 1), *resumed_step);
  };
  size_t bytes = 0;
  each_line(file, [&](std::string_view line) { bytes += kept(line) ? line.size() : 0; });
  if (bytes == file.size()) return;
  AtomicFile cut(path);
  each_line(file, [&](std::string_view line) {
    if (kept(line)) cut.write(line);
  });
  cut.commit();
}

}  // namespace

std::optional<nlohmann::ordered_json> parse_log_line(std::string_view line) {
  try {
    nlohmann::ordered_json report = parse_bounded_json(line, "log");
    if (report.is_object()) return report;
  } catch (const FormatError&) {  // torn, or none of ours
  }
  return std::nullopt;
}

JsonLog::JsonLog(std::filesystem::path path, std::optional<int64_t> resumed_step)
    : path_(std::move(path)) {
  if (std::filesystem::exists(path_)) cut_log(path_, resumed_step);
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    throw IoError("cannot write {}: {}", path_.string(), std::strerror(errno));
  }
}

JsonLog::~JsonLog() { ::close(descriptor_); }

void JsonLog::append(std::string_view line) {
  struct stat before {};
  ::fstat(descriptor_, &before);
  std::string text(line);
  text += '\n';
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int reason = errno;
      [[maybe_unused]] const int cut = ::ftruncate(descriptor_, before.st_size);
      throw IoError("cannot write {}: {}", path_.string(), std::strerror(reason));
    }
    rest.remove_prefix(static_cast<size_t>(written));
  }
}

void JsonLog::sync() {
  if (::fdatasync(descriptor_) != 0) {
    throw IoError("cannot flush {}: {}", path_.string(), std::strerror(errno));
  }
}

}  // namespace attend
