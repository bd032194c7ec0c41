// A model made of dice: its logits are a function of what a record reads and of all that was
// written.
#pragma once

#include <algorithm>
#include <vector>

#include "attend/base/rng.h"
#include "attend/models/generator.h"

namespace attend {

// Reads a column "source", or nothing.
class ToyGenerator : public Generator {
 public:
  ToyGenerator(size_t vocabulary, uint64_t seed) : vocabulary_(vocabulary), seed_(seed) {}

  struct Written : State {
    Hypotheses hypotheses;
    std::vector<uint64_t> sources;  // of the records
    std::vector<std::vector<int32_t>> tokens;
    std::vector<std::vector<size_t>>* reorders = nullptr;

    size_t size() const override { return tokens.size(); }
    void admit(const Batch& inputs) override {
      hypotheses.admit(inputs.size());
      tokens.resize(tokens.size() + inputs.size());
      for (size_t i = 0; i < inputs.size(); ++i) {
        uint64_t hash = 17;
        if (inputs.has("source")) {
          const Tokens all = inputs.tokens("source");
          for (const int32_t id : all.sequence(i)) hash = mix(hash, id);
        }
        sources.push_back(hash);
      }
    }
    void reorder(std::span<const size_t> parents) override {
      reorders->emplace_back(parents.begin(), parents.end());
      hypotheses.reorder(parents);
      std::vector<std::vector<int32_t>> next;
      for (const size_t parent : parents) next.push_back(tokens[parent]);
      tokens = next;
    }
    void rewind(std::span<const int32_t> lengths) override {
      hypotheses.rewind(lengths);
      for (size_t i = 0; i < tokens.size(); ++i) tokens[i].resize(static_cast<size_t>(lengths[i]));
    }
    std::vector<int32_t> lengths() const override {
      return {hypotheses.lengths().begin(), hypotheses.lengths().end()};
    }
  };

  using Generator::start, Generator::step;
  size_t vocabulary() const override { return vocabulary_; }

  std::unique_ptr<State> start() const override {
    auto state = std::make_unique<Written>();
    state->reorders = &reorders;
    return state;
  }

  Tensor step(State& state, const Tokens& tokens, StepRows rows) const override {
    auto& written = dynamic_cast<Written&>(state);
    steps.push_back(tokens.packing.rows());
    const Tensor all = Tensor::empty({tokens.packing.rows(), vocabulary_});
    for (size_t i = 0, row = 0; i < tokens.count(); ++i) {
      const uint64_t source = written.sources[written.hypotheses.record_of(i)];
      for (const int32_t token : tokens.sequence(i)) {
        written.tokens[i].push_back(token);
        const std::vector<float> values = row_after(source, written.tokens[i]);
        std::ranges::copy(values, all.data() + row++ * vocabulary_);
      }
    }
    written.hypotheses.advance(tokens.packing);
    return wanted_rows(all, tokens.packing, rows);
  }

  Forced force(const Batch& inputs, const Tokens& written) const override {
    const auto state = start(inputs);
    return {step(*state, written, StepRows::kAll)};
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
