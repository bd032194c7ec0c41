#include <gtest/gtest.h>

#include <cmath>

#include "attend/nn/dropout.h"
#include "attend/nn/embedding.h"
#include "attend/nn/linear.h"
#include "attend/nn/norm.h"
#include "attend/nn/pack.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"
#include "tests/errors.h"

namespace attend {
namespace {

// Modules within modules, in a vector, with a buffer and a shared parameter.
struct Block {
  Linear linear;
  BatchNorm norm;

  explicit Block(Rng& rng) : linear(3, 3, rng), norm(3) {}
  void visit(Visitor& v) {
    v("linear", linear);
    v("norm", norm);
  }
};

struct Model {
  Embedding embedding;
  std::vector<Block> blocks;
  Linear output;

  explicit Model(Rng& rng)
      : embedding(5, 3, rng), blocks{Block(rng), Block(rng)}, output(embedding.tied_output()) {}
  void visit(Visitor& v) {
    v("embedding", embedding);
    v("blocks", blocks);
    v("output", output);
  }
};

std::vector<std::string> names(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> found;
  found.reserve(tensors.size());
  for (const NamedTensor& t : tensors) found.push_back(t.name);
  return found;
}

TEST(Visit, NamesParametersByTheirPath) {
  Rng rng(1);
  Model model(rng);
  EXPECT_EQ(names(parameters(model)),
            (std::vector<std::string>{
                "embedding.weight", "blocks.0.linear.weight", "blocks.0.linear.bias",
                "blocks.0.norm.weight", "blocks.0.norm.bias", "blocks.1.linear.weight",
                "blocks.1.linear.bias", "blocks.1.norm.weight", "blocks.1.norm.bias"}));
  EXPECT_EQ(parameter_count(model), 15u + 2 * (9 + 3 + 3 + 3));
}

TEST(Visit, ListsBuffersApart) {
  Rng rng(1);
  Model model(rng);
  EXPECT_EQ(names(buffers(model)),
            (std::vector<std::string>{"blocks.0.norm.running_mean", "blocks.0.norm.running_var",
                                      "blocks.1.norm.running_mean", "blocks.1.norm.running_var"}));
}

TEST(Visit, ClearsGradients) {
  Rng rng(1);
  Linear layer(2, 2, rng);
  backward(layer(Tensor::zeros({1, 2})), Tensor::zeros({1, 2}));
  EXPECT_TRUE(layer.weight.value.grad().defined());
  clear_grads(layer);
  EXPECT_FALSE(layer.weight.value.grad().defined());
}

TEST(Linear, SameSeedSameWeights) {
  Rng a(7), b(7), c(8);
  const Linear first(4, 3, a);
  EXPECT_EQ(first.weight.value.to_vector(), Linear(4, 3, b).weight.value.to_vector());
  EXPECT_NE(first.weight.value.to_vector(), Linear(4, 3, c).weight.value.to_vector());
}

TEST(Linear, MayHaveNoBias) {
  Rng rng(1);
  Linear layer(4, 3, rng, {.bias = false});
  EXPECT_EQ(parameters(layer).size(), 1u);
  EXPECT_EQ(layer(Tensor::zeros({2, 4})).to_vector(), std::vector<float>(6, 0.0f));
}

TEST(Embedding, TiedOutputTrainsTheSameTable) {
  Rng rng(1);
  Embedding embedding(5, 3, rng);
  const Linear output = embedding.tied_output();
  const Tensor logits = output(embedding(Tensor::ids({2})));
  EXPECT_EQ(logits.shape(), (Shape{1, 5}));
  backward(logits, Tensor::full({1, 5}, 1.0f));
  const std::vector<float> row = embedding.weight.value.slice_rows(2, 1).to_vector();
  const std::vector<float> gradient = embedding.weight.value.grad().to_vector();
  for (size_t j = 0; j < 3; ++j) {
    EXPECT_FLOAT_EQ(gradient[j], row[j]);  // a row that was not looked up: through the output alone
    double through_lookup = 0;
    for (size_t i = 0; i < 5; ++i) through_lookup += embedding.weight.value.data()[i * 3 + j];
    EXPECT_NEAR(gradient[6 + j], row[j] + through_lookup, 1e-6);
  }
}

TEST(PackWeights, GivesTheSameBitsAndOneCopy) {
  for (const size_t vocabulary : {5, 64}) {
    Rng rng(1);
    Embedding table(vocabulary, 3, rng);
    struct {
      Embedding embedding;
      Linear output;
      void visit(Visitor& v) {
        v("embedding", embedding);
        v("output", output);
      }
    } model{table, table.tied_output()};
    const NoGrad no_grad;
    const Tensor ids = Tensor::ids({4, 0, 4});
    const std::vector<float> rows = model.embedding(ids, 3.0f).to_vector();
    const std::vector<float> logits = model.output(model.embedding(ids)).to_vector();
    pack_weights(model);
    EXPECT_TRUE(parameters(model).empty());
    EXPECT_EQ(model.embedding.weight.packed.data(), model.output.weight.packed.data());
    EXPECT_EQ(model.embedding(ids, 3.0f).to_vector(), rows);
    EXPECT_EQ(model.output(model.embedding(ids)).to_vector(), logits);
    EXPECT_EQ(model.embedding.tied_output()(model.embedding(ids)).to_vector(), logits);
  }
}

TEST(PackWeights, LeavesNothingToTrain) {
  Rng rng(1);
  Linear layer(2, 2, rng);
  pack_weights(layer);
  expect_error<ConfigError>([&] { layer(Tensor::zeros({1, 2})); }, "train the model before");
  expect_error<ShapeError>([&] { layer(Tensor::zeros({1, 3})); }, "does not fit weight [2, 2]");
  Embedding table(5, 2, rng);
  pack_weights(table);
  expect_error<DataError>([&] { table(Tensor::ids({5})); }, "outside a table of 5 rows");
}

TEST(Dropout, ModuleIsOffOutsideTraining) {
  const Tensor x = Tensor::full({64}, 1.0f);
  const Dropout drop{0.5f};
  EXPECT_EQ(drop(x).to_vector(), x.to_vector());
  const TrainingScope training(Rng(1));
  EXPECT_NE(drop(x).to_vector(), x.to_vector());
}

TEST(LayerNorm, StartsAsPureNormalisation) {
  const LayerNorm norm(2);
  const std::vector<float> y = norm(Tensor::of({1, 3}, {1, 2})).to_vector();
  EXPECT_NEAR(y[0], -1.0f, 1e-4f);
  EXPECT_NEAR(y[1], 1.0f, 1e-4f);
}

TEST(RmsNorm, DividesByTheRootMeanSquare) {
  const RmsNorm norm(2);
  EXPECT_NEAR(norm(Tensor::of({3, 4}, {1, 2})).to_vector()[0], 3.0 / std::sqrt(12.5), 1e-5);
}

TEST(Module, BuffersAreListedWithTheParametersForFiles) {
  struct Both {
    BatchNorm norm{3};
    void visit(Visitor& v) { v("norm", norm); }
  } module;
  const auto names = [](const std::vector<NamedTensor>& all) {
    std::vector<std::string> found;
    for (const NamedTensor& t : all) found.push_back(t.name);
    return found;
  };
  EXPECT_EQ(names(parameters(module)), (std::vector<std::string>{"norm.weight", "norm.bias"}));
  EXPECT_EQ(names(parameters_and_buffers(module)),
            (std::vector<std::string>{"norm.weight", "norm.bias", "norm.running_mean",
                                      "norm.running_var"}));
  const ShapesOnly no_memory;
  const BatchNorm bare(4);
  EXPECT_FALSE(bare.running_var.allocated());
  EXPECT_FALSE(bare.running_mean.needs_grad());
}

}  // namespace
}  // namespace attend
