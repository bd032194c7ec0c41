// One case of an op, used for every check an op must pass (op_test.cpp): forward against its plain
// twin, gradient against finite differences in double, strided inputs, the same bits on any number
// of threads.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "attend/tensor/tensor.h"
#include "tests/plain/plain.h"

namespace attend {

struct OpCase {
  std::string name;  // letters and digits, the name of the test
  // Each entry is one set of input shapes to try; have an empty one and one of a single row among
  // them.
  std::vector<std::vector<Shape>> shapes;
  std::function<Tensor(const std::vector<Tensor>&)> op;
  std::function<plain::Plain(const std::vector<plain::Plain>&)> plain;
  std::vector<Shape> large = {};  // large enough for several chunks of work, for the thread test
  double low = -2.0, high = 2.0;  // range of the random inputs
  double tolerance = 1e-5;        // relative to max(1, |value|)
  bool views = true;              // whether inputs may be blocks of columns
};

std::vector<OpCase>& op_cases();

// At namespace scope in the test file of a family of ops: const RegisterOps kCases({{...}, {...}});
struct RegisterOps {
  explicit RegisterOps(std::vector<OpCase> cases) {
    for (OpCase& c : cases) op_cases().push_back(std::move(c));
  }
};

}  // namespace attend
