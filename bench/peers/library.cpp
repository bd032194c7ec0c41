// What compare.py calls. A function that fails returns null or a negative number, and
// attend_peer_error() says why.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "attend/base/error.h"
#include "attend/base/parallel.h"
#include "attend/tensor/tape.h"
#include "bench/peers/cases.h"
#include "bench/peers/guarded.h"
#include "bench/peers/limits.h"

namespace attend::peers {

std::map<std::string, Maker>& kinds() {
  static std::map<std::string, Maker> all;
  return all;
}

const Tensor& Inputs::at(const std::string& name) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) throw ConfigError("peer: no input is called '{}'", name);
  return found->second;
}

std::vector<int32_t> Inputs::integers(const std::string& name) const {
  const auto values = at(name).index_span();
  return {values.begin(), values.end()};
}

std::vector<NamedTensor> Inputs::leaves(std::initializer_list<const char*> names) const {
  std::vector<NamedTensor> found;
  for (const char* name : names) found.push_back(leaf(name));
  return found;
}

Case both_ways(std::vector<NamedTensor> leaves, const Tensor& dy, std::function<Tensor()> forward) {
  return {std::move(leaves), [dy, forward = std::move(forward)] {
            Tensor y = forward();
            backward(y, dy);
            return y;
          }};
}

namespace {

struct Array {
  const char* name;
  const void* data;
  int32_t is_integer;  // int32, otherwise float
  int32_t rank;
  int64_t extents[Shape::kMaxRank];
};

struct Running {
  Case what;
  std::vector<NamedTensor> results;

  Tensor once(double* seconds) {
    for (const NamedTensor& leaf : what.leaves) leaf.tensor.clear_grad();
    what.prepare();
    const auto start = std::chrono::steady_clock::now();
    Tensor y = what.step();
    *seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return y;
  }

  void keep_results() {
    double seconds = 0;
    results.clear();
    const Tensor y = once(&seconds);
    if (y.defined()) results.push_back({"y", y});
    for (const NamedTensor& leaf : what.leaves) {
      results.push_back({"d_" + leaf.name, leaf.tensor.grad()});
    }
    results.insert(results.end(), what.changed.begin(), what.changed.end());
  }
};

Tensor tensor_of(const Array& array) {
  const std::vector<size_t> extents(array.extents, array.extents + array.rank);
  const Shape shape(extents);
  if (array.is_integer != 0) {
    return Tensor::ids({static_cast<const int32_t*>(array.data), shape.size()}, shape);
  }
  return Tensor::of({static_cast<const float*>(array.data), shape.size()}, shape);
}

}  // namespace
}  // namespace attend::peers

using attend::peers::guarded;
using attend::peers::Running;

extern "C" {

const char* attend_peer_error() { return attend::peers::error.c_str(); }

void attend_peer_threads(int count) { attend::set_thread_count(count); }

double attend_peer_fma_peak() { return attend::peers::fma_peak(); }
double attend_peer_bandwidth() { return attend::peers::bandwidth(); }
double attend_peer_read_bandwidth() { return attend::peers::read_bandwidth(); }

void* attend_peer_create(const char* kind, const attend::peers::Array* arrays, int count) {
  return guarded<>(static_cast<Running*>(nullptr), [&] {
    const auto found = attend::peers::kinds().find(kind);
    if (found == attend::peers::kinds().end()) {
      throw attend::ConfigError("peer: there is no kind '{}'", kind);
    }
    attend::peers::Inputs inputs;
    for (int i = 0; i < count; ++i) inputs.add(arrays[i].name, tensor_of(arrays[i]));
    return new Running{found->second(inputs), {}};
  });
}

void attend_peer_destroy(void* running) { delete static_cast<Running*>(running); }

// Returns the seconds spent in the steps.
double attend_peer_run(void* running, int iterations) {
  return guarded(-1.0, [&] {
    double seconds = 0;
    for (int i = 0; i < iterations; ++i) static_cast<Running*>(running)->once(&seconds);
    return seconds;
  });
}

// Runs one step and keeps its results until the next call or the end of the case.
int attend_peer_results(void* running) {
  return guarded(-1, [&] {
    static_cast<Running*>(running)->keep_results();
    return static_cast<int>(static_cast<Running*>(running)->results.size());
  });
}

const char* attend_peer_result_name(void* running, int i) {
  return static_cast<Running*>(running)->results[static_cast<size_t>(i)].name.c_str();
}

// Sets *data to the values of a result, contiguous; returns how many there are.
int64_t attend_peer_result(void* running, int i, const float** data) {
  return guarded(int64_t{-1}, [&] {
    const auto values =
        static_cast<Running*>(running)->results[static_cast<size_t>(i)].tensor.span();
    *data = values.data();
    return static_cast<int64_t>(values.size());
  });
}

}  // extern "C"
