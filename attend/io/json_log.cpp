#include "attend/io/json_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/files.h"

namespace attend {
namespace {

bool belongs(std::string_view line, int64_t last_step) {
  const nlohmann::json report = nlohmann::json::parse(line, nullptr, false);
  if (!report.is_object()) return false;  // also what did not parse
  const auto step = report.find("step");
  return step == report.end() || !step->is_number() || step->get<double>() <= last_step;
}

std::string lines_until(std::string_view text, int64_t last_step) {
  std::string kept;
  for (size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
    if (belongs(text.substr(0, end), last_step)) kept += text.substr(0, end + 1);
    text.remove_prefix(end + 1);
  }
  return kept;
}

}  // namespace

JsonLog::JsonLog(std::filesystem::path path, std::optional<int64_t> resumed_step)
    : path_(std::move(path)) {
  if (std::filesystem::exists(path_)) {
    const MappedFile file(path_);
    const std::string kept = resumed_step ? lines_until(file.text(), *resumed_step) : "";
    if (kept != file.text()) replace_file(path_, kept);
  }
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
