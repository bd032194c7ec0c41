// `attend adapter`: models from adapters.
#include <fmt/format.h>

#include "attend/models/adapter.h"
#include "cli/commands.h"
#include "cli/help.h"

namespace attend::cli {
namespace {

struct MergeOptions {
  std::filesystem::path base, out;
  std::vector<std::filesystem::path> adapters;
};

int run_merge(const MergeOptions& options) {
  merge_adapters(options.base, options.adapters, options.out);
  fmt::print("{}: {} with {}\n", options.out.string(), options.base.string(),
             options.adapters.size() == 1 ? options.adapters.front().string()
                                          : fmt::format("{} adapters", options.adapters.size()));
  return 0;
}

}  // namespace

Command add_adapter(CLI::App& app) {
  CLI::App* parser = app.add_subcommand("adapter", "Merge adapters into a model");
  require_subcommand(*parser);
  auto options = std::make_shared<MergeOptions>();
  CLI::App* merge = parser->add_subcommand("merge", "Write a model and its adapters as one model");
  merge->add_option("base", options->base, "the model that was adapted")
      ->required()
      ->type_name("DIRECTORY");
  merge->add_option("adapters", options->adapters, "what `attend train --lora.rank N` wrote")
      ->required()
      ->type_name("DIRECTORY");
  merge->add_option("--out", options->out, "model directory to write")
      ->required()
      ->type_name("DIRECTORY");
  merge->footer(
      "Example:\n"
      "  attend train --init-from base --lora.rank 8 --text in.txt --label out.txt --out adapter\n"
      "  attend adapter merge base adapter --out model");
  parser->footer("See `attend adapter merge --help`.");
  return {parser, [options] { return run_merge(*options); }};
}

}  // namespace attend::cli
