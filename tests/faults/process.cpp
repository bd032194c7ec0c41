#include "tests/faults/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "attend/base/error.h"
#include "attend/base/files.h"

namespace attend::faults {

bool everything() {
  const char* const value = std::getenv("ATTEND_FAULTS");
  return value != nullptr && std::string(value) == "all";
}

Process::Process(const std::vector<std::string>& arguments, const Orders& orders) {
  const char* const other = std::getenv("ATTEND_COMMAND");  // than was built with these tests
  const std::string command = other == nullptr ? ATTEND_COMMAND : other;
  std::vector<std::string> words = {command};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string(*variable).starts_with("ASAN_OPTIONS=")) variables.emplace_back(*variable);
  }
  variables.emplace_back("LD_PRELOAD=" ATTEND_SHIM);
  variables.emplace_back("ASAN_OPTIONS=verify_asan_link_order=0");
  variables.push_back("ATTEND_FAULTS_ROOT=" + orders.root.string());
  variables.push_back("ATTEND_FAULTS_PLAN=" + orders.plan);
  variables.push_back("ATTEND_FAULTS_TRACE=" + orders.trace.string());
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  };
  said_ = ::memfd_create("standard error", MFD_CLOEXEC);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, said_, STDERR_FILENO);
  const int result = ::posix_spawn(&process_, command.c_str(), &actions, nullptr,
                                   pointers(words).data(), pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (result != 0) throw IoError("cannot start {}: {}", command, std::strerror(result));
}

Process::~Process() {
  if (process_ > 0) {
    kill();
    wait();
  }
  ::close(said_);
}

void Process::kill() const { ::kill(process_, SIGKILL); }

Ended Process::wait() {
  ::waitpid(process_, &status_, 0);
  process_ = -1;
  Ended ended;
  ended.code = WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
  ended.said.resize(static_cast<size_t>(::lseek(said_, 0, SEEK_END)));
  const ssize_t size = ::pread(said_, ended.said.data(), ended.said.size(), 0);
  ended.said.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return ended;
}

std::vector<TracedCall> read_trace(const std::filesystem::path& file) {
  const std::string text = file_contents(file);
  std::vector<TracedCall> calls;
  for (size_t at = 0; at < text.size();) {
    TracedCall& call = calls.emplace_back();
    std::memcpy(static_cast<Record*>(&call), text.data() + at, sizeof(Record));
    at += sizeof(Record);
    for (auto [part, size] : {std::pair(&call.path, call.path_size),
                              {&call.other, call.other_size},
                              {&call.data, call.data_size}}) {
      *part = text.substr(at, size);
      at += size;
    }
  }
  return calls;
}

std::array<size_t, static_cast<size_t>(Call::kCount)> count_calls(
    const std::vector<TracedCall>& trace) {
  std::array<size_t, static_cast<size_t>(Call::kCount)> counts{};
  for (const TracedCall& call : trace) ++counts[static_cast<size_t>(call.call)];
  return counts;
}

}  // namespace attend::faults
