// A causal Transformer of two layers with one sequence, "text", which it writes.
#pragma once

#include "attend/models/block.h"
#include "attend/models/model.h"
#include "attend/tensor/tape.h"

namespace attend {

class SmallLanguageModel : public Model, public Generator {
 public:
  SmallLanguageModel(size_t vocabulary, Rng& rng) : vocabulary_(vocabulary) {
    BlockConfig config;
    config.width = 16;
    config.feed_forward = 32;
    config.activation = FeedForwardKind::kGelu;  // smooth, for finite differences
    config.attention.heads = 2;
    embedding_ = PlacedEmbedding({.scheme = PositionScheme::kSinusoidal},
                                 Embedding(vocabulary, config.width, rng), rng);
    for (const char* name : {"layers.0", "layers.1"}) blocks_.emplace_back(config, true, name, rng);
  }

  void visit(Visitor& v) override {
    v("embedding", embedding_.table);
    v("layers", blocks_);
  }
  Signature signature() const override {
    Signature signature{{{.name = "text", .written = true}}, {}};
    for (const SelfBlock& block : blocks_) {
      signature.layers.push_back({block.self.name, "text", "text", 2});
    }
    return signature;
  }
  const Generator* generator() const override { return this; }

  using Generator::start, Generator::step;
  size_t vocabulary() const override { return vocabulary_; }

  Forced force(const Batch&, const Tokens& written) const override {
    Tensor x = embedding_(written.ids, written.packing);
    for (const SelfBlock& block : blocks_) x = block(x, written.packing);
    return {embedding_.table.tied_output()(x)};
  }

  std::unique_ptr<State> start() const override {
    auto state = std::make_unique<Writing>();
    for (const SelfBlock& block : blocks_) state->caches.push_back(block.self.cache(0));
    return state;
  }

  Tensor step(State& state, const Tokens& tokens, StepRows rows) const override {
    const NoGrad no_grad;
    auto& writing = dynamic_cast<Writing&>(state);
    Tensor x = embedding_(tokens.ids, tokens.packing, writing.hypotheses.lengths());
    writing.hypotheses.advance(tokens.packing);
    for (size_t i = 0; i < blocks_.size(); ++i) {
      x = blocks_[i].step(x, tokens.packing, writing.caches[i]);
    }
    return embedding_.table.tied_output()(wanted_rows(x, tokens.packing, rows));
  }

 private:
  struct Writing : State {
    Hypotheses hypotheses;
    std::vector<KeyValueCache> caches;

    size_t size() const override { return hypotheses.size(); }
    std::vector<int32_t> lengths() const override {
      return {hypotheses.lengths().begin(), hypotheses.lengths().end()};
    }
    void admit(const Batch& inputs) override {
      hypotheses.admit(inputs.size());
      for (KeyValueCache& cache : caches) cache.admit(inputs.size());
    }
    void reorder(std::span<const size_t> parents) override {
      hypotheses.reorder(parents);
      for (KeyValueCache& cache : caches) cache.reorder(parents);
    }
    void rewind(std::span<const int32_t> lengths) override {
      hypotheses.rewind(lengths);
      for (KeyValueCache& cache : caches) cache.rewind(lengths);
    }
  };

  size_t vocabulary_;
  PlacedEmbedding embedding_;
  std::vector<SelfBlock> blocks_;
};

}  // namespace attend
