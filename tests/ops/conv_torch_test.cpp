// Values and gradients that PyTorch 2.13 computed in double (tests/fixtures/make_conv.py).
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "attend/ops/conv.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

template <typename T>
std::vector<T> read_line(std::istream& in) {
  std::string line;
  std::getline(in, line);
  std::istringstream words(line);
  return {std::istream_iterator<T>(words), std::istream_iterator<T>()};
}

void expect_near(const Tensor& actual, const std::vector<float>& expected, const char* what) {
  const std::vector<float> values = actual.to_vector();
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], 2e-5) << what << " " << i;
}

// c: length, in, out, kernel, stride, dilation, groups, left, right
Tensor run_1d(std::span<const size_t> c, const std::vector<Tensor>& inputs) {
  return conv1d(inputs[0], Packing::even(1, c[0]), inputs[1], inputs[2],
                {.stride = c[4], .dilation = c[5], .groups = c[6], .left = c[7], .right = c[8]})
      .rows;
}

// c: height, width, in, out, kernel height and width, stride, padding, dilation, groups
Tensor run_2d(std::span<const size_t> c, const std::vector<Tensor>& inputs) {
  return conv2d(inputs[0], inputs[1], inputs[2],
                {.stride = c[6], .padding = c[7], .dilation = c[8], .groups = c[9]});
}

std::vector<Shape> shapes_of(bool images, std::span<const size_t> c) {
  if (images) return {{2, c[0], c[1], c[2]}, {c[3], c[2] / c[9], c[4], c[5]}, {c[3]}};
  return {{c[0], c[1]}, {c[2], c[1] / c[6], c[3]}, {c[2]}};
}

TEST(ConvTorch, ValuesAndGradientsAreThoseOfPyTorch) {
  std::ifstream file(ATTEND_FIXTURES "/conv.txt");
  ASSERT_TRUE(file.is_open());
  size_t cases = 0;
  for (std::vector<size_t> numbers; !(numbers = read_line<size_t>(file)).empty(); ++cases) {
    SCOPED_TRACE("case " + std::to_string(cases));
    const bool images = numbers[0] == 2;
    const auto c = std::span(numbers).subspan(1);
    std::vector<Tensor> inputs;
    for (const Shape& shape : shapes_of(images, c)) {
      inputs.push_back(Tensor::of(read_line<float>(file), shape).require_grad());
    }
    const std::vector<float> dy = read_line<float>(file);
    const Tensor y = images ? run_2d(c, inputs) : run_1d(c, inputs);
    expect_near(y, read_line<float>(file), "y");
    backward(y, Tensor::of(dy, y.shape()));
    for (const Tensor& x : inputs) expect_near(x.grad(), read_line<float>(file), "gradient");
  }
  EXPECT_EQ(cases, 5u);
}

}  // namespace
}  // namespace attend
