// Losses and gradients that PyTorch 2.13 computed in double (tests/fixtures/make_cross_entropy.py).
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

template <typename T>
std::vector<T> values_of_line(std::istream& in) {
  std::string line;
  std::getline(in, line);
  std::istringstream words(line);
  return {std::istream_iterator<T>(words), std::istream_iterator<T>()};
}

void expect_close_values(const Tensor& actual, const std::vector<float>& expected,
                         const char* what) {
  const std::vector<float> values = actual.to_vector();
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], 1e-5) << what << " " << i;
}

TEST(CrossEntropyTorch, WeightsAndSmoothingAreThoseOfPyTorch) {
  std::ifstream file(ATTEND_FIXTURES "/cross_entropy.txt");
  ASSERT_TRUE(file.is_open());
  size_t cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    SCOPED_TRACE(line);
    std::istringstream words(line);
    size_t rows = 0, classes = 0;
    float smoothing = 0;
    std::string reduction;
    words >> rows >> classes >> smoothing >> reduction;
    const Tensor logits = Tensor::of(values_of_line<float>(file), {rows, classes}).require_grad();
    const std::vector<int32_t> targets = values_of_line<int32_t>(file);
    const std::vector<float> weights = values_of_line<float>(file);
    CrossEntropyOptions options{.label_smoothing = smoothing,
                                .reduction = reduction == "mean"  ? Reduction::kMean
                                             : reduction == "sum" ? Reduction::kSum
                                                                  : Reduction::kNone};
    if (!weights.empty()) options.class_weights = Tensor::of(weights, {classes});
    const Tensor loss = cross_entropy(logits, Tensor::ids(targets, {rows}), options);
    const std::vector<float> dy = values_of_line<float>(file);
    backward(loss, Tensor::of(dy, loss.shape()));
    expect_close_values(loss, values_of_line<float>(file), "loss");
    expect_close_values(logits.grad(), values_of_line<float>(file), "gradient");
  }
  EXPECT_EQ(cases, 7u);
}

}  // namespace
}  // namespace attend
