// The subcommands of `attend`, one a file. Each adds itself to the command line; after parsing,
// main runs the one that was named and exits with what it returns.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

#include "attend/decode/embed.h"

namespace attend::cli {

struct Command {
  CLI::App* parser;
  std::function<int()> run;
};

Command add_adapter(CLI::App& app);
Command add_average(CLI::App& app);
Command add_bench(CLI::App& app);
Command add_check(CLI::App& app);
Command add_classify(CLI::App& app);
Command add_fill(CLI::App& app);
Command add_completion(CLI::App& app);
Command add_embed(CLI::App& app);
Command add_evaluate(CLI::App& app);
Command add_explore(CLI::App& app);
Command add_generate(CLI::App& app);
Command add_info(CLI::App& app);
Command add_inspect(CLI::App& app);
Command add_neighbours(CLI::App& app);
Command add_score(CLI::App& app);
Command add_tokenizer(CLI::App& app);
Command add_train(CLI::App& app);
Command add_translate(CLI::App& app);

// The option --pooling, which embed and neighbours share.
void add_pooling(CLI::App& parser, EmbeddingPooling& pooling);

// A usage error that lists the subcommands of `parser` when none was given.
void require_subcommand(CLI::App& parser);

// "attend 0.1.0", and the lines that say what it runs on.
std::string version();
std::string machine_summary();

}  // namespace attend::cli
