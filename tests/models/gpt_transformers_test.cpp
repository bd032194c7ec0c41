// GPT-2 and Llama shapes against `transformers` (tests/fixtures/make_gpt.py): rows of every layer,
// attention of every head, logits, and the gradients of one step; logits with scaled rotary
// frequencies.
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

SafetensorsFile fixture(const char* name) {
  return SafetensorsFile(std::filesystem::path(ATTEND_FIXTURES) / name);
}

Gpt gpt_from_file(const SafetensorsFile& file, GptConfig config) {
  config.text_vocabulary = file.find("logits")->shape[1];
  config.dropout = 0.0f;
  Rng rng(1);
  Gpt model(config, rng);
  for (const NamedTensor& p : parameters(model)) {
    const Tensor value = file.read(p.name);
    if (value.shape() != p.tensor.shape()) throw std::runtime_error(p.name);
    std::ranges::copy(value.span(), p.tensor.span().begin());
  }
  return model;
}

void expect_equal(const char* name, const GptConfig& config) {
  const SafetensorsFile file = fixture(name);
  const Tensor ids = file.read("ids"), labels = file.read("labels");
  Gpt model = gpt_from_file(file, config);
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

GptConfig llama_fixture() {
  GptConfig c;
  c.width = 16, c.layers = 2, c.heads = 4, c.kv_heads = 2, c.feed_forward = 24;
  c.norm = NormKind::kRms;
  c.activation = FeedForwardKind::kSwiglu;
  c.positions = PositionScheme::kRotary;
  c.bias = false;
  c.tied = false;
  return c;
}

TEST(GptTransformers, Llama) { expect_equal("llama.safetensors", llama_fixture()); }

GptConfig scaled_llama(RotaryScaling scaling) {
  GptConfig c = llama_fixture();
  c.rotary_base = 100.0f;
  c.rotary_scaling = scaling;
  c.rotary_factor = 4, c.rotary_context = 64;
  return c;
}

TEST(GptTransformers, LlamaWithScaledFrequencies) {
  const SafetensorsFile weights = fixture("llama.safetensors");
  const SafetensorsFile expected = fixture("llama_scaled.safetensors");
  const NoGrad no_grad;
  for (const auto scaling :
       {RotaryScaling::kLinear, RotaryScaling::kYarn, RotaryScaling::kLlama3}) {
    SCOPED_TRACE(name_of(scaling));
    const Gpt model = gpt_from_file(weights, scaled_llama(scaling));
    expect_near(model.logits(Batch(1), one_sequence(weights.read("ids").index_span())),
                expected.read("logits." + std::string(name_of(scaling))));
  }
}

// transformers has none for a fixed length. The base grows by factor^(d / (d - 2)), for heads of d
// columns: 4^(4 / 2).
TEST(GptTransformers, NtkScalingIsALargerBase) {
  const SafetensorsFile weights = fixture("llama.safetensors");
  GptConfig larger = llama_fixture();
  larger.rotary_base = 1600.0f;
  const NoGrad no_grad;
  const Tokens text = one_sequence(weights.read("ids").index_span());
  const Tensor logits =
      gpt_from_file(weights, scaled_llama(RotaryScaling::kNtk)).logits(Batch(1), text);
  expect_near(logits, gpt_from_file(weights, larger).logits(Batch(1), text));
  EXPECT_NE(logits.to_vector(),
            gpt_from_file(weights, llama_fixture()).logits(Batch(1), text).to_vector());
}

}  // namespace
}  // namespace attend
