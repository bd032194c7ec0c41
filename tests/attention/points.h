// Points of attention's space: scores, weightings, masks and terms over small packed sequences, for
// tests that walk it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "attend/attention/attention.h"
#include "attend/attention/bias.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"
#include "tests/attention/values.h"
#include "tests/plain/attention.h"

namespace attend {

struct Sizes {
  std::vector<int32_t> queries, keys;
  size_t heads, kv_heads, width, value_width;
};

// A call over given sizes, and the leaves that it refers to.
struct Point {
  plain::AttentionCall call;
  std::vector<Tensor> leaves;  // q, k, v, then what is learned
};

inline size_t longest(const std::vector<int32_t>& lengths) {
  return lengths.empty() ? 0 : static_cast<size_t>(std::ranges::max(lengths));
}

inline Tensor learn(Point& point, const Shape& shape) {
  Tensor leaf = random_tensor(shape, 100 + point.leaves.size());
  leaf.require_grad();
  point.leaves.push_back(leaf);
  return leaf;
}

// One thing that a point may have.
struct Feature {
  std::string name;
  std::function<void(Point&, const Sizes&)> apply;
  std::function<bool(const AttentionOptions&)> fits = [](const AttentionOptions&) { return true; };
};

inline const std::vector<Feature>& masks() {
  static const std::vector<Feature> all{
      {"none", [](Point&, const Sizes&) {}},
      {"causal", [](Point& p, const Sizes&) { p.call.options.mask.causal = true; }},
      {"causal from 1",
       [](Point& p, const Sizes&) {
         p.call.options.mask.causal = true;
         p.call.options.mask.q_offset = {1};
       }},
      {"causal, an offset for each sequence",
       [](Point& p, const Sizes& sizes) {
         p.call.options.mask.causal = true;
         for (size_t s = 0; s < sizes.queries.size(); ++s) {
           p.call.options.mask.q_offset.push_back(static_cast<int64_t>(2 * s) - 1);
         }
       }},
      {"strictly causal",
       [](Point& p, const Sizes&) { p.call.options.mask.strictly_causal = true; }},
      {"strictly causal with a prefix",
       [](Point& p, const Sizes&) {
         p.call.options.mask.strictly_causal = true;
         p.call.options.mask.q_offset = {0};
         p.call.options.mask.prefix = {1};
       }},
      {"window",
       [](Point& p, const Sizes&) {
         p.call.options.mask.left = 2;
         p.call.options.mask.right = 1;
       }},
      {"prefix",
       [](Point& p, const Sizes&) {
         p.call.options.mask.causal = true;
         p.call.options.mask.prefix = {3};
       }},
      {"documents",
       [](Point& p, const Sizes& sizes) {
         for (const int32_t n : sizes.queries) {
           for (int32_t i = 0; i < n; ++i) p.call.options.mask.q_documents.push_back(i / 3);
         }
         for (const int32_t n : sizes.keys) {
           for (int32_t i = 0; i < n; ++i) p.call.options.mask.k_documents.push_back(i / 3);
         }
       }},
      {"pairs and causal",
       [](Point& p, const Sizes& sizes) {
         const Shape shape{sizes.queries.size(), sizes.heads, longest(sizes.queries),
                           longest(sizes.keys)};
         std::vector<uint8_t> allowed(shape.size());
         for (size_t i = 0; i < allowed.size(); ++i) {
           allowed[i] = RandomStream(1, 1).uniform(i) < 0.6f;
         }
         p.call.options.mask.pairs = PairMask(shape, allowed);
         p.call.options.mask.causal = true;
       }},
      {"pairs with empty rows and columns",
       [](Point& p, const Sizes& sizes) {
         const Shape shape{longest(sizes.queries), longest(sizes.keys)};
         std::vector<uint8_t> allowed(shape.size());
         for (size_t i = 0; i < allowed.size(); ++i) {
           allowed[i] = i / shape[1] % 4 != 1 && i % shape[1] % 3 != 1;
         }
         p.call.options.mask.pairs = PairMask(shape, allowed);
       }},
      {"pairs of keys, for all queries",
       [](Point& p, const Sizes& sizes) {
         const Shape shape{sizes.heads, 1, longest(sizes.keys)};
         std::vector<uint8_t> allowed(shape.size());
         for (size_t i = 0; i < allowed.size(); ++i) allowed[i] = i % 3 != 1;
         p.call.options.mask.pairs = PairMask(shape, allowed);
       }},
      {"pairs of queries, for all keys",
       [](Point& p, const Sizes& sizes) {
         const Shape shape{sizes.queries.size(), 1, longest(sizes.queries), 1};
         std::vector<uint8_t> allowed(shape.size());
         for (size_t i = 0; i < allowed.size(); ++i) allowed[i] = i % 3 != 1;
         p.call.options.mask.pairs = PairMask(shape, allowed);
       }},
      {"window before the keys",
       [](Point& p, const Sizes&) {
         p.call.options.mask.q_offset = {-2};
         p.call.options.mask.left = 1;
         p.call.options.mask.right = 1;
       }},
      {"keys in use",
       [](Point& p, const Sizes& sizes) {
         for (const int32_t n : sizes.keys) p.call.options.key_lengths.push_back(n - n / 2);
       }},
  };
  return all;
}

// Whether keys are multiplied, so that Shaw's vectors can be added to them.
inline bool is_product(const AttentionOptions& o) { return traits_of(o.score).product; }

inline bool is_additive(const AttentionOptions& o) {
  return o.score == Score::kAdditive || o.score == Score::kConcat;
}

inline const std::vector<Feature>& terms() {
  static const std::vector<Feature> all{
      {"none", [](Point&, const Sizes&) {}},
      {"bias",
       [](Point& p, const Sizes& s) {
         p.call.options.bias = learn(p, {longest(s.queries), longest(s.keys) + 1});
       }},
      {"bias of heads",
       [](Point& p, const Sizes& s) {
         p.call.options.bias = learn(p, {s.heads, longest(s.queries), longest(s.keys)});
       }},
      {"bias of sequences",
       [](Point& p, const Sizes& s) {
         p.call.options.bias = learn(p, {s.queries.size(), 1, longest(s.queries), longest(s.keys)});
       }},
      {"bias of keys, for all queries",
       [](Point& p, const Sizes& s) {
         p.call.options.bias = learn(p, {1, longest(s.keys)});
       }},
      {"bias of sequences and heads, for all queries",
       [](Point& p, const Sizes& s) {
         p.call.options.bias = learn(p, {s.queries.size(), s.heads, 1, longest(s.keys)});
       }},
      {"bias of queries, for all keys",
       [](Point& p, const Sizes& s) {
         p.call.options.bias = learn(p, {s.heads, longest(s.queries), 1});
       }},
      {"alibi", [](Point& p, const Sizes& s) { p.call.options.relative = alibi(s.heads, 50); }},
      {"bias of distances",
       [](Point& p, const Sizes& s) {
         const size_t reach = longest(s.queries) + longest(s.keys);
         p.call.options.relative = {learn(p, {s.heads, 2 * reach + 1}), reach};
       }},
      {"t5",
       [](Point& p, const Sizes& s) {
         p.call.t5 = {learn(p, {8, s.heads}), {.count = 8, .farthest = 16}};
       }},
      {"softcap and temperature",
       [](Point& p, const Sizes&) {
         p.call.options.softcap = 0.9f;
         p.call.options.temperature = 1.6f;
       }},
      {"scale", [](Point& p, const Sizes&) { p.call.options.scale = 0.3f; }},
      {"shaw",
       [](Point& p, const Sizes& s) {
         p.call.options.shaw = {learn(p, {5, s.width}), learn(p, {5, s.value_width})};
       },
       is_product},
      {"shaw of values",
       [](Point& p, const Sizes& s) {
         p.call.options.shaw.values = learn(p, {3, s.value_width});
       }},
      {"location inputs",
       [](Point& p, const Sizes& s) {
         p.call.options.score_weights.location = learn(p, {s.kv_heads * 5, 2});
         p.call.options.score_weights.location_inputs = learn(p, {p.call.k.rows(), 2});
       },
       is_additive},
      {"sinks and temperature",
       [](Point& p, const Sizes& s) {
         p.call.options.sinks = learn(p, {s.heads});
         p.call.options.temperature = 0.7f;
       },
       [](const AttentionOptions& o) { return o.weighting == Weighting::kSoftmax; }},
  };
  return all;
}

// What the score needs to have learned. Widths of rows are those of q and k.
inline void add_score_weights(Point& p, const Sizes& s) {
  const size_t q_width = s.heads * s.width, k_width = s.kv_heads * s.width;
  ScoreWeights& w = p.call.options.score_weights;
  switch (p.call.options.score) {
    case Score::kGeneral:
      w.query = learn(p, {q_width, q_width});
      break;
    case Score::kAdditive:
      w.query = learn(p, {s.heads * 5, q_width});
      w.key = learn(p, {s.kv_heads * 5, k_width});
      w.vector = learn(p, {s.heads * 5});
      break;
    case Score::kConcat:
      w.query = learn(p, {s.heads * 5, q_width + k_width});
      w.vector = learn(p, {s.heads * 5});
      break;
    case Score::kLocation:
      w.query = learn(p, {s.heads * std::max<size_t>(1, longest(s.keys)), q_width});
      break;
    default:
      break;
  }
}

inline Point make_point(const Sizes& s, Score score, Weighting weighting) {
  Point p;
  AttentionOptions& o = p.call.options;
  o.heads = s.heads;
  o.kv_heads = s.kv_heads;
  o.queries = Packing(s.queries);
  o.keys = Packing(s.keys);
  o.score = score;
  o.weighting = weighting;
  o.top_k = 3;
  o.random = RandomStream(5, 1);
  p.call.q = learn(p, {o.queries->rows(), s.heads * s.width});
  p.call.k = learn(p, {o.keys->rows(), s.kv_heads * s.width});
  p.call.v = learn(p, {o.keys->rows(), s.kv_heads * s.value_width});
  add_score_weights(p, s);
  return p;
}

inline bool possible(const Sizes& s, Score score) {
  return traits_of(score).grouped || s.heads == s.kv_heads;
}

struct Outcome {
  Attended attended;
  std::vector<std::vector<float>> values;  // output, then the gradients of the leaves
};

// The gradient of an output.
inline Tensor seed_of(const Shape& shape) { return random_tensor(shape, 77); }

inline Outcome run(const Point& p, bool plain) {
  AttentionOptions options = p.call.options;
  options.plain = plain;
  if (p.call.t5) options.relative = t5_bias(p.call.t5->table, p.call.t5->buckets, 50);
  for (const Tensor& leaf : p.leaves) leaf.clear_grad();
  TrainingScope training(Rng(4));
  Outcome outcome{attention(p.call.q, p.call.k, p.call.v, options), {}};
  Tensor y = outcome.attended.output;
  if (const Tensor& logs = outcome.attended.log_probability; logs.defined()) {
    y = concat({y, logs}, 1);
  }
  outcome.values.push_back(y.to_vector());
  backward(y, seed_of(y.shape()));
  for (const Tensor& leaf : p.leaves) {
    outcome.values.push_back(leaf.grad().defined() ? leaf.grad().to_vector()
                                                   : std::vector<float>(leaf.size(), 0.0f));
  }
  return outcome;
}

}  // namespace attend
