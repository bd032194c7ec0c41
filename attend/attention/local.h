// Local attention (Luong et al., 2015): a query attends to the keys around one position of the
// source. In local-m that is the query's own position; in local-p it is predicted from the query.
#pragma once

#include "attend/attention/attention.h"
#include "attend/nn/linear.h"

namespace attend {

// Local-m, for any attention: query i of a sequence is at position first + i, where `first` is the
// number of steps that a decoder has done, and sees the keys up to `reach` away.
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
// through the Gaussian.
struct LocalAttention {
  LocalConfig config;
  std::string name;                              // for a Recorder
  Linear centre;                                 // W
  Tensor vector;                                 // v [hidden]
  Tensor score_weight, score_key, score_vector;  // of a learned score, as in ScoreWeights

  LocalAttention() = default;
  LocalAttention(const LocalConfig& config, Rng& rng);

  // q [q rows, width], k [k rows, key_width], v [k rows, any].
  struct Inputs {
    Tensor q, k, v;
    Packing queries, keys;
    std::vector<int32_t> earlier = {};  // earlier queries of each sequence, for a Recorder
  };
  Tensor operator()(const Inputs& in) const;  // [q rows, any]
  // The centre of each query among its keys, [q rows, 1].
  Tensor centres(const Tensor& q, const Packing& queries, const Packing& keys) const;

  void visit(Visitor& v);
};

}  // namespace attend
