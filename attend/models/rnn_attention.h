// How a recurrent decoder looks at its sources: all queries at once, or one of each sequence after
// another.
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

  // What there is to look at, its keys projected once for all steps.
  struct Source {
    Tensor keys, values;  // [rows, some], [rows, context_width]
    Packing packing;
  };
  Source remember(const Tensor& encoded, const Packing& packing) const;

  // q [rows, hidden], sequence by sequence, to contexts [rows, context_width]. Not with coverage.
  Tensor operator()(const Tensor& q, const Packing& queries, const Source& source) const;

  // What goes from step to step.
  struct Walk {
    UnrolledLinear query;
    CoverageState coverage;
    std::vector<Tensor> coverage_losses;  // of each step's rows
    size_t steps = 0;
  };
  Walk walk(const Source& source, size_t rows) const;  // rows as for UnrolledLinear
  // q [rows, hidden] of the next step. `queries` says how many of them the first sources have.
  Tensor step(const Tensor& q, const Packing& queries, const Source& source, Walk& walk) const;

  void visit(Visitor& v);

 private:
  Tensor query_weight() const;  // undefined where queries are compared as they are
  Tensor cover(const Tensor& q, const Source& source, Walk& walk) const;
  Mask mask_of(const Packing& queries, const Packing& keys, size_t place) const;
  Tensor look(const Tensor& q, const Packing& queries, const Source& source,
              const AttentionOptions& options) const;
};

}  // namespace attend
