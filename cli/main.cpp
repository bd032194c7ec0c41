// The command `attend`. Exits 0 on success, 1 on a run-time error, 2 on a usage error.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/parallel.h"
#include "attend/kernels/machine.h"
#include "cli/commands.h"

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

// What was printed must have arrived, also on a disk that is full.
int finished(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  throw IoError("cannot write standard output; is the disk full?");
}

int run(int argc, char** argv) {
  CLI::App app{"Attention models on CPUs: train them, run them, and see what they look at.",
               "attend"};
  app.set_version_flag("--version", version());
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(28);
  int threads = 0;
  app.add_option("--threads", threads, "threads to use (default: all cores, or OMP_NUM_THREADS)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""));
  app.fallthrough();  // options of `attend` may also follow the subcommand

  const std::vector<Command> commands = {
      add_train(app), add_translate(app), add_inspect(app),   add_explore(app),
      add_score(app), add_evaluate(app),  add_tokenizer(app), add_average(app),
      add_info(app),  add_check(app),     add_bench(app),     add_completion(app)};
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
    fmt::print(stderr, "{}\nRun with --help for more information.\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "attend: {}\n", error.what());
    return 1;
  }
}
