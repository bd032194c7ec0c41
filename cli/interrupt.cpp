#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <ctime>

namespace attend::cli {
namespace {

std::string_view first_message;
constexpr std::string_view kExplanation =
    "\nattend: still stopping; a second signal within a second counts as the first. Once more ends "
    "the program at once.\n";
std::atomic<bool> stop_requested{false}, ends_program{false};
std::atomic<int> stop_signal{0}, signals{0};
std::atomic<double> stopped_at{0};

double seconds_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void say(std::string_view text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

void on_signal(int number) {
  const SignalAnswer answer =
      ends_program && !stop_requested
          ? SignalAnswer::kEnd
          : answer_to_signal(++signals, stop_requested ? seconds_now() - stopped_at : 0);
  switch (answer) {
    case SignalAnswer::kStop:
      say(first_message);
      stopped_at = seconds_now();
      stop_signal = number;
      stop_requested = true;
      break;
    case SignalAnswer::kExplain:
      if (number == SIGTERM) stop_signal = number;
      if (number == SIGINT) say(kExplanation);
      break;
    case SignalAnswer::kEnd:
      signal(number, SIG_DFL);
      raise(number);
  }
}

}  // namespace

SignalAnswer answer_to_signal(int number, double seconds) {
  if (number == 1) return SignalAnswer::kStop;
  return number == 2 && seconds < 1.0 ? SignalAnswer::kExplain : SignalAnswer::kEnd;
}

const std::atomic<bool>& stop_on_signals(std::string_view message) {
  first_message = message;
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  return stop_requested;
}

int stopped_exit_code() { return 128 + stop_signal; }

void forget_interrupt() {
  if (stop_signal != SIGINT) return;
  stop_requested = false;
  signals = 0;
}

SignalsEndProgram::SignalsEndProgram() { ends_program = true; }
SignalsEndProgram::~SignalsEndProgram() { ends_program = false; }

}  // namespace attend::cli
