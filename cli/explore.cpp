// `attend explore`: the page on which a model is looked at.
#include <fmt/format.h>
#include <pthread.h>

#include <csignal>
#include <cstdio>
#include <thread>

#include "attend/base/error.h"
#include "attend/serve/server.h"
#include "cli/commands.h"

namespace attend::cli {
namespace {

struct Options {
  std::vector<std::filesystem::path> models;
  uint16_t port = 8808;
  bool no_token = false;
};

int run_explore(const Options& options) {
  // Before other threads are there, which then leave these signals to the one that waits.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  Explorer explorer(options.models);
  ExplorerServer server(explorer, options.port, options.no_token ? "" : new_token());
  fmt::print("{}\n", server.address());
  std::fflush(stdout);
  fmt::print(stderr, "Open that address in a browser on this machine. Ctrl-C ends it.\n");
  std::thread serving([&] { server.run(); });
  int received = 0;
  sigwait(&signals, &received);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // a second one ends it at once
  server.stop();
  serving.join();
  return 128 + received;
}

}  // namespace

Command add_explore(CLI::App& app) {
  CLI::App* parser = app.add_subcommand("explore", "Show on a page what a model looks at");
  auto options = std::make_shared<Options>();
  parser->add_option("model", options->models, "model directory, or several to compare")
      ->required()
      ->type_name("DIRECTORY");
  parser->add_option("--port", options->port, "on 127.0.0.1; 0: any that is free (8808)")
      ->type_name("N")
      ->check(CLI::Range(0, 65535).description(""));
  parser->add_flag("--no-token", options->no_token,
                   "anyone logged in to this machine may use the page");
  parser->footer(
      "Examples:\n"
      "  attend explore model\n"
      "  attend explore before after --port 0\n"
      "The page needs no network, and nothing but this machine can reach it. The address has a\n"
      "random token, without which the page shows nothing: keep it to yourself.");
  return {parser, [options] { return run_explore(*options); }};
}

}  // namespace attend::cli
