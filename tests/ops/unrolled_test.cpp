#include "attend/ops/unrolled.h"

#include <gtest/gtest.h>

#include "attend/base/rng.h"
#include "attend/ops/linear.h"
#include "attend/ops/reduce.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"
#include "tests/errors.h"
#include "tests/ops/op_case.h"
#include "tests/plain/linear.h"
#include "tests/plain/recurrent.h"

namespace attend {
namespace {

using plain::Plain;

// x in steps that shrink, as those of sequences that end.
Tensor linear_by_steps(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const UnrolledLinear layer(weight, bias, x.rows());
  std::vector<Tensor> outputs;
  for (size_t row = 0; row < x.rows() || outputs.empty();) {
    const size_t count = (x.rows() - row + 2) / 3;
    outputs.push_back(layer(x.slice_rows(row, count)));
    row += count;
  }
  return concat(outputs, 0);
}

// Two sequences, the first one row longer; one input column is known, the others are not. A
// sequence's rows are in x, then h, and c of an LSTM, after the last row of each.
Packing two(size_t rows) {
  return Packing::of({static_cast<int32_t>((rows + 1) / 2), static_cast<int32_t>(rows / 2)});
}

// Some of which is 0.
Tensor mask_of_two(size_t hidden) {
  const Tensor mask = Tensor::empty({2, hidden});
  for (size_t i = 0; i < mask.size(); ++i) mask.data()[i] = static_cast<float>(i * i % 5) / 2.0f;
  return mask;
}

Tensor cell_by_steps(Cell cell, const Tensor& mask, const std::vector<Tensor>& in) {
  const Packing packing = two(in[0].rows());
  const size_t first = packing.length(0), rows = packing.rows(), fresh = in[0].width() - 1;
  std::vector<Tensor> walked;
  for (size_t t = 0; t < first; ++t) {
    walked.push_back(in[0].slice_rows(t, 1));
    if (first + t < rows) walked.push_back(in[0].slice_rows(first + t, 1));
  }
  const Tensor x = concat(walked, 0);
  const UnrolledCell layer(
      {in[1], in[2], in[3], in[4]},
      {.cell = cell, .rows = rows, .known = x.slice_columns(0, 1), .mask = mask});
  RecurrentState state{in[5], cell == Cell::kLstm ? in[6] : Tensor()};
  std::vector<Tensor> outputs[2], h(2), c(2);
  for (size_t t = 0, row = 0; t < first; ++t) {
    const size_t live = first + t < rows ? 2 : 1;
    state = {state.h.slice_rows(0, live),
             cell == Cell::kLstm ? state.c.slice_rows(0, live) : Tensor()};
    state = layer.step(x.slice_rows(row, live).slice_columns(1, fresh), state);
    for (size_t s = 0; s < live; ++s) {
      outputs[s].push_back(h[s] = state.h.slice_rows(s, 1));
      if (cell == Cell::kLstm) c[s] = state.c.slice_rows(s, 1);
    }
    row += live;
  }
  std::vector<Tensor> all = outputs[0];
  all.insert(all.end(), outputs[1].begin(), outputs[1].end());
  all.insert(all.end(), h.begin(), h.end());
  if (cell == Cell::kLstm) all.insert(all.end(), c.begin(), c.end());
  return concat(all, 0);
}

std::vector<Shape> unrolled_shapes(Cell cell, size_t rows, size_t in, size_t hidden) {
  const size_t k = gate_count(cell) * hidden;
  std::vector<Shape> all{{rows, in}, {k, in}, {k, hidden}, {k}, {k}, {2, hidden}};
  if (cell == Cell::kLstm) all.push_back({2, hidden});
  return all;
}

OpCase cell_case(Cell cell, bool masked = false) {
  const auto mask = [masked](size_t hidden) { return masked ? mask_of_two(hidden) : Tensor(); };
  OpCase c;
  c.name = (masked ? "unrolled_masked_" : "unrolled_") + std::string(name_of(cell));
  c.shapes = {unrolled_shapes(cell, 5, 3, 4), unrolled_shapes(cell, 6, 2, 9),
              unrolled_shapes(cell, 2, 1, 3)};
  c.large = unrolled_shapes(cell, 40, 70, 60);
  c.op = [=](const std::vector<Tensor>& in) {
    return cell_by_steps(cell, mask(in[5].width()), in);
  };
  c.plain = [=](const std::vector<Plain>& in) {
    return plain::recurrent({in[0], in[1], in[2], in[3], in[4], in[5], in.back()},
                            two(in[0].rows()), {.cell = cell, .mask = mask(in[5].width())});
  };
  c.tolerance = 2e-5;
  return c;
}

const RegisterOps kUnrolledCases({
    {.name = "unrolled_linear",
     .shapes = {{{9, 5}, {7, 5}, {7}}, {{1, 3}, {2, 3}, {2}}, {{0, 3}, {2, 3}, {2}}},
     .op = [](const auto& in) { return linear_by_steps(in[0], in[1], in[2]); },
     .plain = [](const auto& in) { return plain::linear(in[0], in[1], &in[2]); },
     .large = {{200, 70}, {90, 70}, {90}}},
    cell_case(Cell::kRnnTanh),
    cell_case(Cell::kLstm),
    cell_case(Cell::kGru),
    cell_case(Cell::kRnnRelu, true),
    cell_case(Cell::kLstm, true),
    cell_case(Cell::kGru, true),
});

std::vector<Tensor> random_leaves(const std::vector<Shape>& all) {
  std::vector<Tensor> leaves;
  for (size_t i = 0; i < all.size(); ++i) {
    leaves.push_back(Tensor::empty(all[i]));
    fill_uniform(leaves.back().span(), RandomStream(9, i), -1.0f, 1.0f);
    leaves.back().require_grad();
  }
  return leaves;
}

void expect_close(const Tensor& actual, const Tensor& expected) {
  ASSERT_EQ(actual.shape(), expected.shape());
  const std::vector<float> a = actual.to_vector(), b = expected.to_vector();
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5f) << i;
}

// A walk of which only the first steps are asked for: the others have no part in the gradients.
TEST(Unrolled, StepsThatNobodyAskedForGiveNothing) {
  const auto in = random_leaves({{4, 3}, {4, 3}, {4, 4}, {4}, {2, 4}});
  const RecurrentWeights weights{in[1], in[2], in[3], {}};
  const Tensor first = in[0].slice_rows(0, 2).detach(), second = in[0].slice_rows(2, 2).detach();
  const auto gradients = [&] {
    std::vector<Tensor> all;
    for (size_t i = 1; i < 5; ++i) all.push_back(in[i].grad()), in[i].clear_grad();
    return all;
  };
  const UnrolledCell cell(weights, {.cell = Cell::kRnnTanh, .rows = 4});
  const UnrolledLinear layer(in[2], in[3], 4);
  const RecurrentState asked = cell.step(first, {in[4], {}});
  const Tensor projected = layer(asked.h);
  layer(cell.step(second, asked).h);
  backward(sum(projected));
  const std::vector<Tensor> actual = gradients();
  const Tensor h =
      recurrent(first, Packing::even(2, 1), weights, {in[4], {}}, {.cell = Cell::kRnnTanh}).output;
  backward(sum(linear(h, in[2], in[3])));
  const std::vector<Tensor> expected = gradients();
  for (size_t i = 0; i < actual.size(); ++i) expect_close(actual[i], expected[i]);
}

TEST(Unrolled, RefusesMoreRowsThanItWasMadeFor) {
  const auto in = random_leaves({{3, 3}, {4, 3}});
  const UnrolledLinear layer(in[1], {}, 2);
  expect_error<ShapeError>([&] { layer(in[0]); }, "a step of 3 rows after 0 of 2");
  expect_error<ShapeError>([&] { layer(Tensor::zeros({2, 4})); }, "[2, 4] does not fit");
}

TEST(Unrolled, CellRefusesWhatDoesNotFit) {
  const auto in = random_leaves({{8, 3}, {8, 2}, {2, 2}, {2, 2}});
  const UnrolledCell cell({in[0], in[1], {}, {}}, {.cell = Cell::kLstm, .rows = 2});
  expect_error<ShapeError>(
      [&] {
        cell.step(Tensor::zeros({2, 2}), {in[2], in[3]});
      },
      "needs inputs [2, 3], not [2, 2]");
  expect_error<ShapeError>(
      [&] {
        cell.step(Tensor::zeros({2, 3}), {in[2], {}});
      },
      "a state of [2, 2]");
  const UnrolledCell none({in[0], in[1], {}, {}}, {.cell = Cell::kLstm});
  expect_error<ShapeError>(
      [&] {
        none.step(Tensor::zeros({2, 3}), {in[2], in[3]});
      },
      "cannot have gradients");
  const NoGrad no_grad;
  EXPECT_EQ(none.step(Tensor::zeros({2, 3}), {in[2], in[3]}).h.shape(), Shape({2, 2}));
}

}  // namespace
}  // namespace attend
