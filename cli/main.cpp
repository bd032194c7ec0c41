// The command `attend`. Exits 0 on success, 1 on a run-time error, 2 on a usage error.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/fields.h"
#include "attend/base/parallel.h"
#include "attend/base/printable.h"
#include "attend/kernels/machine.h"
#include "cli/commands.h"
#include "cli/terminal.h"

namespace attend::cli {

std::string version() { return "attend " ATTEND_VERSION; }

std::string machine_summary() {
  return fmt::format(
      "  SIMD target   {}\n"
      "  threads       {}\n",
      kernels::simd_target(), thread_count());
}

void require_subcommand(CLI::App& parser) {
  parser.callback([&parser] {
    if (!parser.get_subcommands().empty()) return;
    std::vector<std::string> names;
    for (const CLI::App* command : parser.get_subcommands([](CLI::App*) { return true; })) {
      names.push_back(command->get_name());
    }
    throw CLI::ValidationError(parser.get_name(),
                               fmt::format("say which: {}", fmt::join(names, ", ")));
  });
}

namespace {

constexpr std::string_view kMore = "Run with --help for more information.";

// What was printed must have arrived, also on a disk that is full.
int finished(int code) {
  if (std::fflush(stdout) != 0) {
    throw IoError("cannot write standard output: {}", std::strerror(errno));
  }
  if (std::ferror(stdout) == 0) return code;
  throw IoError(
      "cannot write standard output; is the disk full? Make room there, or write elsewhere, and "
      "run "
      "it again");
}

// Those of the options or commands of `app` that could have been meant by a word it does not know.
std::string suggestion(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known;
  const CLI::App* at = &app;
  while (true) {  // from `attend` to the last command that was named
    for (const CLI::Option* option : at->get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    if (at->get_subcommands().empty()) break;
    at = at->get_subcommands().front();
  }
  if (!word.starts_with("-")) {
    known.clear();
    for (const CLI::App* command : at->get_subcommands([](const CLI::App*) { return true; })) {
      known.push_back(command->get_name());
    }
  }
  return nearest_name(word.substr(0, word.find('=')), known);
}

std::string usage_message(const CLI::App* app, const CLI::Error& error) {
  std::string near;
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    for (const std::string& word : app->remaining(true)) {
      if (near.empty()) near = suggestion(*app, word);
    }
  }
  return fmt::format("attend: {}{}\n{}\n", error.what(),
                     near.empty() ? "" : fmt::format("; did you mean '{}'?", near), kMore);
}

constexpr const char* kSmaller = "; use a smaller model, smaller batches or shorter lines";

// The system does not say what to do about it.
std::string with_remedy(const std::string& message) {
  if (message.starts_with("out of memory")) {
    return message + kSmaller;
  }
  for (const int full : {ENOSPC, EDQUOT}) {
    if (message.find(std::strerror(full)) == message.npos) continue;
    return message + "; make room there, or write elsewhere, and run it again";
  }
  return message;
}

int run(int argc, char** argv) {
  CLI::App app{"Attention models on CPUs: train them, run them, and see what they look at.",
               "attend"};
  app.set_version_flag("--version", version());
  app.require_subcommand(0, 1);
  app.failure_message(usage_message);
  app.get_formatter()->column_width(28);
  int threads = 0;
  app.add_option("--threads", threads, "threads to use (default: all cores, or OMP_NUM_THREADS)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""));
  app.fallthrough();  // options of `attend` may also follow the subcommand

  const std::vector<Command> commands = {
      add_train(app),   add_translate(app), add_generate(app), add_classify(app),  add_inspect(app),
      add_explore(app), add_score(app),     add_evaluate(app), add_tokenizer(app), add_average(app),
      add_info(app),    add_check(app),     add_bench(app),    add_completion(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (threads > 0) set_thread_count(threads);
  for (const Command& command : commands) {
    if (command.parser->parsed()) return finished(command.run());
  }
  fmt::print(stderr, "{}", app.help());
  return 2;
}

}  // namespace
}  // namespace attend::cli

int main(int argc, char** argv) {
  try {
    return attend::cli::run(argc, argv);
  } catch (const CLI::ParseError& error) {
    attend::cli::notify("attend: {}\n{}\n", error.what(), attend::cli::kMore);
    return 2;
  } catch (const std::filesystem::filesystem_error& error) {
    const bool refused = error.code() == std::errc::permission_denied;
    attend::cli::notify("attend: {}: {}\n", attend::printable(error.path1().string()),
                        attend::cli::with_remedy(error.code().message()) +
                            (refused ? "; run it as a user who may, or choose another place" : ""));
    return 1;
  } catch (const std::bad_alloc&) {
    std::fputs("attend: out of memory", stderr);  // which formatting would take
    std::fputs(attend::cli::kSmaller, stderr);
    std::fputs("\n", stderr);
    return 1;
  } catch (const std::length_error& error) {  // of a container; names a function, not the cause
    attend::cli::notify("attend: {}\n",
                        attend::cli::with_remedy(fmt::format(
                            "out of memory: more than there can be ({})", error.what())));
    return 1;
  } catch (const std::exception& error) {
    attend::cli::notify("attend: {}\n", attend::printable(attend::cli::with_remedy(error.what())));
    return 1;
  }
}
