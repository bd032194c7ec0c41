#include "attend/ops/embedding.h"

#include <gtest/gtest.h>

#include "attend/tensor/tape.h"
#include "tests/errors.h"
#include "tests/ops/op_case.h"

namespace attend {
namespace {

using plain::Plain;

// A few ids that repeat, spread over the table.
Tensor some_ids(size_t count, size_t vocab) {
  Tensor ids = Tensor::empty({count}, DType::kInt32);
  for (size_t i = 0; i < count; ++i) ids.indices()[i] = static_cast<int32_t>(i * i * 7 % vocab);
  return ids;
}

OpCase embedding_case(const char* name, size_t count, float scale) {
  return {.name = name,
          .shapes = {{{11, 5}}, {{1, 33}}, {{4, 1}}},
          .op =
              [=](const std::vector<Tensor>& in) {
                return embedding(in[0], some_ids(count, in[0].extent(0)), scale);
              },
          .plain =
              [=](const std::vector<Plain>& in) {
                const Tensor ids = some_ids(count, in[0].rows());
                Plain y(Shape{count, in[0].width()});
                for (size_t i = 0; i < count; ++i) {
                  for (size_t j = 0; j < y.width(); ++j) {
                    y(i, j) = scale * in[0](static_cast<size_t>(ids.indices()[i]), j);
                  }
                }
                return y;
              },
          .large = {{3000, 129}}};
}

const RegisterOps kEmbeddingCases({
    embedding_case("Embedding", 9, 1.0f),
    embedding_case("EmbeddingScaled", 9, 3.0f),
    embedding_case("EmbeddingOfNothing", 0, 1.0f),
    embedding_case("EmbeddingOfMany", 1000, 1.0f),
});

TEST(Embedding, KeepsTheShapeOfTheIds) {
  const Tensor ids = Tensor::ids(std::vector<int32_t>{0, 1, 2, 0, 1, 2}, {2, 3});
  EXPECT_EQ(embedding(Tensor::zeros({3, 4}), ids).shape(), (Shape{2, 3, 4}));
}

TEST(Embedding, NamesWhatIsWrong) {
  const Tensor table = Tensor::zeros({3, 4});
  EXPECT_EQ(message_of<DataError>([&] {
              embedding(table, Tensor::ids({0, 3}));
            }),
            "embedding: id 3 at place 1 is outside a table of 3 rows");
  EXPECT_THROW(embedding(table, Tensor::ids({-1})), DataError);
  EXPECT_EQ(message_of([&] { embedding(Tensor::zeros({3}), Tensor::ids({0})); }),
            "embedding: the table is [3], not [rows, width]");
  EXPECT_EQ(message_of([&] { embedding(table, Tensor::zeros({2})); }),
            "embedding: the ids [2] are not int32; make them with Tensor::ids");
}

}  // namespace
}  // namespace attend
