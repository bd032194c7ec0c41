// `attend average`: one model of several checkpoints.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "attend/train/average.h"
#include "cli/commands.h"
#include "cli/numbers.h"

namespace attend::cli {
namespace {

struct AverageOptions {
  std::filesystem::path model, out;
  size_t last = 5;
};

int run_average(const AverageOptions& options) {
  const auto steps = average_checkpoints(options.model, options.last, options.out);
  fmt::print("{}: the mean of the weights at step{} {}\n", options.out.string(),
             steps.size() == 1 ? "" : "s", fmt::join(steps, ", "));
  return 0;
}

}  // namespace

Command add_average(CLI::App& app) {
  CLI::App* parser =
      app.add_subcommand("average", "Make one model of the newest checkpoints of a run");
  auto options = std::make_shared<AverageOptions>();
  parser->add_option("model", options->model, "model directory with its checkpoints")
      ->required()
      ->type_name("DIRECTORY");
  parser->add_option("--last", options->last, "checkpoints to average (5)")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000));
  parser->add_option("--out", options->out, "model directory to write")
      ->required()
      ->type_name("DIRECTORY");
  parser->footer(
      "Example:\n"
      "  attend train config.yaml --training.keep 5\n"
      "  attend average model --last 5 --out averaged\n"
      "The mean of the last checkpoints is often better than the last one.");
  return {parser, [options] { return run_average(*options); }};
}

}  // namespace attend::cli
