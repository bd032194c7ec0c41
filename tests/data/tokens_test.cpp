#include "attend/data/tokens.h"

#include <gtest/gtest.h>

#include "attend/base/error.h"
#include "attend/data/batch.h"
#include "tests/errors.h"

namespace attend {
namespace {

using Ids = std::vector<int32_t>;

Ids ids_of(const Tensor& x) {
  const auto span = x.index_span();
  return {span.begin(), span.end()};
}

Tokens three() { return {Ids{5, 6, 7, 8}, Packing::of({3, 0, 1})}; }

TEST(Tokens, SequencesCanBePickedInAnyOrder) {
  const std::vector<size_t> which = {2, 0, 2};
  const Tokens picked = pick_sequences(three(), which);
  EXPECT_EQ(ids_of(picked.ids), (Ids{8, 5, 6, 7, 8}));
  EXPECT_EQ(picked.packing, Packing::of({1, 3, 1}));
}

TEST(Tokens, FramesPutAStartBeforeAndAnEndAfter) {
  const SpecialTokens special{.unknown = 9, .start = 3, .end = 4};
  const Tokens both = framed(three(), {.start = true, .end = true}, special);
  EXPECT_EQ(ids_of(both.ids), (Ids{3, 5, 6, 7, 4, 3, 4, 3, 8, 4}));
  EXPECT_EQ(both.packing, Packing::of({5, 2, 3}));
  EXPECT_EQ(ids_of(framed(three(), {}, special).ids), (Ids{5, 6, 7, 8}));
}

TEST(Tokens, TeacherForcingReadsAStartAndWritesAnEnd) {
  const SpecialTokens special;
  const TeacherRows rows = teacher_rows(three(), special);
  EXPECT_EQ(ids_of(rows.inputs.ids), (Ids{1, 5, 6, 7, 1, 1, 8}));
  EXPECT_EQ(rows.inputs.packing, Packing::of({4, 1, 2}));
  EXPECT_EQ(ids_of(rows.labels), (Ids{5, 6, 7, 2, 2, 8, 2}));
}

TEST(Batch, HoldsColumnsByName) {
  Batch batch("source", three());
  const Tensor frames = Tensor::of({1, 2, 3, 4, 5, 6}, {3, 2});
  batch.add("frames", Column{frames, Packing::of({1, 2, 0})});
  batch.lines = {4, 5, 9};
  EXPECT_EQ(batch.size(), 3u);
  EXPECT_EQ(batch.rows(), 7u);
  EXPECT_TRUE(batch.has("frames"));
  EXPECT_EQ(ids_of(batch.tokens("source").ids), (Ids{5, 6, 7, 8}));

  const std::vector<size_t> which = {1, 0};
  const Batch picked = batch.pick(which);
  EXPECT_EQ(ids_of(picked.tokens("source").ids), (Ids{5, 6, 7}));
  EXPECT_EQ(picked["frames"].values.to_vector(), (std::vector<float>{3, 4, 5, 6, 1, 2}));
  EXPECT_EQ(picked["frames"].packing, Packing::of({2, 1}));
  EXPECT_EQ(picked.lines, (std::vector<size_t>{5, 4}));
}

TEST(Batch, NamesTheColumnsThereAre) {
  Batch batch("source", three());
  EXPECT_EQ(message_of<DataError>([&] { batch["target"]; }),
            "batch: there is no column target; there is: source");
  EXPECT_THROW(batch.add("source", three()), DataError);
  EXPECT_THROW(batch.add("other", Tokens(Ids{1}, Packing::of({1}))), DataError);
}

}  // namespace
}  // namespace attend
