// Our products beside those of BLIS, OpenBLAS and oneDNN: in one run that alternates them, medians
// of several rounds, as percent of the multiply-add peak measured in the same rounds.
#include <dlfcn.h>
#include <dnnl.h>
#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/parallel.h"
#include "attend/kernels/gemm.h"
#include "attend/kernels/machine.h"

namespace attend::bench {
namespace {

using kernels::Matrix;
using kernels::PackedMatrix;

struct Shape {
  int m, n, k;
  const char* form;   // NN, NT or TN
  bool cold = false;  // weights that have left the cache
  bool a_transposed() const { return form[0] == 'T'; }
  bool b_transposed() const { return form[1] == 'T'; }
  int a_stride() const { return a_transposed() ? m : k; }
  int b_stride() const { return b_transposed() ? k : n; }
};

// Several copies of the weights, so that going round them finds them cold.
struct Data {
  explicit Data(const Shape& s) : a(size_t(s.m) * s.k), c(size_t(s.m) * s.n) {
    const size_t size = size_t(s.k) * s.n, copies = s.cold ? (size_t{32} << 20) / size : 1;
    fill(a);
    for (size_t i = 0; i < copies; ++i) {
      fill(b.emplace_back(size));
      packed.emplace_back(s.k, s.n, Matrix{b[i].data(), size_t(s.b_stride()), s.b_transposed()});
    }
  }
  static void fill(std::vector<float>& x) {
    for (size_t i = 0; i < x.size(); ++i) x[i] = float(i * 2654435761u % 1000) / 500 - 1;
  }
  std::vector<float> a, c;
  std::vector<std::vector<float>> b;
  std::vector<PackedMatrix> packed;
};

// Multiplies with copy `i` of the weights.
struct Contender {
  std::string name;
  std::function<void(const Shape&, Data&, size_t i)> multiply;
};

using CblasSgemm = void (*)(int order, int a, int b, int m, int n, int k, float alpha, const float*,
                            int, const float*, int, float beta, float*, int);

Contender cblas(const std::string& name, const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const auto sgemm =
      library ? reinterpret_cast<CblasSgemm>(dlsym(library, "cblas_sgemm")) : nullptr;
  if (sgemm == nullptr) {
    fmt::print(stderr, "gemm_peers: no cblas_sgemm in {}\n", path);
    std::exit(1);
  }
  return {name, [sgemm](const Shape& s, Data& x, size_t i) {
            constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;
            sgemm(kRowMajor, s.a_transposed() ? kTransposed : kPlain,
                  s.b_transposed() ? kTransposed : kPlain, s.m, s.n, s.k, 1.0f, x.a.data(),
                  s.a_stride(), x.b[i].data(), s.b_stride(), 0.0f, x.c.data(), s.n);
          }};
}

std::vector<Contender> contenders() {
  return {
      {"ours",
       [](const Shape& s, Data& x, size_t i) {
         kernels::gemm(s.m, s.n, s.k, {x.a.data(), size_t(s.a_stride()), s.a_transposed()},
                       {x.b[i].data(), size_t(s.b_stride()), s.b_transposed()},
                       {x.c.data(), size_t(s.n)});
       }},
      {"packed",
       [](const Shape& s, Data& x, size_t i) {
         kernels::gemm(s.m, {x.a.data(), size_t(s.a_stride()), s.a_transposed()}, x.packed[i],
                       {x.c.data(), size_t(s.n)});
       }},
      cblas("OpenBLAS", ATTEND_OPENBLAS),
      cblas("BLIS", ATTEND_BLIS),
      {"oneDNN",
       [](const Shape& s, Data& x, size_t i) {
         dnnl_sgemm(s.form[0], s.form[1], s.m, s.n, s.k, 1.0f, x.a.data(), s.a_stride(),
                    x.b[i].data(), s.b_stride(), 0.0f, x.c.data(), s.n);
       }},
  };
}

double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + x.size() / 2, x.end());
  return x[x.size() / 2];
}

// On one thread, of the CPU: another program's turns do not count.
double now(int threads) {
  timespec time;
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The median time of each contender, and of the peak in operations a second.
std::vector<double> measure(const std::vector<Contender>& all, const Shape& shape, int threads,
                            int rounds, double* peak) {
  Data data(shape);
  std::vector<std::vector<double>> times(all.size());
  std::vector<double> peaks;
  const double once = 2.0 * shape.m * shape.n * shape.k / 5e10;  // about
  const size_t repeats =
      std::max<size_t>(shape.cold ? data.b.size() : 1, size_t(5e-3 / (once + 1e-5)));
  for (int round = 0; round <= rounds; ++round) {  // the first one warms up
    const double start = now(threads);
    const double work = kernels::fma_work(200'000);
    if (round > 0) peaks.push_back(work / (now(threads) - start));
    for (size_t i = 0; i < all.size(); ++i) {
      const double begin = now(threads);
      for (size_t r = 0; r < repeats; ++r) all[i].multiply(shape, data, r % data.b.size());
      if (round > 0) times[i].push_back((now(threads) - begin) / double(repeats));
    }
  }
  *peak = median(peaks);
  std::vector<double> result;
  result.reserve(times.size());
  for (const auto& each : times) result.push_back(median(each));
  return result;
}

// One line a shape: percent of peak (or microseconds), then our speed as a multiple of the best
// peer's.
void table(const char* title, const std::vector<Shape>& shapes, int threads, int rounds,
           bool in_percent) {
  set_thread_count(threads);
  omp_set_num_threads(threads);
  const std::vector<Contender> all = contenders();
  fmt::print("\n{}, {} thread{}, {}\n{:24}", title, threads, threads == 1 ? "" : "s",
             in_percent ? "% of peak" : "microseconds", "m, n, k");
  for (const Contender& each : all) fmt::print("{:>10}", each.name);
  fmt::print("{:>12}{:>14}{:>10}\n", "ours/best", "packed/best", "GFLOP/s");
  for (const Shape& s : shapes) {
    double peak = 0;
    const std::vector<double> times = measure(all, s, threads, rounds, &peak);
    fmt::print("{:24}",
               fmt::format("{}, {}, {} {}{}", s.m, s.n, s.k, s.form, s.cold ? " cold" : ""));
    for (const double time : times) {
      fmt::print("{:10.1f}", in_percent ? 200.0 * s.m * s.n * s.k / time / peak : time * 1e6);
    }
    const double best = *std::min_element(times.begin() + 2, times.end());
    fmt::print("{:12.2f}{:14.2f}{:10.0f}\n", best / times[0], best / times[1], peak / 1e9);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace attend::bench

// gemm_peers [rounds] [threads] [training|rows|tiles]
int main(int count, char** arguments) {
  using attend::bench::table;
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 9;
  const int threads = count > 2 ? std::atoi(arguments[2]) : std::min(2, omp_get_num_procs());
  const std::string_view only = count > 3 ? arguments[3] : "";
  if (only.empty() || only == "training") {
    table("Training",
          {{2048, 2048, 512, "NN"},
           {2048, 2048, 512, "NT"},
           {2048, 2048, 512, "TN"},
           {2048, 512, 2048, "NN"},
           {2048, 512, 2048, "NT"},
           {2048, 512, 2048, "TN"},
           {2048, 512, 512, "NN"},
           {2048, 512, 512, "NT"},
           {2048, 512, 512, "TN"},
           {1024, 8000, 512, "NN"},
           {1024, 8000, 512, "NT"},
           {512, 512, 2048, "TN"},
           {1024, 256, 256, "NN"},
           {1024, 256, 256, "NT"},
           {1024, 256, 256, "TN"},
           {256, 64, 64, "NN"},
           {256, 64, 64, "NT"}},
          threads, rounds, true);
  }
  if (only.empty() || only == "rows") {
    std::vector<attend::bench::Shape> shapes;
    for (const char* form : {"NN", "NT"}) {
      for (const bool cold : {false, true}) {
        shapes.push_back({1, 2048, 512, form, cold});
        shapes.push_back({1, 512, 512, form, cold});
        shapes.push_back({5, 512, 512, form, cold});
        shapes.push_back({32, 2048, 512, form, cold});
      }
    }
    table("Few rows", shapes, threads, rounds, false);
  }
  if (only.empty() || only == "tiles") {
    table("Tiles of attention",
          {{64, 64, 64, "NN"},
           {64, 64, 64, "NT"},
           {128, 128, 64, "NN"},
           {128, 128, 64, "NT"},
           {32, 512, 64, "NN"},
           {32, 512, 64, "NT"}},
          1, rounds, true);
  }
}
