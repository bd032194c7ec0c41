// GPT-2 and Llama shapes against `transformers` (tests/fixtures/make_gpt.py): rows of every layer,
// attention of every head, logits, and the gradients of one step.
#include "attend/io/safetensors.h"
#include "attend/models/gpt.h"
#include "attend/nn/row_tap.h"
#include "tests/models/generators.h"

namespace attend {
namespace {

struct Rows : RowTap {
  std::vector<Tensor> rows;
  void see(const std::string& /*stage*/, const Tensor& x) override { rows.push_back(x); }
};

void expect_equal(const char* name, GptConfig config) {
  const SafetensorsFile file(std::filesystem::path(ATTEND_FIXTURES) / name);
  const Tensor ids = file.read("ids"), labels = file.read("labels");
  config.text_vocabulary = file.find("logits")->shape[1];
  config.dropout = 0.0f;
  Rng rng(1);
  Gpt model(config, rng);
  for (const NamedTensor& p : parameters(model)) {
    const Tensor value = file.read(p.name);
    ASSERT_EQ(value.shape(), p.tensor.shape()) << p.name;
    std::ranges::copy(value.span(), p.tensor.span().begin());
  }
  size_t gradients = 0;
  for (const auto& entry : file.entries()) gradients += entry.name.starts_with("gradient.") ? 1 : 0;
  EXPECT_EQ(gradients, parameters(model).size());

  const Tokens text = one_sequence(ids.index_span());
  Rows seen;
  Recorder recorder;
  const Tensor logits = model.logits(Batch(1), text);
  expect_near(logits, file.read("logits"));
  ASSERT_EQ(seen.rows.size(), config.layers + 1);
  for (size_t i = 0; i < config.layers; ++i) {
    SCOPED_TRACE(i);
    expect_near(seen.rows[i].detach(), file.read("rows." + std::to_string(i)));
  }
  const Batch batch("text", text);
  expect_near(model.encode(batch).values, file.read("rows." + std::to_string(config.layers)));
  for (const RecordedHead& head : recorder.heads) {
    if (head.call > 0) continue;  // that of encode()
    SCOPED_TRACE(head.layer + " " + std::to_string(head.head));
    const size_t layer = head.layer == "layers.0.self" ? 0 : 1;
    const Tensor all = file.read("attention." + std::to_string(layer));
    const size_t tokens = all.extent(1);
    expect_near(head.weights,
                Tensor::of(all.span().subspan(head.head * tokens * tokens, tokens * tokens),
                           {tokens, tokens}));
  }
  EXPECT_EQ(recorder.heads.size(), 2 * config.layers * config.heads);

  backward(cross_entropy(logits, labels));
  for (const NamedTensor& p : parameters(model)) {
    SCOPED_TRACE(p.name);
    expect_near(p.tensor.grad(), file.read("gradient." + p.name));
  }
}

TEST(GptTransformers, Gpt2) {
  GptConfig c;
  c.width = 16, c.layers = 2, c.heads = 4, c.max_length = 12;
  c.activation = FeedForwardKind::kGeluTanh;
  expect_equal("gpt2.safetensors", c);
}

TEST(GptTransformers, Llama) {
  GptConfig c;
  c.width = 16, c.layers = 2, c.heads = 4, c.kv_heads = 2, c.feed_forward = 24;
  c.norm = NormKind::kRms;
  c.activation = FeedForwardKind::kSwiglu;
  c.positions = PositionScheme::kRotary;
  c.bias = false;
  c.tied = false;
  expect_equal("llama.safetensors", c);
}

}  // namespace
}  // namespace attend
