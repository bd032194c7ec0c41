// A trained Llama-like model of 260,000 parameters, in the float32 format of llama2.c, tells its
// story to the letter. Where the data is (ATTEND_DATA/stories260k); it is not part of this project.
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "attend/base/files.h"
#include "attend/models/gpt.h"
#include "tests/models/generators.h"

namespace attend {
namespace {

class Bytes {
 public:
  explicit Bytes(const std::filesystem::path& file) : in_(file, std::ios::binary) {}
  template <typename T>
  T next() {
    T value;
    in_.read(reinterpret_cast<char*>(&value), sizeof(T));
    return value;
  }
  std::string text(size_t bytes) {
    std::string text(bytes, '\0');
    in_.read(text.data(), static_cast<std::streamsize>(bytes));
    return text;
  }
  void fill(const Tensor& tensor) {
    in_.read(reinterpret_cast<char*>(tensor.data()),
             static_cast<std::streamsize>(tensor.size() * sizeof(float)));
  }

 private:
  std::ifstream in_;
};

// Seven sizes, then the weights, each kind for all layers in turn.
Gpt load(const std::filesystem::path& file) {
  Bytes bytes(file);
  GptConfig c;
  c.width = static_cast<size_t>(bytes.next<int32_t>());
  c.feed_forward = static_cast<size_t>(bytes.next<int32_t>());
  c.layers = static_cast<size_t>(bytes.next<int32_t>());
  c.heads = static_cast<size_t>(bytes.next<int32_t>());
  c.kv_heads = static_cast<size_t>(bytes.next<int32_t>());
  c.text_vocabulary = static_cast<size_t>(bytes.next<int32_t>());
  c.max_length = static_cast<size_t>(bytes.next<int32_t>());
  c.norm = NormKind::kRms;
  c.activation = FeedForwardKind::kSwiglu;
  c.positions = PositionScheme::kRotary;
  c.rotary_layout = RotaryLayout::kInterleaved;
  c.bias = false;
  Rng rng(1);
  Gpt model(c, rng);
  std::map<std::string, Tensor> weights;
  for (const NamedTensor& p : parameters(model)) weights[p.name] = p.tensor;
  bytes.fill(weights.at("embedding.weight"));
  for (const char* part :
       {"self_norm", "self.query", "self.key", "self.value", "self.output", "feed_forward_norm",
        "feed_forward.gate", "feed_forward.out", "feed_forward.in"}) {
    for (size_t i = 0; i < c.layers; ++i) {
      bytes.fill(weights.at(fmt::format("layers.{}.{}.weight", i, part)));
    }
  }
  bytes.fill(weights.at("norm.weight"));
  return model;
}

std::vector<std::string> load_pieces(const std::filesystem::path& file, size_t count) {
  Bytes bytes(file);
  bytes.next<int32_t>();  // the longest
  std::vector<std::string> pieces;
  while (pieces.size() < count) {
    bytes.next<float>();  // its score, for encoding
    pieces.push_back(bytes.text(static_cast<size_t>(bytes.next<int32_t>())));
  }
  return pieces;
}

TEST(Stories, AreToldToTheLetter) {
  const char* data = std::getenv("ATTEND_DATA");
  const std::filesystem::path root =
      std::filesystem::path(data == nullptr ? "" : data) / "stories260k";
  if (data == nullptr || !std::filesystem::exists(root / "stories260K.bin")) {
    GTEST_SKIP() << "set ATTEND_DATA to a directory with stories260k/stories260K.bin";
  }
  const Gpt model = load(root / "stories260K.bin");
  const std::vector<std::string> pieces = load_pieces(root / "tok512.bin", model.vocabulary());
  const auto state = model.start(Batch(1));
  std::string story;
  int32_t token = 1;
  for (int i = 0; i < 200; ++i) {
    const Tensor logits = model.step(*state, std::vector{token});
    token = static_cast<int32_t>(std::ranges::max_element(logits.span()) - logits.span().begin());
    if (token == 1) break;
    const std::string& piece = pieces[static_cast<size_t>(token)];
    if (piece.starts_with("<0x")) {
      story += static_cast<char>(std::stoi(piece.substr(3, 2), nullptr, 16));
    } else {
      story += i == 0 && piece.starts_with(' ') ? piece.substr(1) : piece;
    }
  }
  std::string expected = file_contents(root / "expected_t0_n200.txt");
  while (expected.ends_with('\n')) expected.pop_back();
  while (story.ends_with('\n')) story.pop_back();
  EXPECT_EQ(story, expected);
}

}  // namespace
}  // namespace attend
