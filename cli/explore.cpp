// `attend explore`: serves a page on which models are explored.
#include <fmt/format.h>
#include <malloc.h>
#include <pthread.h>

#include <csignal>
#include <cstdio>
#include <thread>

#include "attend/base/error.h"
#include "attend/serve/server.h"
#include "cli/commands.h"
#include "cli/numbers.h"

namespace attend::cli {
namespace {

struct Options {
  std::vector<std::filesystem::path> models;
  uint16_t port = 8808;
  bool no_token = false;
};

int run_explore(const Options& options) {
#ifdef M_ARENA_MAX
  // Each thread would have a heap of its own, as large as the largest request it ever had. They
  // compute one after the other and need no more than two. Large blocks go back when they are free.
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
  // Before other threads start: they inherit the mask, and leave the signals to the one that waits.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  Explorer explorer(options.models);
  ExplorerServer server(explorer, options.port, options.no_token ? "" : new_token());
  fmt::print("{}\n", server.address());
  std::fflush(stdout);
  fmt::print(stderr, "Open this address in a browser on this machine. Press Ctrl-C to stop.\n");
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
  CLI::App* parser = app.add_subcommand("explore", "Explore a model's attention in a browser");
  auto options = std::make_shared<Options>();
  parser->add_option("model", options->models, "model directory, or several to compare")
      ->required()
      ->type_name("DIRECTORY");
  parser->add_option("--port", options->port, "port on 127.0.0.1; 0: any free one (8808)")
      ->type_name("N")
      ->check(whole_number(0, 65535));
  parser->add_flag("--no-token", options->no_token,
                   "let anyone who is logged in to this machine use the page");
  parser->footer(
      "Examples:\n"
      "  attend explore model\n"
      "  attend explore before after --port 0\n"
      "The page needs no network and answers only this machine. The address contains a random\n"
      "token, without which the page shows nothing: keep it to yourself.");
  return {parser, [options] { return run_explore(*options); }};
}

}  // namespace attend::cli
