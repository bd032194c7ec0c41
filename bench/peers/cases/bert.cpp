// An encoder that reads both ways: a training step on masked tokens, and reading alone.
#include "attend/models/bert.h"
#include "attend/models/text_pair.h"
#include "bench/peers/training.h"

namespace attend::peers {
namespace {

// The logits of the masked rows, as a model that writes would give them.
struct MaskedRows {
  std::shared_ptr<Model> model;
  Tensor rows;

  Tensor logits(const Batch& /*inputs*/, const Tokens& text) const {
    return model->masked_predictor()->predict({kTextColumn, text}, rows).tokens;
  }
  void visit(Visitor& v) { model->visit(v); }
};

std::shared_ptr<Model> bert_of(const Inputs& in) {
  const auto number = [&in](const char* name) { return static_cast<size_t>(in.number(name)); };
  BertConfig c;
  c.text_vocabulary = number("vocabulary");
  c.width = number("width");
  c.heads = number("heads");
  c.layers = number("layers");
  c.max_length = number("positions");
  c.segments = 0;
  c.dropout = c.attention_dropout = in.number("dropout");
  Rng rng(1);
  return bert_kind().make(AnyConfig(c), rng);
}

Case train_bert_case(const Inputs& in) {
  return training_case(MaskedRows{bert_of(in), in.at("rows")}, in);
}

// The rows of the last layer.
Case bert_forward_case(const Inputs& in) {
  const std::shared_ptr<Model> model = bert_of(in);
  for (const NamedTensor& p : parameters(*model)) {
    std::ranges::copy(in.at(p.name).span(), p.tensor.span().begin());
  }
  model->pack();
  const Batch text(kTextColumn, {in.integers("target"), Packing(in.integers("targets"))});
  return {.leaves = {}, .step = [=] {
            const NoGrad no_grad;
            return model->encoder()->encode(text).values;
          }};
}

const Kind train_bert_kind("train_bert", train_bert_case);
const Kind bert_forward_kind("bert_forward", bert_forward_case);

}  // namespace
}  // namespace attend::peers
