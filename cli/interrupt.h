// Ctrl-C and its like: the first signal asks for an end, a second one ends the program at once.
#pragma once

#include <atomic>
#include <string_view>

namespace attend::cli {

// From now on SIGINT and SIGTERM set what is returned. The first one says `message` on standard
// error, which must outlive the program.
const std::atomic<bool>& stop_on_signals(std::string_view message = "");

// 128 + n, where signal n asked for an end.
int stopped_exit_code();

// Where Ctrl-C asked for an end, that has come: the next signal is a first one again. SIGTERM ends
// the program and is not forgotten.
void forget_interrupt();

// While one lives, nothing is to be ended cleanly: the first signal ends the program.
class SignalsEndProgram {
 public:
  SignalsEndProgram();
  ~SignalsEndProgram();
  SignalsEndProgram(const SignalsEndProgram&) = delete;
  SignalsEndProgram& operator=(const SignalsEndProgram&) = delete;
};

}  // namespace attend::cli
