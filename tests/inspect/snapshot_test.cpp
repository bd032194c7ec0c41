#include "attend/inspect/snapshot.h"

#include "tests/errors.h"
#include "tests/files.h"
#include "tests/inspect/traces.h"

namespace attend {
namespace {

void expect_same(const Trace& one, const Trace& other) {
  ASSERT_EQ(one.sequences.size(), other.sequences.size());
  for (size_t s = 0; s < one.sequences.size(); ++s) {
    EXPECT_EQ(one.sequences[s].name, other.sequences[s].name);
    EXPECT_EQ(one.sequences[s].ids, other.sequences[s].ids);
    EXPECT_EQ(one.sequences[s].written, other.sequences[s].written);
  }
}

class Snapshots : public DirectoryTest {
 protected:
  const ModelDirectory model_directory_{directory_};
  const TextModel model_ = small_transformer_model();
  const Trace trace_ = given_trace(model_, "abc", "ba");
};

TEST_F(Snapshots, AreReadBack) {
  write_snapshot(model_directory_, 5, model_, {&trace_, 1});
  EXPECT_EQ(snapshot_steps(model_directory_), std::vector<int64_t>{5});
  const Snapshot snapshot(model_directory_, 5);
  ASSERT_EQ(snapshot.sentences(), 1u);
  expect_same(snapshot.trace(model_, 0), trace_);
  for (const AttentionLayer& layer : trace_.layers) {
    for (size_t head = 0; head < layer.heads; ++head) {
      const HeadChoice choice{HeadChoice::Kind::kOne, head};
      EXPECT_EQ(snapshot.map(0, layer.name, choice).to_vector(),
                attention_map(model_, trace_, layer.name, choice).to_vector());
    }
  }
  expect_error<ConfigError>([&] { snapshot.map(0, "nowhere", {}); }, "no map 0.nowhere");
  expect_error<ConfigError>([&] { snapshot.map(1, "decoder.0.cross", {}); }, "no map");
  expect_error<ConfigError>([&] { snapshot.trace(model_, 1); }, "no sentence 1; it has 1");
}

// Of a model with one sequence, and of one with a label.
TEST_F(Snapshots, HaveTheSequencesOfTheirModel) {
  for (const TextModel& model : {small_language_model(), small_label_model(LabelPooling::kFirst)}) {
    const std::vector<Trace> traces = {given_trace(model, "abc", "b"),
                                       given_trace(model, "a", "c")};
    write_snapshot(model_directory_, 7, model, traces);
    const Snapshot snapshot(model_directory_, 7);
    ASSERT_EQ(snapshot.sentences(), 2u);
    for (size_t i = 0; i < 2; ++i) expect_same(snapshot.trace(model, i), traces[i]);
    expect_error<FormatError>([&] { snapshot.trace(model_, 0); }, "sentence 0 has no 'source'");
  }
}

// As earlier versions wrote them.
TEST_F(Snapshots, OfEarlierVersionsAreRead) {
  std::filesystem::create_directories(model_directory_.looks());
  const Tensor weights = Tensor::full({2, 3, 4}, 0.25f);
  const std::vector<int32_t> source = trace_.sequence("source").ids, target = trace_.output();
  const NamedTensor tensors[] = {{"0.source", Tensor::ids(source, {source.size()})},
                                 {"0.target", Tensor::ids(target, {target.size()})},
                                 {"0.decoder.0.cross", weights}};
  write_safetensors(model_directory_.looks() / "step-3.safetensors", tensors);
  const Snapshot old(model_directory_, 3);
  ASSERT_EQ(old.sentences(), 1u);
  expect_same(old.trace(model_, 0), trace_);
  EXPECT_EQ(old.map(0, "decoder.0.cross", {}).shape(), Shape({3, 4}));
  write_snapshot(model_directory_, 5, model_, {&trace_, 1});
  EXPECT_TRUE(old.is_of_same(Snapshot(model_directory_, 5)));
  const Trace other = given_trace(model_, "abc", "bb");
  write_snapshot(model_directory_, 5, model_, {&other, 1});
  EXPECT_FALSE(old.is_of_same(Snapshot(model_directory_, 5)));
}

TEST_F(Snapshots, OfEarlierLabelModelsAreRead) {
  std::filesystem::create_directories(model_directory_.looks());
  const TextModel model = small_label_model(LabelPooling::kFirst);
  const Trace trace = given_trace(model, "ab", "c");
  std::vector<int32_t> source = trace.sequences[0].text_ids();
  source.push_back(model.tokenizer("text").special().end);
  const NamedTensor tensors[] = {{"0.source", Tensor::ids(source, {source.size()})},
                                 {"0.target", Tensor::ids(trace.output(), {1})}};
  write_safetensors(model_directory_.looks() / "step-3.safetensors", tensors);
  expect_same(Snapshot(model_directory_, 3).trace(model, 0), trace);
}

TEST_F(Snapshots, IdsAreOfTheModelsVocabulary) {
  for (const int32_t id : {-1, 1'000'000}) {
    write_snapshot(model_directory_, 5, model_, {&trace_, 1});
    const SafetensorsFile file(model_directory_.looks() / "step-5.safetensors");
    std::vector<NamedTensor> tensors;
    for (const auto& entry : file.entries()) tensors.push_back({entry.name, file.read(entry)});
    for (NamedTensor& named : tensors) {
      if (named.name == "0.ids.target") named.tensor.indices()[1] = id;
    }
    write_safetensors(model_directory_.looks() / "step-6.safetensors", tensors);
    expect_error<FormatError>([&] { Snapshot(model_directory_, 6).trace(model_, 0); },
                              fmt::format("step-6.safetensors: id {} in a vocabulary of", id));
  }
}

TEST_F(Snapshots, MapsFitTheirSentence) {
  std::filesystem::create_directories(model_directory_.looks());
  for (const Shape& shape : {Shape{1'000'000, 0, 5}, Shape{2, 3, 0}, Shape{0, 3, 3}, Shape{3, 3},
                             Shape{1, 100, 3}, Shape{1, 3, 100}, Shape{2000, 1, 1}}) {
    const NamedTensor tensors[] = {{"0.ids.source", Tensor::ids({3, 4})},
                                   {"0.ids.target", Tensor::ids({3})},
                                   {"0.cross", Tensor::zeros(shape)}};
    write_safetensors(model_directory_.looks() / "step-1.safetensors", tensors);
    expect_error<FormatError>([&] { Snapshot(model_directory_, 1).map(0, "cross", {}); },
                              fmt::format("0.cross is no map but F32 {}", shape));
  }
}

}  // namespace
}  // namespace attend
