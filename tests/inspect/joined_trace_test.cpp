// Looking at a model that reads source and target as one sequence.
#include <gtest/gtest.h>

#include <numeric>

#include "attend/inspect/graph.h"
#include "attend/inspect/lens.h"
#include "attend/inspect/saliency.h"
#include "attend/inspect/sampled_text.h"
#include "attend/inspect/snapshot.h"
#include "tests/files.h"
#include "tests/inspect/trace_texts.h"
#include "tests/inspect/traces.h"

namespace attend {
namespace {

TEST(JoinedTrace, HasBothSequencesAndTheOneThatLayersSee) {
  const TextModel model = small_decoder_only_model();
  const Trace trace = given_trace(model, "ab", "c");
  ASSERT_EQ(trace.sequences.size(), 3u);
  EXPECT_EQ(texts(trace.sequence("source").items), (Strings{"<s>", "a", "b"}));
  EXPECT_EQ(texts(trace.sequence("target").items), (Strings{"<s>", "c"}));
  const TraceSequence& all = trace.sequence("text");
  EXPECT_EQ(all.role, SequenceRole::kJoined);
  EXPECT_EQ(texts(all.items), (Strings{"<s>", "a", "b", "<s>", "c"}));
  EXPECT_EQ(trace.written(), &trace.sequences[1]);
  EXPECT_EQ(trace.first_written("text"), 3u);
  EXPECT_EQ(trace.first_written("target"), 0u);
  EXPECT_EQ(inputs_of(trace).rows(), 3u);
  EXPECT_EQ(chosen_pair(trace.layers), (SequencePair{"text", "text"}));
  EXPECT_EQ(map_labels(trace, {"text", "text"}).rows, texts(all.items));

  const Trace other = with_output(model, trace, model.tokenizer("target").encode("de"));
  EXPECT_EQ(texts(other.sequence("text").items), (Strings{"<s>", "a", "b", "<s>", "d", "e"}));
  EXPECT_EQ(other.sequences.size(), 3u);
}

TEST(JoinedTrace, MapsAreOfTheWholeSequence) {
  for (const bool bidirectional : {false, true}) {
    const TextModel model = small_decoder_only_model(bidirectional);
    const Trace trace = given_trace(model, "ab", "c");
    const Tensor map = attention_map(model, trace, "layers.0.self");
    ASSERT_EQ(map.shape(), Shape({5, 5}));
    EXPECT_EQ(map.span()[2] > 0, bidirectional);  // <s> at b
    EXPECT_EQ(map.span()[3], 0.0f);               // <s> at the target's start
    for (const Tensor& relevant : {relevance(model, trace, GraphMethod::kRollout, {"text", "text"}),
                                   relevance(model, trace, GraphMethod::kFlow, {"text", "text"})}) {
      EXPECT_EQ(relevant.shape(), Shape({5, 5}));
    }
  }
}

TEST(JoinedTrace, SaliencyOfTheWholeIsThatOfItsParts) {
  const TextModel model = small_decoder_only_model();
  const Trace trace = given_trace(model, "ab", "cd");
  const Saliency found = saliency(model, trace);
  ASSERT_EQ(found.size(), 3u);
  ASSERT_EQ(found[2].shape(), Shape({3, 6}));
  EXPECT_EQ(saliency_keys(trace, ""), "source");
  EXPECT_EQ(saliency_keys(trace, "text"), "text");
  bool any = false;
  for (size_t t = 0; t < 3; ++t) {
    std::vector<float> parts = found[0].slice_rows(t, 1).to_vector();
    const std::vector<float> target = found[1].slice_rows(t, 1).to_vector();
    parts.insert(parts.end(), target.begin(), target.end());
    EXPECT_EQ(found[2].slice_rows(t, 1).to_vector(), parts);
    any |= parts.front() != 0;
  }
  EXPECT_TRUE(any);
}

TEST(JoinedTrace, TheLensReadsTheRowsOfWhatIsWritten) {
  const TextModel model = small_decoder_only_model();
  const Trace trace = given_trace(model, "ab", "cd");
  const LogitLens lens = logit_lens(model, trace, 1);
  EXPECT_EQ(lens.stages, (Strings{"embedding", "layers.0", "layers.1"}));
  EXPECT_EQ(lens.items, (Strings{"<s>", "c", "d"}));
  const NoGrad no_grad;
  const Tensor logits = logits_of(model, trace);
  for (size_t i = 0; i < 3; ++i) {
    const auto row = logits.slice_rows(i, 1).span();
    const auto best = std::ranges::max_element(row) - row.begin();
    EXPECT_EQ(lens.at(2, i).likeliest.front().id, best);
  }
  EXPECT_TRUE(has_logit_lens(model));
}

TEST(JoinedTrace, SnapshotsKeepTheColumnsAndTheWholeMaps) {
  const TextModel model = small_decoder_only_model();
  const TemporaryDirectory temporary;
  const ModelDirectory directory{temporary.path()};
  const std::vector<Trace> sentences = {given_trace(model, "ab", "c")};
  write_snapshot(directory, 5, model, sentences);
  const Snapshot stored(directory, 5);
  const Trace again = stored.trace(model, 0);
  EXPECT_EQ(again.sequence("text").ids, sentences[0].sequence("text").ids);
  EXPECT_EQ(stored.map(0, "layers.1.self", {}).to_vector(),
            attention_map(model, sentences[0], "layers.1.self").to_vector());
}

// 32 positions: the source has 3 of them, and the start one.
TEST(JoinedTrace, ASampledTextEndsWhereThePositionsDo) {
  const TextModel model = small_decoder_only_model();
  const std::vector<int32_t> beginning(40, model.tokenizer("target").encode("a").front());
  SampledText sampled(model, given_trace(model, "ab"), {.beginning = beginning, .most = 100});
  while (sampled.step()) {
  }
  EXPECT_EQ(sampled.tokens().size(), 28u);
}

}  // namespace
}  // namespace attend
