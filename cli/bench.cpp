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
#include "attend/base/rng.h"
#include "attend/kernels/activations.h"
#include "attend/kernels/dropout.h"
#include "attend/kernels/embedding.h"
#include "attend/kernels/gemm.h"
#include "attend/kernels/machine.h"
#include "attend/kernels/optimizer.h"
#include "cli/commands.h"

namespace attend::cli {
namespace {

struct Options {
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

Limits measure_limits(const Options& options) {
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

// One line of the table. `flops` and `bytes` are what one run cannot do without; the larger share
// of the machine's limit bounds it.
struct Case {
  std::string name;
  double flops, bytes;
  std::function<void()> run;
};

using Floats = std::shared_ptr<std::vector<float>>;

Floats numbers(size_t size) {
  auto x = std::make_shared<std::vector<float>>(size);
  fill_uniform(*x, RandomStream(1, size), -1.0f, 1.0f);
  return x;
}

Case gemm_case(size_t m, size_t n, size_t k, const char* form) {
  const bool a_transposed = form[0] == 'T', b_transposed = form[1] == 'T';
  const Floats a = numbers(m * k), b = numbers(k * n), c = numbers(m * n);
  const double work = 2.0 * static_cast<double>(m) * static_cast<double>(n * k);
  return {fmt::format("gemm {} {} x {} x {}", form, m, n, k), work,
          static_cast<double>((m * k + k * n + m * n) * sizeof(float)), [=] {
            kernels::gemm(m, n, k, {a->data(), a_transposed ? m : k, a_transposed},
                          {b->data(), b_transposed ? k : n, b_transposed}, {c->data(), n});
          }};
}

Case activation_case(const char* name, kernels::Activation activation, size_t size) {
  const Floats x = numbers(size), y = numbers(size);
  return {fmt::format("{} {}", name, size), 0.0, static_cast<double>(2 * size * sizeof(float)),
          [=] { kernels::activate(activation, x->data(), y->data(), size); }};
}

Case dropout_case(size_t size) {
  const Floats x = numbers(size), y = numbers(size), dy = numbers(size), dx = numbers(size);
  const kernels::Dropout options{0.1f, RandomStream(1, 2)};
  return {fmt::format("dropout, both ways, {}", size), 0.0,
          static_cast<double>(4 * size * sizeof(float)), [=] {
            kernels::dropout(x->data(), y->data(), size, options);
            kernels::dropout_backward(dy->data(), dx->data(), size, options, false);
          }};
}

Case embedding_case(size_t count, size_t vocab, size_t width) {
  auto ids = std::make_shared<std::vector<int32_t>>(count);
  for (size_t i = 0; i < count; ++i) {
    (*ids)[i] = static_cast<int32_t>(RandomStream(1, 3).below(i, vocab));
  }
  const Floats dy = numbers(count * width), d_table = numbers(vocab * width);
  return {fmt::format("embedding gradient {} of {} x {}", count, vocab, width), 0.0,
          static_cast<double>((count + vocab) * width * sizeof(float)), [=] {
            kernels::embedding_backward({*ids, vocab, width}, dy->data(), d_table->data(), false);
          }};
}

Case adamw_case(size_t tensors, size_t size) {
  const size_t total = tensors * size;
  const Floats p = numbers(total), g = numbers(total), m = numbers(total);
  const auto v = std::make_shared<std::vector<float>>(total, 0.1f);
  std::vector<kernels::OptimizerTensor> list;
  for (size_t at = 0; at < total; at += size) {
    list.push_back({p->data() + at, g->data() + at, m->data() + at, v->data() + at, size, 0.01f});
  }
  return {fmt::format("AdamW {} x {}", tensors, size), 0.0,
          static_cast<double>(7 * total * sizeof(float)),
          [list, memory = std::vector<Floats>{p, g, m, v}] { kernels::adam(list, {}); }};
}

// Cases are made one at a time, so that only one holds memory.
std::vector<std::function<Case()>> cases() {
  using kernels::Activation;
  return {
      [] { return gemm_case(2048, 2048, 512, "NT"); },
      [] { return gemm_case(2048, 512, 2048, "NN"); },
      [] { return gemm_case(512, 512, 2048, "TN"); },
      [] { return gemm_case(1024, 8000, 512, "NT"); },
      [] { return activation_case("gelu", Activation::kGelu, 2048 * 2048); },
      [] { return dropout_case(2048 * 2048); },
      [] { return embedding_case(4096, 8000, 512); },
      [] { return adamw_case(100, 200000); },
  };
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

int run_bench(const Options& options) {
  const Limits limits = measure_limits(options);
  if (!options.json) print_table_head(limits);
  std::vector<Result> results;
  for (const auto& make : cases()) {
    results.push_back(measure(make(), limits, options.quick ? 0.1 : 0.5));
    if (!options.json) print_row(results.back());
  }
  if (options.json) print_json(limits, results);
  return 0;
}

}  // namespace

Command add_bench(CLI::App& app) {
  CLI::App* parser = app.add_subcommand("bench", "Measure speed beside the limits of this machine");
  auto options = std::make_shared<Options>();
  parser->add_flag("--quick", options->quick, "a fifth of the time, less exact");
  parser->add_flag("--json", options->json, "print one JSON object instead of a table");
  return {parser, [options] { return run_bench(*options); }};
}

}  // namespace attend::cli
