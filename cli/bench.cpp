// `attend bench`: measures what this machine can do, then how near the main kernels come to it; or
// how fast a model is.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attend/base/parallel.h"
#include "attend/kernels/machine.h"
#include "cli/bench_cases.h"
#include "cli/bench_model.h"
#include "cli/commands.h"

namespace attend::cli {
namespace {

struct BenchOptions {
  std::filesystem::path model;
  bool quick = false, json = false;

  double budget() const { return quick ? 0.1 : 0.5; }  // seconds of a measurement
};

// The limits of the machine: the best that was seen, since anything else on it only slows it down.
struct Limits {
  double flops_one_thread, flops, read_bytes, update_bytes;  // per second
};

double measure_flops(double budget) {
  double work = 0;
  const double best = bench_times(budget, [&] { work = kernels::fma_work(1 << 20); }).front();
  return work / best;
}

// Memory of one size, and how fast it is read, or read and written; what fits into a cache is
// faster than what does not.
class MemoryProbe {
 public:
  explicit MemoryProbe(size_t floats) : x_(floats, 1.0f), y_(floats / 2 + 1, 1.0f) {}

  double read(double budget) {
    const auto all = bench_times(budget, [&] { sum_ += kernels::read_work(x_.data(), x_.size()); });
    return static_cast<double>(x_.size() * sizeof(float)) / all.front();
  }
  double update(double budget) {  // half of it, so that both halves are as much memory
    const size_t half = x_.size() / 2;
    const auto all = bench_times(budget, [&] { kernels::update_work(x_.data(), y_.data(), half); });
    return static_cast<double>(3 * half * sizeof(float)) / all.front();
  }

 private:
  std::vector<float> x_, y_;
  double sum_ = 0;
};

Limits measure_limits(const BenchOptions& options) {
  Limits limits{};
  limits.flops = measure_flops(options.budget());
  {
    const ThreadCountScope one(1);
    limits.flops_one_thread = measure_flops(options.budget());
  }
  MemoryProbe probe(size_t{options.quick ? 32u : 64u} << 20);  // far larger than any cache
  limits.read_bytes = probe.read(options.budget());
  limits.update_bytes = probe.update(options.budget());
  return limits;
}

struct Result {
  std::string name, limit;
  double seconds, flops, bytes, percent;
};

// A machine is not as fast at one moment as at another: the limits are measured before and after
// the work, and what the work itself does is possible too.
Result measure(const Case& work, Limits& limits, double budget) {
  std::optional<MemoryProbe> memory;
  if (work.bytes > 0) memory.emplace(static_cast<size_t>(work.memory / sizeof(float)));
  double bytes_limit = 0;
  const auto probe = [&] {
    limits.flops = std::max(limits.flops, measure_flops(budget / 10));
    if (!memory) return;
    bytes_limit = std::max({bytes_limit, memory->read(budget / 10), memory->update(budget / 10)});
  };
  probe();
  const auto all = bench_times(budget, work.run);
  probe();
  const double median = all[all.size() / 2];
  const double flops = work.flops / median, bytes = work.bytes / median;
  limits.flops = std::max(limits.flops, flops);
  const double of_flops = flops / limits.flops;
  const double of_bytes = memory ? bytes / std::max(bytes_limit, bytes) : 0;
  return {work.name, of_flops > of_bytes ? "FMA" : "memory", median, flops,
          bytes,     100 * std::max(of_flops, of_bytes)};
}

void print_table_head(const Limits& limits) {
  fmt::print("{}\n{}\n", version(), machine_summary());
  fmt::print("  FMA peak      {:.1f} GFLOP/s on one thread, {:.1f} on all\n",
             limits.flops_one_thread / 1e9, limits.flops / 1e9);
  fmt::print("  memory        {:.1f} GB/s read, {:.1f} GB/s read and written\n\n",
             limits.read_bytes / 1e9, limits.update_bytes / 1e9);
  fmt::print("  {:<38} {:>10} {:>9} {:>8} {:>7}  {}\n", "", "ms", "GFLOP/s", "GB/s", "%", "of");
}

void print_row(const Result& r) {
  const std::string flops = r.flops > 0 ? fmt::format("{:.1f}", r.flops / 1e9) : "";
  fmt::print("  {:<38} {:>10.3f} {:>9} {:>8.1f} {:>7.0f}  {}\n", r.name, r.seconds * 1e3, flops,
             r.bytes / 1e9, r.percent, r.limit);
  std::fflush(stdout);
}

void print_json(const Limits& limits, const std::vector<Result>& results) {
  fmt::print(
      "{{\"threads\": {}, \"simd\": \"{}\", \"gflops_one_thread\": {:.1f}, \"gflops\": {:.1f}, "
      "\"read_gbs\": {:.1f}, \"update_gbs\": {:.1f}, \"cases\": [",
      thread_count(), kernels::simd_target(), limits.flops_one_thread / 1e9, limits.flops / 1e9,
      limits.read_bytes / 1e9, limits.update_bytes / 1e9);
  for (size_t i = 0; i < results.size(); ++i) {
    const Result& r = results[i];
    fmt::print(
        "{}\n  {{\"name\": \"{}\", \"ms\": {:.4f}, \"gflops\": {:.2f}, \"gbs\": {:.2f}, "
        "\"percent_of_limit\": {:.1f}, \"limit\": \"{}\"}}",
        i == 0 ? "" : ",", r.name, r.seconds * 1e3, r.flops / 1e9, r.bytes / 1e9, r.percent,
        r.limit);
  }
  fmt::print("\n]}}\n");
}

int run_bench(const BenchOptions& options) {
  if (!options.model.empty()) return bench_model(options.model, options.budget(), options.json);
  Limits limits = measure_limits(options);
  if (!options.json) print_table_head(limits);
  std::vector<Result> results;
  for (const auto& make : bench_cases()) {
    results.push_back(measure(make(), limits, options.budget()));
    if (!options.json) print_row(results.back());
  }
  if (options.json) print_json(limits, results);
  return 0;
}

}  // namespace

Command add_bench(CLI::App& app) {
  CLI::App* parser =
      app.add_subcommand("bench", "Measure the speed of this machine, or of a model on it");
  auto options = std::make_shared<BenchOptions>();
  parser->add_option("model", options->model, "model directory (default: the kernels alone)")
      ->type_name("DIRECTORY");
  parser->add_flag("--quick", options->quick, "a fifth of the time, less exact");
  parser->add_flag("--json", options->json, "print one JSON object instead of a table");
  parser->footer(
      "Examples:\n"
      "  attend bench\n"
      "  attend bench model\n"
      "Without a model, % is the share of the fastest multiply-adds (FMA), or the fastest reading\n"
      "and writing of as much memory, that this machine did at the same time. With one, it "
      "measures\n"
      "reading or writing text, and a training step if the directory has its training text.");
  return {parser, [options] { return run_bench(*options); }};
}

}  // namespace attend::cli
