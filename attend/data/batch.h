// What a model sees at once, without padding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attend/data/corpus.h"
#include "attend/tensor/packing.h"

namespace attend {

struct Batch {
  std::vector<int32_t> source, target;  // targets without start and end
  Packing sources;                      // of `source`
  Packing targets;                      // of decoder_inputs() and labels(): one longer than target
  std::vector<size_t> lines;            // where each pair comes from

  // kStart and the target: what the decoder reads, and labels(), the target and kEnd: what it
  // should say to that.
  std::vector<int32_t> decoder_inputs() const { return with(kFront); }
  std::vector<int32_t> labels() const { return with(kBack); }

  size_t size() const { return sources.count(); }
  size_t tokens() const { return sources.rows() + targets.rows(); }

 private:
  enum Place { kFront, kBack };
  std::vector<int32_t> with(Place place) const;
};

struct BatchOptions {
  bool end_sources = true;  // kEnd after each source
};

Batch make_batch(const Corpus& corpus, std::span<const uint32_t> pairs,
                 const BatchOptions& options = {});
// `targets` may be empty: there is nothing to learn then, and each has length 0. lines are 1, 2 ...
Batch make_batch(std::span<const std::vector<int32_t>> sources,
                 std::span<const std::vector<int32_t>> targets = {},
                 const BatchOptions& options = {});

}  // namespace attend
