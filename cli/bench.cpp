// `attend bench`: measures what this machine can do, then how near the main kernels come to it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attend/base/parallel.h"
#include "attend/kernels/machine.h"
#include "cli/bench_cases.h"
#include "cli/commands.h"

namespace attend::cli {
namespace {

struct BenchOptions {
  bool quick = false, json = false;
};

double seconds(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Times of as many runs as fit into `budget` seconds, five at least, sorted; the first run is not
// counted.
std::vector<double> times(double budget, const std::function<void()>& run) {
  std::vector<double> all;
  run();
  for (double spent = 0; all.size() < 5 || spent < budget; spent += all.back()) {
    all.push_back(seconds(run));
  }
  std::sort(all.begin(), all.end());
  return all;
}

// The limits of the machine: the best that was seen, since anything else on it only slows it down.
struct Limits {
  double flops_one_thread, flops, read_bytes, update_bytes;  // per second

  double bytes() const { return std::max(read_bytes, update_bytes); }
};

double measure_flops(double budget) {
  double work = 0;
  const double best = times(budget, [&] { work = kernels::fma_work(1 << 20); }).front();
  return work / best;
}

Limits measure_limits(const BenchOptions& options) {
  const double budget = options.quick ? 0.1 : 0.5;
  Limits limits{};
  limits.flops = measure_flops(budget);
  {
    const ThreadCountScope one(1);
    limits.flops_one_thread = measure_flops(budget);
  }
  // Far larger than any cache.
  const size_t size = (options.quick ? 32 : 64) << 20;
  std::vector<float> x(size, 1.0f), y(size, 1.0f);
  double sum = 0;
  const double read = times(budget, [&] { sum += kernels::read_work(x.data(), size); }).front();
  const double update =
      times(budget, [&] { kernels::update_work(x.data(), y.data(), size); }).front();
  limits.read_bytes = static_cast<double>(size * sizeof(float)) / read;
  limits.update_bytes = static_cast<double>(3 * size * sizeof(float)) / update;
  return limits;
}

struct Result {
  std::string name, limit;
  double seconds, flops, bytes, percent;
};

Result measure(const Case& work, const Limits& limits, double budget) {
  const auto all = times(budget, work.run);
  const double median = all[all.size() / 2];
  const double by_flops = work.flops / limits.flops, by_bytes = work.bytes / limits.bytes();
  return {
      work.name,           by_flops > by_bytes ? "FMA" : "memory",     median, work.flops / median,
      work.bytes / median, 100 * std::max(by_flops, by_bytes) / median};
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
  const Limits limits = measure_limits(options);
  if (!options.json) print_table_head(limits);
  std::vector<Result> results;
  for (const auto& make : bench_cases()) {
    results.push_back(measure(make(), limits, options.quick ? 0.1 : 0.5));
    if (!options.json) print_row(results.back());
  }
  if (options.json) print_json(limits, results);
  return 0;
}

}  // namespace

Command add_bench(CLI::App& app) {
  CLI::App* parser = app.add_subcommand("bench", "Measure speed beside the limits of this machine");
  auto options = std::make_shared<BenchOptions>();
  parser->add_flag("--quick", options->quick, "a fifth of the time, less exact");
  parser->add_flag("--json", options->json, "print one JSON object instead of a table");
  return {parser, [options] { return run_bench(*options); }};
}

}  // namespace attend::cli
