// BERT's shape against `transformers` (tests/fixtures/make_bert.py): rows of every layer, attention
// of every head, logits of masked tokens and of the next sentence, and the gradients of one step.
#include "attend/attention/recorder.h"
#include "attend/io/safetensors.h"
#include "attend/models/bert.h"
#include "attend/nn/row_tap.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/elementwise.h"
#include "attend/tensor/tape.h"
#include "tests/models/generators.h"

namespace attend {
namespace {

struct BertRows : RowTap {
  std::vector<Tensor> rows;
  void see(const std::string& /*stage*/, const Tensor& x) override { rows.push_back(x.detach()); }
};

class BertTransformers : public testing::TestWithParam<std::string> {
 protected:
  const SafetensorsFile file_{std::filesystem::path(ATTEND_FIXTURES) / "bert.safetensors"};
  std::unique_ptr<Model> model_ = from_file();

  std::unique_ptr<Model> from_file() const {
    ModelConfig config("bert");
    auto& c = config.settings.as<BertConfig>();
    c.text_vocabulary = file_.find("bias")->shape[0];
    c.width = 16, c.layers = 2, c.heads = 4, c.feed_forward = 24, c.max_length = 12;
    c.dropout = c.attention_dropout = 0.0f;
    c.head.pair = true;
    Rng rng(1);
    auto model = make_model(config, rng);
    for (const NamedTensor& p : parameters(*model)) {
      const Tensor value = file_.read(p.name);
      if (value.shape() != p.tensor.shape()) throw std::runtime_error(p.name);
      std::ranges::copy(value.span(), p.tensor.span().begin());
    }
    return model;
  }
  Tensor stored(const std::string& name) const { return file_.read(GetParam() + "." + name); }

  // The text, or both, with their frames.
  Batch inputs() const {
    const Tensor all = stored("ids"), segments = stored("segments");
    std::vector<int32_t> texts[2];
    for (size_t i = 0; i < all.size(); ++i) {
      texts[segments.index_span()[i]].push_back(all.index_span()[i]);
    }
    Batch batch("text", one_sequence(texts[0]));
    if (!texts[1].empty()) batch.add("pair", one_sequence(texts[1]));
    return batch;
  }
  MaskedPredictor::Predicted predicted() const {
    std::vector<int32_t> rows(stored("ids").size());
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int32_t>(i);
    return model_->masked_predictor()->predict(inputs(), Tensor::ids(rows, {rows.size()}));
  }
};

TEST_P(BertTransformers, SeesTheSameRowsAndAttention) {
  const NoGrad no_grad;
  BertRows seen;
  Recorder recorder;
  const auto given = predicted();
  expect_near(given.tokens, stored("logits"));
  expect_near(given.relation.reshape({2}), stored("relation"));
  ASSERT_EQ(seen.rows.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    SCOPED_TRACE(i);
    expect_near(seen.rows[i], stored("rows." + std::to_string(i)));
  }
  ASSERT_EQ(recorder.heads.size(), 8u);
  for (const RecordedHead& head : recorder.heads) {
    SCOPED_TRACE(head.layer + " " + std::to_string(head.head));
    const Tensor all = stored(head.layer.starts_with("layers.0") ? "attention.0" : "attention.1");
    const size_t tokens = all.extent(1);
    expect_near(head.weights,
                Tensor::of(all.span().subspan(head.head * tokens * tokens, tokens * tokens),
                           {tokens, tokens}));
  }
}

INSTANTIATE_TEST_SUITE_P(Inputs, BertTransformers, testing::Values("one", "pair"),
                         [](const auto& test) { return test.param; });

class BertGradients : public BertTransformers {};

TEST_P(BertGradients, OfOneStepAreTheSame) {
  const auto given = predicted();
  const std::vector<int32_t> apart = {1};
  backward(add(cross_entropy(given.tokens, stored("labels")),
               cross_entropy(given.relation, Tensor::ids(apart, {1}))));
  size_t stored_gradients = 0;
  for (const auto& entry : file_.entries()) {
    stored_gradients += entry.name.starts_with("gradient.") ? 1 : 0;
  }
  EXPECT_EQ(stored_gradients, parameters(*model_).size());
  for (const NamedTensor& p : parameters(*model_)) {
    SCOPED_TRACE(p.name);
    expect_near(p.tensor.grad(), file_.read("gradient." + p.name));
  }
}

INSTANTIATE_TEST_SUITE_P(Inputs, BertGradients, testing::Values("pair"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace attend
