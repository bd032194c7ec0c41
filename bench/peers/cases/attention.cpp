// The attention op, forwards alone and both ways.
#include "attend/attention/attention.h"

#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"
#include "bench/peers/cases.h"

namespace attend::peers {
namespace {

struct Call {
  std::vector<NamedTensor> leaves;  // q, k, v, then what is learned
  AttentionOptions options;

  Tensor operator()() const {
    const TrainingScope training{Rng(1)};
    return attention(leaves[0].tensor, leaves[1].tensor, leaves[2].tensor, options).output;
  }
};

Call call_of(const Inputs& in) {
  Call call{in.leaves({"q", "k", "v"}), {}};
  const std::vector<int32_t> heads = in.integers("heads");
  AttentionOptions& o = call.options;
  o.heads = static_cast<size_t>(heads[0]);
  o.kv_heads = static_cast<size_t>(heads[1]);
  o.queries = Packing(in.integers("q_lengths"));
  o.keys = Packing(in.integers("k_lengths"));
  o.mask.causal = in.has("causal");
  if (in.has("dropout")) o.dropout = in.number("dropout");
  if (in.has("bias")) {
    call.leaves.push_back(in.leaf("bias"));
    o.bias = call.leaves.back().tensor;
  }
  if (in.has("vector")) {
    call.leaves.push_back(in.leaf("vector"));
    o.score = Score::kAdditive;
    o.score_weights.vector = call.leaves.back().tensor;
  }
  return call;
}

Case forward_case(const Inputs& in) {
  return {{}, [call = call_of(in)] {
            const NoGrad no_grad;
            return call();
          }};
}

Case both_case(const Inputs& in) {
  const Call call = call_of(in);
  return both_ways(call.leaves, in.at("dy"), call);
}

const Kind attention_forward_kind("attention_forward", forward_case);
const Kind attention_both_kind("attention_both", both_case);
const Kind additive_forward_kind("additive_forward", forward_case);
const Kind additive_both_kind("additive_both", both_case);

}  // namespace
}  // namespace attend::peers
