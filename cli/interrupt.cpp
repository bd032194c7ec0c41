#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <ctime>

namespace attend::cli {
namespace {

std::string_view first_message;
std::atomic<bool> stop_requested{false}, ends_program{false};
std::atomic<int> stop_signal{0};
std::atomic<double> stopped_at{0};

double seconds_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void on_signal(int number) {
  // timeout(1) and its like tell the program and then its whole group: what comes within a second
  // is still the first one.
  if (stop_requested && seconds_now() - stopped_at < 1.0) {
    if (number == SIGTERM) stop_signal = number;
    return;
  }
  if (stop_requested || ends_program) {
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  [[maybe_unused]] const ssize_t written =
      ::write(STDERR_FILENO, first_message.data(), first_message.size());
  stopped_at = seconds_now();
  stop_signal = number;
  stop_requested = true;
}

}  // namespace

const std::atomic<bool>& stop_on_signals(std::string_view message) {
  first_message = message;
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  return stop_requested;
}

int stopped_exit_code() { return 128 + stop_signal; }

void forget_interrupt() {
  if (stop_signal == SIGINT) stop_requested = false;
}

SignalsEndProgram::SignalsEndProgram() { ends_program = true; }
SignalsEndProgram::~SignalsEndProgram() { ends_program = false; }

}  // namespace attend::cli
