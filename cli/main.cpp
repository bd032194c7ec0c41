// The command `attend`. Exits 0 on success, 1 on a run-time error, 2 on a usage error.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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
#include "cli/help.h"
#include "cli/numbers.h"
#include "cli/terminal.h"
#include "cli/usage.h"

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
  if (std::fflush(stdout) != 0) {
    throw IoError("cannot write standard output: {}", std::strerror(errno));
  }
  if (std::ferror(stdout) == 0) return code;
  throw IoError(
      "cannot write standard output; is the disk full? Make room there, or write elsewhere, and "
      "run "
      "it again");
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
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", version(), "print the version");
  app.require_subcommand(0, 1);
  app.failure_message(usage_message);
  app.formatter(std::make_shared<HelpFormatter>());
  int threads = 0;
  app.add_option("--threads", threads, "threads to use (default: all cores, or OMP_NUM_THREADS)")
      ->type_name("N")
      ->check(whole_number(1, 1024));
  app.fallthrough();  // options of `attend` may also follow the subcommand

  const std::vector<Command> commands = {
      add_train(app),    add_translate(app),  add_generate(app),  add_classify(app), add_fill(app),
      add_embed(app),    add_neighbours(app), add_inspect(app),   add_explore(app),  add_score(app),
      add_evaluate(app), add_tokenizer(app),  add_average(app),   add_adapter(app),  add_info(app),
      add_check(app),    add_bench(app),      add_completion(app)};
  add_help(app);
  app.footer(  // after the commands, which would inherit it
      "First steps:\n"
      "  attend train --source my.de --target my.en --out my-model\n"
      "  attend translate my-model 'ein kleines Haus'\n"
      "  attend explore my-model\n"
      "`attend help COMMAND` explains a command, with examples.");
  for (const Command& command : commands) add_help_all(*command.parser);
  try {
    std::vector<std::string> words = with_hyphens(app, argc, argv);
    words.erase(words.begin());
    std::ranges::reverse(words);  // as the parser takes them
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (threads > 0) set_thread_count(threads);
  for (const Command& command : commands) {
    if (!command.parser->parsed()) continue;
    try {
      return finished(command.run());
    } catch (const CLI::ParseError& error) {  // of options that do not go together
      notify("{}", usage_message(&app, error));
      return 2;
    }
  }
  fmt::print(stderr, "{}", app.help());
  return 2;
}

}  // namespace
}  // namespace attend::cli

int main(int argc, char** argv) {
  try {
    return attend::cli::run(argc, argv);
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
