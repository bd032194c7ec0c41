// What `attend bench` times: a table of cases.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace attend::cli {

// `flops` and `bytes` are what one run cannot do without; the larger share of the machine's limit
// bounds it.
struct Case {
  std::string name;
  double flops, bytes;
  std::function<void()> run;
  double memory = bytes;  // that these bytes are in: a small one fits into a cache
};

// Cases are made one at a time, so that only one holds memory.
std::vector<std::function<Case()>> bench_cases();

}  // namespace attend::cli
