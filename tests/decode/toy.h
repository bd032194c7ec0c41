// A model made of dice: its logits are a function of the source and of all that was written.
#pragma once

#include <cmath>
#include <vector>

#include "attend/base/rng.h"
#include "attend/models/generator.h"

namespace attend {

class ToyGenerator : public Generator {
 public:
  ToyGenerator(size_t vocabulary, uint64_t seed) : vocabulary_(vocabulary), seed_(seed) {}

  struct Written : State {
    Hypotheses hypotheses{0};
    std::vector<uint64_t> sources;
    std::vector<std::vector<int32_t>> tokens;
    std::vector<std::vector<size_t>>* reorders = nullptr;
    void reorder(std::span<const size_t> parents) override {
      reorders->emplace_back(parents.begin(), parents.end());
      hypotheses.reorder(parents);
      std::vector<std::vector<int32_t>> next;
      for (const size_t parent : parents) next.push_back(tokens[parent]);
      tokens = next;
    }
  };

  size_t vocabulary() const override { return vocabulary_; }

  std::unique_ptr<State> start(const Tokens& sources) const override {
    auto state = std::make_unique<Written>();
    const size_t count = sources.packing.count();
    state->hypotheses = Hypotheses(count);
    state->reorders = &reorders;
    state->tokens.resize(count);
    for (size_t s = 0; s < count; ++s) {
      uint64_t hash = 17;
      for (size_t i = sources.packing.begin(s); i < sources.packing.end(s); ++i) {
        hash = mix(hash, sources.ids.index_span()[i]);
      }
      state->sources.push_back(hash);
    }
    return state;
  }

  Tensor step(State& state, std::span<const int32_t> tokens) const override {
    auto& written = dynamic_cast<Written&>(state);
    steps.push_back(tokens.size());
    Tensor logits = Tensor::empty({tokens.size(), vocabulary_});
    for (size_t i = 0; i < tokens.size(); ++i) {
      written.tokens[i].push_back(tokens[i]);
      const uint64_t source = written.sources[written.hypotheses.source_of(i)];
      const std::vector<float> row = row_after(source, written.tokens[i]);
      std::copy(row.begin(), row.end(), logits.data() + i * vocabulary_);
    }
    return logits;
  }

  std::vector<float> row_after(uint64_t source, const std::vector<int32_t>& tokens) const {
    uint64_t hash = source;
    for (const int32_t token : tokens) hash = mix(hash, token);
    std::vector<float> row(vocabulary_);
    for (size_t v = 0; v < vocabulary_; ++v) {
      row[v] = static_cast<float>(2 * RandomStream(seed_, hash).normal(v));
    }
    return row;
  }

  mutable std::vector<size_t> steps;                  // rows of each step
  mutable std::vector<std::vector<size_t>> reorders;  // parents of each

 private:
  static uint64_t mix(uint64_t hash, int32_t token) {
    return hash * 1000003 + static_cast<uint64_t>(token) + 1;
  }
  size_t vocabulary_;
  uint64_t seed_;
};

}  // namespace attend
