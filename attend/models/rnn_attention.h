// The attention of a recurrent decoder: all queries at once, or step by step.
#pragma once

#include "attend/attention/coverage.h"
#include "attend/attention/local.h"
#include "attend/models/rnn_config.h"
#include "attend/ops/unrolled.h"

namespace attend {

struct RnnAttention {
  RnnConfig config;
  std::string name;      // for a Recorder
  ScoreWeights weights;  // global, and local-m
  LocalAttention local;  // local-p
  CoverageAttention coverage;

  RnnAttention() = default;
  RnnAttention(const RnnConfig& config, std::string name, Rng& rng);

  // The sources, with keys projected once for all steps.
  struct Source {
    Tensor keys, values;  // [rows, some], [rows, context_width]
    Packing packing;
  };
  // Projects sources; joins two batches of them; picks some.
  Source remember(const Tensor& encoded, const Packing& packing) const;
  static Source join(const Source& a, const Source& b);
  static Source pick(const Source& source, std::span<const size_t> records);

  // q [rows, hidden], sequence by sequence, to contexts [rows, context_width]. Not with coverage.
  Tensor operator()(const Tensor& q, const Packing& queries, const Source& source) const;

  // What is kept from step to step.
  struct Walk {
    UnrolledLinear query;
    CoverageState coverage;
    std::vector<Tensor> coverage_losses;  // of each step's rows
  };
  Walk walk(const Source& source,
            size_t rows) const;  // before the first step; rows as for UnrolledLinear

  // The rows of a step: `by_record` divides them by source, and `earlier` is the number of earlier
  // rows of each source's sequence.
  struct Rows {
    Packing by_record;
    std::vector<int32_t> earlier;
  };
  // The contexts of the next step, from q [rows, hidden].
  Tensor step(const Tensor& q, const Rows& rows, const Source& source, Walk& walk) const;

  void visit(Visitor& v);

 private:
  ProjectedScore projected() const;
  Tensor cover(const Tensor& q, const Source& source, Walk& walk) const;
  Mask mask_of(const Rows& rows, const Packing& keys) const;
  Tensor look(const Tensor& q, const Packing& queries, const Source& source,
              const AttentionOptions& options) const;
};

}  // namespace attend
