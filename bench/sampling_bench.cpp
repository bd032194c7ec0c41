// What choosing a token takes beside a model's step: a vocabulary of GPT-2's size, one hypothesis.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attend/base/rng.h"
#include "attend/decode/chooser.h"

namespace attend {
namespace {

constexpr size_t kVocabulary = 50257;

// Gives the same logits after any token, at the cost of a copy.
class FixedGenerator : public Generator {
 public:
  explicit FixedGenerator(float deviation) : logits_(Tensor::empty({1, kVocabulary})) {
    fill_normal(logits_.span(), RandomStream(1, 1), 0.0f, deviation);
  }

  struct Counted : State {
    Hypotheses hypotheses;
    size_t size() const override { return hypotheses.size(); }
    void admit(const Batch& inputs) override { hypotheses.admit(inputs.size()); }
    void reorder(std::span<const size_t> parents) override { hypotheses.reorder(parents); }
    void rewind(std::span<const int32_t> lengths) override { hypotheses.rewind(lengths); }
    std::vector<int32_t> lengths() const override {
      return {hypotheses.lengths().begin(), hypotheses.lengths().end()};
    }
  };

  size_t vocabulary() const override { return kVocabulary; }
  std::unique_ptr<State> start() const override { return std::make_unique<Counted>(); }
  Tensor step(State& state, const Tokens& tokens, StepRows /*rows*/) const override {
    dynamic_cast<Counted&>(state).hypotheses.advance(tokens.packing);
    const Tensor logits = Tensor::empty(logits_.shape());
    std::ranges::copy(logits_.span(), logits.data());
    return logits;
  }
  Forced force(const Batch& /*inputs*/, const Tokens& /*written*/) const override {
    return {logits_};
  }

 private:
  Tensor logits_;
};

void choose(benchmark::State& bench, const SearchConfig& config, float deviation) {
  const FixedGenerator model(deviation);
  const SearchRuntime runtime;
  Frontier frontier(model, runtime);
  SearchRequest request{.config = config};
  request.config.min_length = request.config.max_length = 1'000'000'000;
  frontier.admit(Batch(1), {request});
  Chooser chooser;
  for (auto _ : bench) {
    frontier.advance(chooser(frontier));
    if (frontier.live().front().so_far.tokens.size() < 1024) continue;
    frontier.retire(frontier.live().front().record);
    frontier.admit(Batch(1), {request});
  }
}

// A peaked distribution, as trained models have, and one that is nearly flat.
void register_all() {
  const std::pair<const char*, SearchConfig> configs[] = {
      {"greedy", {.beam = 1}},
      {"default", {.sample = true, .temperature = 0.8f, .top_k = 40, .top_p = 0.95f}},
      {"plain", {.sample = true}},
      {"top_p", {.sample = true, .temperature = 0.8f, .top_p = 0.95f}},
      {"min_p", {.sample = true, .temperature = 0.8f, .min_p = 0.05f}},
      {"typical", {.sample = true, .typical_p = 0.95f}},
      {"penalties",
       {.sample = true,
        .temperature = 0.8f,
        .top_k = 40,
        .top_p = 0.95f,
        .repetition_penalty = 1.1f,
        .frequency_penalty = 0.2f}},
  };
  for (const auto& [name, config] : configs) {
    for (const float deviation : {4.0f, 0.3f}) {
      const std::string title =
          std::string("choose/") + name + (deviation > 1.0f ? "/peaked" : "/flat");
      benchmark::RegisterBenchmark(title.c_str(), [config = config, deviation](auto& bench) {
        choose(bench, config, deviation);
      })->Unit(benchmark::kMicrosecond);
    }
  }
}

const bool registered = (register_all(), true);

}  // namespace
}  // namespace attend
