#include "attend/inspect/snapshot.h"

#include "tests/errors.h"
#include "tests/files.h"
#include "tests/inspect/readings.h"

namespace attend {
namespace {

class Snapshots : public DirectoryTest {
 protected:
  const ModelDirectory model_directory_{directory_};
  const TextModel model_ = small_transformer_model();
  const Reading reading_ = given_reading(model_, "abc", "ba");
};

TEST_F(Snapshots, AreReadBack) {
  write_snapshot(model_directory_, 5, model_, {&reading_, 1});
  EXPECT_EQ(snapshot_steps(model_directory_), std::vector<int64_t>{5});
  const Snapshot snapshot(model_directory_, 5);
  snapshot.check_ids(model_);
  ASSERT_EQ(snapshot.sentences(), 1u);
  EXPECT_EQ(snapshot.reading(0).source, reading_.source);
  for (const AttentionLayer& layer : model_.model->attention_layers()) {
    for (size_t head = 0; head < layer.heads; ++head) {
      const HeadChoice choice{HeadChoice::Kind::kOne, head};
      EXPECT_EQ(snapshot.map(0, layer.name, choice).to_vector(),
                attention_map(model_, reading_, layer.name, choice).to_vector());
    }
  }
  expect_error<ConfigError>([&] { snapshot.map(0, "nowhere", {}); }, "no map 0.nowhere");
  expect_error<ConfigError>([&] { snapshot.map(1, "decoder.0.cross", {}); }, "no map");
}

TEST_F(Snapshots, IdsAreOfTheModelsVocabulary) {
  for (const int32_t id : {-1, 1'000'000}) {
    write_snapshot(model_directory_, 5, model_, {&reading_, 1});
    const SafetensorsFile file(model_directory_.looks() / "step-5.safetensors");
    std::vector<NamedTensor> tensors;
    for (const auto& entry : file.entries()) tensors.push_back({entry.name, file.read(entry)});
    for (NamedTensor& named : tensors) {
      if (named.name == "0.target") named.tensor.indices()[1] = id;
    }
    write_safetensors(model_directory_.looks() / "step-6.safetensors", tensors);
    expect_error<FormatError>([&] { Snapshot(model_directory_, 6).check_ids(model_); },
                              fmt::format("step-6.safetensors: id {} in a vocabulary of", id));
  }
}

TEST_F(Snapshots, MapsFitTheirSentence) {
  std::filesystem::create_directories(model_directory_.looks());
  for (const Shape& shape : {Shape{1'000'000, 0, 5}, Shape{2, 3, 0}, Shape{0, 3, 3}, Shape{3, 3},
                             Shape{1, 100, 3}, Shape{1, 3, 100}, Shape{2000, 1, 1}}) {
    const NamedTensor tensors[] = {{"0.source", Tensor::ids({3, 4, 2})},
                                   {"0.target", Tensor::ids({3})},
                                   {"0.cross", Tensor::zeros(shape)}};
    write_safetensors(model_directory_.looks() / "step-1.safetensors", tensors);
    expect_error<FormatError>([&] { Snapshot(model_directory_, 1).map(0, "cross", {}); },
                              fmt::format("0.cross is no map but F32 {}", shape));
  }
}

}  // namespace
}  // namespace attend
