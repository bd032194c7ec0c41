#include "attend/ops/pool.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/base/error.h"
#include "attend/tensor/tape.h"
#include "tests/ops/op_case.h"
#include "tests/plain/conv.h"

namespace attend {
namespace {

using Inputs = std::vector<Tensor>;
using PlainInputs = std::vector<plain::Plain>;
using plain::Pool;

Packing packing_for(size_t rows) {
  if (rows == 17) return Packing::of({5, 0, 1, 9, 2});
  if (rows == 3000) return Packing::of({700, 1, 0, 1299, 300, 40, 660});
  return Packing::even(1, rows);
}

OpCase sequences(const std::string& name, Pool kind, const Pool1dOptions& options) {
  const auto op = kind == Pool::kMax ? max_pool1d : mean_pool1d;
  return {
      .name = name,
      .shapes = {{{17, 11}}, {{0, 11}}, {{1, 3}}},
      .op = [=](const Inputs& in) { return op(in[0], packing_for(in[0].rows()), options).rows; },
      .plain =
          [=](const PlainInputs& in) {
            return plain::pool1d(kind, in[0], packing_for(in[0].rows()), options);
          },
      .large = {{3000, 70}}};
}

OpCase images(const std::string& name, Pool kind, const Pool2dOptions& options) {
  const auto op = kind == Pool::kMax ? max_pool2d : mean_pool2d;
  return {.name = name,
          .shapes = {{{2, 5, 6, 9}}, {{0, 5, 6, 9}}, {{1, 4, 3, 2}}},
          .op = [=](const Inputs& in) { return op(in[0], options); },
          .plain = [=](const PlainInputs& in) { return plain::pool2d(kind, in[0], options); },
          .large = {{5, 33, 31, 20}}};
}

OpCase whole_sequences(const std::string& name, Pool kind) {
  return {.name = name,
          .shapes = {{{17, 11}}, {{0, 11}}, {{1, 3}}},
          .op =
              [=](const Inputs& in) {
                const Packing packing = packing_for(in[0].rows());
                return kind == Pool::kMax ? max_pool(in[0], packing) : mean_pool(in[0], packing);
              },
          .plain =
              [=](const PlainInputs& in) {
                return plain::pool_each(kind, in[0], plain::images_of(packing_for(in[0].rows())));
              },
          .large = {{3000, 70}}};
}

OpCase whole_images(const std::string& name, Pool kind) {
  return {
      .name = name,
      .shapes = {{{3, 4, 5, 9}}, {{0, 4, 5, 9}}, {{1, 1, 1, 3}}},
      .op =
          [=](const Inputs& in) { return kind == Pool::kMax ? max_pool(in[0]) : mean_pool(in[0]); },
      .plain =
          [=](const PlainInputs& in) {
            return plain::pool_each(kind, in[0], plain::images_of(in[0]));
          },
      .large = {{9, 33, 31, 20}}};
}

const RegisterOps kPoolCases({
    sequences("MaxPool1d", Pool::kMax, {.kernel = 2}),
    sequences("MaxPool1dOverlapping", Pool::kMax,
              {.kernel = 3, .stride = 1, .left = 1, .right = 1}),
    sequences("MaxPool1dDilated", Pool::kMax,
              {.kernel = 2, .stride = 2, .dilation = 3, .left = 1, .right = 2}),
    sequences("MeanPool1d", Pool::kMean, {.kernel = 3, .stride = 2, .left = 1, .right = 1}),
    sequences("MeanPool1dPaddingCounts", Pool::kMeanOfAll,
              {.kernel = 3, .stride = 1, .left = 2, .right = 0, .count_padding = true}),
    sequences("MeanPool1dDilated", Pool::kMean,
              {.kernel = 2, .stride = 1, .dilation = 3, .left = 3}),
    images("MaxPool2d", Pool::kMax, {.kernel = 2}),
    images("MaxPool2dOverlapping", Pool::kMax, {.kernel = 3, .stride = 2, .padding = 1}),
    images("MeanPool2d", Pool::kMean, {.kernel = {2, 3}, .stride = {2, 1}, .padding = {1, 1}}),
    images("MeanPool2dPaddingCounts", Pool::kMeanOfAll,
           {.kernel = 3, .stride = 1, .padding = 1, .count_padding = true}),
    whole_sequences("MaxPoolSequences", Pool::kMax),
    whole_sequences("MeanPoolSequences", Pool::kMean),
    whole_images("MaxPoolImages", Pool::kMax),
    whole_images("MeanPoolImages", Pool::kMean),
});

TEST(Pool, TiesGoToTheFirst) {
  const Packing packing = Packing::of({4});
  Tensor x = Tensor::of({1, 2, 2, 2}, {4, 1}).require_grad();
  backward(max_pool1d(x, packing, {.kernel = 4}).rows);
  EXPECT_EQ(x.grad().to_vector(), (std::vector<float>{0, 1, 0, 0}));
  x.clear_grad();
  backward(max_pool(x, packing));
  EXPECT_EQ(x.grad().to_vector(), (std::vector<float>{0, 1, 0, 0}));
}

TEST(Pool, NanIsTheLargest) {
  const Tensor x = Tensor::of({1, NAN, 3, 2}, {4, 1});
  EXPECT_TRUE(std::isnan(max_pool1d(x, Packing::of({4}), {.kernel = 4}).rows.item()));
  EXPECT_TRUE(std::isnan(max_pool(x, Packing::of({4})).item()));
}

// The maximum of negative values is not the zero of the padding.
TEST(Pool, PaddingIsNeverTheMaximum) {
  const Tensor x = Tensor::of({-3, -1, -2}, {3, 1});
  const auto y = max_pool1d(x, Packing::of({3}), {.kernel = 3, .stride = 1, .left = 1, .right = 1});
  EXPECT_EQ(y.rows.to_vector(), (std::vector<float>{-1, -1, -1}));
}

TEST(Pool, AWindowOverNothingGivesZero) {
  const Tensor x = Tensor::of({-3, -1}, {2, 1});
  const Pool1dOptions options{.kernel = 2, .stride = 1, .dilation = 3, .left = 1, .right = 1};
  EXPECT_EQ(max_pool1d(x, Packing::of({2}), options).rows.to_vector(), std::vector<float>{0});
  EXPECT_EQ(mean_pool1d(x, Packing::of({2}), options).rows.to_vector(), std::vector<float>{0});
  EXPECT_EQ(max_pool(x, Packing::of({0, 2})).to_vector(), (std::vector<float>{0, -1}));
  EXPECT_EQ(mean_pool(x, Packing::of({0, 2})).to_vector(), (std::vector<float>{0, -2}));
}

TEST(Pool, RefusesWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({3, 1}), image = Tensor::zeros({1, 2, 2, 1});
  EXPECT_THROW(max_pool1d(x, Packing::of({4}), {.kernel = 2}), ShapeError);
  EXPECT_THROW(mean_pool(x, Packing::of({4})), ShapeError);
  EXPECT_THROW(max_pool(x), ShapeError);
  EXPECT_THROW(mean_pool2d(image, {.kernel = 3}), ShapeError);
  EXPECT_THROW(max_pool1d(x, Packing::of({3}), {.kernel = 0}), ConfigError);
}

}  // namespace
}  // namespace attend
