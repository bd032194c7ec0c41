// Local attention (Luong et al., 2015): a query looks at the keys around one place of the source.
// In local-m that place is the query's own; in local-p it is predicted from the query.
#pragma once

#include "attend/attention/attention.h"
#include "attend/nn/linear.h"

namespace attend {

// Local-m, for any attention: query i of a sequence is at place first + i, as the next ones of a
// decoder that has done `first`, and looks at the keys up to `reach` away from there.
Mask local_mask(size_t reach, size_t first = 0);

struct LocalConfig {
  size_t width = 0;               // of queries
  size_t key_width = 0;           // 0: width
  size_t hidden = 0;              // of the predictor, and of an additive score; 0: width
  size_t reach = 10;              // D, keys on either side
  Score score = Score::kGeneral;  // any that reads keys
};

// Local-p. Over a source of S keys,
//   centre p = S sigmoid(v.tanh(W q)),
//   weight of key s = softmax(score)_s e^(-(s - p)^2 / (2 sigma^2)), sigma = D / 2,
// for p - D <= s <= p + D; weights do not add up to 1, as in the paper, and the centre learns
// through the bell.
struct LocalAttention {
  LocalConfig config;
  std::string name;                              // for a Recorder
  Linear centre;                                 // W
  Tensor vector;                                 // v [hidden]
  Tensor score_weight, score_key, score_vector;  // of a learned score, as in ScoreWeights

  LocalAttention() = default;
  LocalAttention(const LocalConfig& config, Rng& rng);

  // q [q rows, width], k [k rows, key_width], v [k rows, any] to [q rows, any].
  struct Inputs {
    Tensor q, k, v;
    Packing queries, keys;
    std::vector<int32_t> earlier = {};  // queries each sequence has had, for a Recorder
  };
  Tensor operator()(const Inputs& in) const;
  // Where each query looks among its keys, [q rows, 1].
  Tensor centres(const Tensor& q, const Packing& queries, const Packing& keys) const;

  void visit(Visitor& v);
};

}  // namespace attend
