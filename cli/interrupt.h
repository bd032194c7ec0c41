// Ctrl-C and its like: the first signal asks for an end, a second one ends the program at once.
#pragma once

#include <atomic>
#include <string_view>

namespace attend::cli {

// What a signal does. timeout(1) and its like signal the program and then its whole group, so that
// a second one within a moment may be the first one again; a third always ends the program.
enum class SignalAnswer { kStop, kExplain, kEnd };
// The answer to the n-th signal, from 1, so many seconds after the first.
SignalAnswer answer_to_signal(int number, double seconds);

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
