// Changing the attention of any model, layer by layer.
#pragma once

#include "attend/attention/intervention.h"
#include "tests/models/generators.h"

namespace attend {

struct Looked {
  Tensor output;
  std::vector<RecordedHead> heads;
};

inline Looked look(const Model& model, const Batch& inputs, const Tokens& written) {
  const NoGrad no_grad;
  Recorder recorder;
  const Tensor output = model.generator() != nullptr    ? model.generator()->logits(inputs, written)
                        : model.classifier() != nullptr ? model.classifier()->label_logits(inputs)
                                                        : model.encoder()->encode(inputs).values;
  return {output, recorder.heads};
}

inline std::vector<RecordedHead> heads_of(const Looked& looked, const std::string& layer) {
  std::vector<RecordedHead> found;
  std::ranges::copy_if(looked.heads, std::back_inserter(found),
                       [&](const RecordedHead& each) { return each.layer == layer; });
  return found;
}

// The pair of a query and a key that has the largest weight of a head, in any sequence; of a later
// query than the first where there is one, so that queries must be counted right to find it.
struct LookedAt {
  size_t query = 0, key = 0;
  float weight = 0.0f;
};

inline LookedAt strongest(const Looked& looked, const std::string& layer, size_t head,
                          size_t from = 1) {
  LookedAt most;
  for (const RecordedHead& each : heads_of(looked, layer)) {
    if (each.head != head) continue;
    for (size_t i = 0; i < each.weights.rows(); ++i) {
      const auto row = each.weights.slice_rows(i, 1).span();
      for (size_t j = 0; j < row.size(); ++j) {
        const LookedAt pair{each.first_query + i, each.first_key + j, row[j]};
        if (pair.query >= from && pair.weight > most.weight) most = pair;
      }
    }
  }
  return most.weight > 0.0f || from == 0 ? most : strongest(looked, layer, head, 0);
}

inline float weight_at(const RecordedHead& head, size_t query, size_t key) {
  if (query >= head.weights.rows() || key < head.first_key) return 0.0f;
  const auto row = head.weights.slice_rows(query, 1).span();
  return key - head.first_key < row.size() ? row[key - head.first_key] : 0.0f;
}

// Each head of each layer is knocked out, and one of its pairs: a Recorder sees the weights that
// were asked for, the output changes, and steps give what a whole pass gives.
inline void expect_heeds_interventions(const Model& model) {
  const NoGrad no_grad;
  const Batch inputs = some_inputs(model, {3, 1, 7}, 1);
  const Tokens written = some_tokens({2, 5, 4}, kTargetTokens, 2);
  const Looked before = look(model, inputs, written);
  const auto expect_changed = [&](const Looked& after, const std::string& what) {
    EXPECT_NE(after.output.to_vector(), before.output.to_vector()) << what;
    if (model.generator() == nullptr) return;
    expect_near(step_by_step(*model.generator(), inputs, written), after.output, 1e-4f);
  };
  for (const AttentionLayer& layer : model.signature().layers) {
    for (size_t head = 0; head < layer.heads; ++head) {
      const std::string name = layer.name + " head " + std::to_string(head);
      {
        Intervention intervention;
        intervention.knock_out({layer.name, head});
        const Looked after = look(model, inputs, written);
        ASSERT_EQ(heads_of(after, layer.name).size(), heads_of(before, layer.name).size()) << name;
        for (const RecordedHead& each : heads_of(after, layer.name)) {
          const std::vector<float> weights = each.weights.to_vector();
          const bool nothing = std::ranges::all_of(weights, [](float w) { return w == 0.0f; });
          EXPECT_EQ(nothing, each.head == head || each.weights.width() == 0) << name;
        }
        expect_changed(after, name + " knocked out");
      }
      const LookedAt pair = strongest(before, layer.name, head);
      ASSERT_GT(pair.weight, 0.0f) << name;
      Intervention intervention;
      intervention.mask({layer.name, head}, pair.query, pair.key);
      const Looked after = look(model, inputs, written);
      for (const RecordedHead& each : heads_of(after, layer.name)) {
        if (each.head != head) continue;
        EXPECT_EQ(weight_at(each, pair.query, pair.key), 0.0f) << name;
      }
      expect_changed(after, name + " without a pair");
    }
  }
  EXPECT_EQ(look(model, inputs, written).output.to_vector(), before.output.to_vector());
}

}  // namespace attend
