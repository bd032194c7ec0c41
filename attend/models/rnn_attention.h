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
  static Source join(const Source& a, const Source& b);
  static Source pick(const Source& source, std::span<const size_t> records);

  // q [rows, hidden], sequence by sequence, to contexts [rows, context_width]. Not with coverage.
  Tensor operator()(const Tensor& q, const Packing& queries, const Source& source) const;

  // What goes from step to step.
  struct Walk {
    UnrolledLinear query;
    CoverageState coverage;
    std::vector<Tensor> coverage_losses;  // of each step's rows
  };
  Walk walk(const Source& source, size_t rows) const;  // rows as for UnrolledLinear

  // The rows of a step: how many of them the first sources have, and how many rows the sequence of
  // each has had before.
  struct Rows {
    Packing by_record;
    std::vector<int32_t> earlier;
  };
  // q [rows, hidden] of the next step.
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
