// A decoder-only Transformer that reads a prompt, and writes.
#include <algorithm>

#include "attend/models/gpt.h"
#include "attend/tensor/tape.h"
#include "bench/peers/cases.h"

namespace attend::peers {
namespace {

std::shared_ptr<Gpt> model_of(const Inputs& in) {
  const auto number = [&in](const char* name) { return static_cast<size_t>(in.number(name)); };
  GptConfig c;
  c.text_vocabulary = number("vocabulary");
  c.width = number("width");
  c.heads = number("heads");
  c.layers = number("layers");
  c.max_length = number("context");
  c.activation = FeedForwardKind::kGeluTanh;
  Rng rng(1);
  auto model = std::make_shared<Gpt>(c, rng);
  for (const NamedTensor& p : parameters(*model)) {
    std::ranges::copy(in.at(p.name).span(), p.tensor.span().begin());
  }
  model->pack();
  return model;
}

// The logits after the last of some tokens, each the likeliest after those before; the prompt is
// read before the clock starts.
Case gpt_generate_case(const Inputs& in) {
  const auto model = model_of(in);
  const std::vector<int32_t> prompt = in.integers("prompt");
  const auto tokens = static_cast<size_t>(in.number("tokens"));
  const auto state = std::shared_ptr(model->start(Batch(1)));
  model->step(*state, one_sequence(prompt), StepRows::kLast);
  const int32_t first = static_cast<int32_t>(in.number("first"));
  const auto read = static_cast<int32_t>(prompt.size());
  return {.leaves = {},
          .step =
              [=] {
                Tensor logits;
                int32_t token = first;
                for (size_t i = 0; i < tokens; ++i) {
                  logits = model->step(*state, std::span(&token, 1));
                  const auto row = logits.span();
                  token = static_cast<int32_t>(std::ranges::max_element(row) - row.begin());
                }
                return logits;
              },
          .prepare = [=] { state->rewind(std::vector{read}); }};
}

// The logits after a prompt.
Case gpt_prompt_case(const Inputs& in) {
  const auto model = model_of(in);
  const std::vector<int32_t> prompt = in.integers("prompt");
  return {.leaves = {}, .step = [=] {
            const auto state = model->start(Batch(1));
            return model->step(*state, one_sequence(prompt), StepRows::kLast);
          }};
}

const Kind gpt_generate_kind("gpt_generate", gpt_generate_case);
const Kind gpt_prompt_kind("gpt_prompt", gpt_prompt_case);

}  // namespace
}  // namespace attend::peers
