#include "attend/ops/norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"
#include "tests/errors.h"
#include "tests/ops/op_case.h"
#include "tests/plain/linear.h"
#include "tests/plain/rows.h"

namespace attend {
namespace {

using plain::Plain;
using Inputs = std::vector<Tensor>;
using Plains = std::vector<Plain>;

BatchNormState fresh_state(size_t channels) {
  return {Tensor::zeros({channels}), Tensor::full({channels}, 1.0f)};
}

const RegisterOps kNormCases({
    {.name = "LayerNorm",
     .shapes =
         {{{5, 7}, {7}, {7}}, {{1, 3}, {3}, {3}}, {{0, 4}, {4}, {4}}, {{2, 3, 33}, {33}, {33}}},
     .op = [](const Inputs& in) { return layer_norm(in[0], in[1], in[2]); },
     .plain =
         [](const Plains& in) {
           return affine_rows(normalize_rows(in[0], 1e-5, true), in[1], &in[2]);
         },
     .large = {{900, 129}, {129}, {129}},
     .tolerance = 3e-5},
    {.name = "LayerNormWithoutParameters",
     .shapes = {{{5, 7}}, {{1, 3}}, {{0, 4}}},
     .op = [](const Inputs& in) { return layer_norm(in[0], {}, {}, 1e-3f); },
     .plain = [](const Plains& in) { return normalize_rows(in[0], 1e-3, true); },
     .tolerance = 3e-5},
    {.name = "RmsNorm",
     .shapes = {{{5, 7}, {7}}, {{1, 3}, {3}}, {{0, 4}, {4}}, {{2, 3, 33}, {33}}},
     .op = [](const Inputs& in) { return rms_norm(in[0], in[1]); },
     .plain =
         [](const Plains& in) {
           return affine_rows(normalize_rows(in[0], 1e-6, false), in[1], nullptr);
         },
     .large = {{900, 129}, {129}},
     .tolerance = 3e-5},
    // The checks run inside a TrainingScope: with the statistics of the batch.
    {.name = "BatchNorm",
     .shapes = {{{8, 5}, {5}, {5}}, {{2, 3}, {3}, {3}}, {{0, 4}, {4}, {4}}, {{2, 4, 3}, {3}, {3}}},
     .op =
         [](const Inputs& in) {
           return batch_norm(in[0], in[1], in[2], fresh_state(in[0].width()));
         },
     .plain =
         [](const Plains& in) {
           Plain flat = in[0];
           flat.shape = {in[0].rows(), in[0].width()};
           Plain y = plain::transpose(normalize_rows(plain::transpose(flat), 1e-5, true));
           y.shape = in[0].shape;
           return affine_rows(y, in[1], &in[2]);
         },
     .large = {{5000, 65}, {65}, {65}},
     .tolerance = 1e-4},
});

TEST(LayerNorm, WrongShapesAreNamed) {
  const Tensor x = Tensor::zeros({2, 3});
  EXPECT_EQ(message_of([&] { layer_norm(x, Tensor::zeros({4}), {}); }),
            "layer_norm: weight [4] does not fit input [2, 3]");
  EXPECT_EQ(message_of([&] { layer_norm(x, {}, Tensor::zeros({2})); }),
            "layer_norm: bias [2] does not fit input [2, 3]");
  EXPECT_EQ(message_of([&] { rms_norm(x, Tensor::zeros({4})); }),
            "rms_norm: weight [4] does not fit input [2, 3]");
  EXPECT_EQ(message_of([&] { batch_norm(x, {}, {}, fresh_state(2)); }),
            "batch_norm: running mean [2] does not fit input [2, 3]");
}

TEST(LayerNorm, LargeMeanDoesNotCancel) {
  const Tensor y = layer_norm(Tensor::of({10000, 10001, 10002, 10003}, {1, 4}), {}, {});
  EXPECT_NEAR(y.to_vector()[0], -1.341635f, 1e-3f);
}

TEST(BatchNorm, TrainingMovesTheRunningStatistics) {
  const BatchNormState state = fresh_state(1);
  const TrainingScope training(Rng(1));
  batch_norm(Tensor::of({1, 3}, {2, 1}), {}, {}, state);
  EXPECT_FLOAT_EQ(state.running_mean.item(), 0.2f);            // 0.9 * 0 + 0.1 * 2
  EXPECT_FLOAT_EQ(state.running_var.item(), 0.9f + 0.1f * 2);  // unbiased variance 2
}

TEST(BatchNorm, InferenceUsesThem) {
  const BatchNormState state{Tensor::of({2}, {1}), Tensor::of({4}, {1}), 0.0f};
  const Tensor x = Tensor::of({4, 0}, {2, 1}).require_grad();
  const Tensor weight = Tensor::of({3}, {1}).require_grad(),
               bias = Tensor::of({5}, {1}).require_grad();
  const Tensor y = batch_norm(x, weight, bias, state);
  EXPECT_EQ(y.to_vector(), (std::vector<float>{8, 2}));
  EXPECT_EQ(state.running_mean.item(), 2.0f);
  backward(y, Tensor::of({1, 10}, {2, 1}));
  EXPECT_EQ(x.grad().to_vector(), (std::vector<float>{1.5f, 15}));
  EXPECT_EQ(weight.grad().item(), -9.0f);
  EXPECT_EQ(bias.grad().item(), 11.0f);
}

TEST(BatchNorm, OneRowCannotBeTrainedOn) {
  const TrainingScope training(Rng(1));
  EXPECT_THROW(batch_norm(Tensor::zeros({1, 3}), {}, {}, fresh_state(3)), DataError);
}

}  // namespace
}  // namespace attend
