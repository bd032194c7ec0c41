// A made-up text in which one word has two senses, for the programs of lesson 11: "anna arrived at
// the bank after seeing the river and the boat". What was seen tells which bank it is; the shore
// and the office have one sense each, and the same company.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attend/models/model_config.h"
#include "attend/ops/elementwise.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"
#include "attend/train/objective.h"
#include "attend/train/optimizer.h"

const std::array<std::string, 8> kPersons = {"I",   "anna", "tom",  "mary",
                                             "eva", "paul", "rosa", "max"};
const std::array<std::array<std::string, 12>, 2> kThings = {
    {{"river", "boat", "fish", "reed", "swan", "ferry", "wave", "otter", "canoe", "duck", "stream",
      "bridge"},
     {"loan", "fee", "rent", "debt", "bill", "tax", "cheque", "coin", "price", "wage", "fund",
      "clerk"}}};
const std::array<std::string, 2> kPlaces = {"shore", "office"};

struct Sentence {
  std::string person, place, text;
  size_t word = 0;  // of the place
  size_t sense = 0;
  bool clue_before = false;
};

inline Sentence sentence(attend::RandomStream random) {
  Sentence s;
  s.sense = random.below(0, 2);
  s.clue_before = random.bernoulli(1, 0.5);
  s.person = kPersons[random.below(2, kPersons.size())];
  s.place = random.bernoulli(3, 0.5) ? "bank" : kPlaces[s.sense];
  const auto& things = kThings[s.sense];
  const std::string clue =
      "after seeing the " + things[random.below(4, 12)] + " and the " + things[random.below(5, 12)];
  const std::string arrival = s.person + " arrived at the " + s.place;
  s.text = s.clue_before ? clue + " " + arrival : arrival + " " + clue;
  s.word = s.clue_before ? 11 : 4;
  return s;
}

// What may follow a sentence.
inline std::string what_follows(const Sentence& s, attend::RandomStream random) {
  return s.person + " liked the " + kThings[s.sense][random.below(6, 12)];
}

inline attend::Tokenizers senses_tokenizers() {
  std::vector<std::string> lines;
  for (uint64_t i = 0; i < 1000; ++i) {
    const attend::RandomStream random(1, i);
    lines.push_back(sentence(random).text + " liked");
  }
  const auto words = attend::train_tokenizer(
      {.kind = attend::TokenizerKind::kWord, .vocabulary = 0, .mask = true}, lines);
  const std::vector<std::string> labels = {"nature", "money"};
  return {{"text", words},
          {"pair", words},
          {"label", attend::train_tokenizer({.kind = attend::TokenizerKind::kLine, .vocabulary = 0},
                                            labels)}};
}

// A model of some kind with its settings, for these tokens.
template <typename Config>
std::unique_ptr<attend::Model> new_model(std::string_view kind, const Config& settings,
                                         const attend::Tokenizers& tokenizers, uint64_t seed = 1) {
  attend::ModelConfig config(kind);
  config.settings = attend::AnyConfig(settings);
  config.set_vocabularies({{"text", tokenizers.at("text")->size()}, {"label", 2}});
  attend::Rng rng(seed);
  return make_model(config, rng);
}

// A column of texts, as a model reads them.
inline attend::Batch texts_of(const std::vector<std::string>& texts, const attend::Model& model,
                              const attend::Tokenizers& tokenizers,
                              const std::vector<std::string>& pairs = {},
                              const std::vector<std::string>& labels = {}) {
  attend::Batch batch(texts.size());
  const auto add = [&](const std::string& column, const std::vector<std::string>& lines) {
    attend::TokenLines ids;
    for (const std::string& line : lines) ids.add(tokenizers.at(column)->encode(line));
    if (!lines.empty()) batch.add(column, ids.tokens());
  };
  add("text", texts), add("pair", pairs), add("label", labels);
  return training_batch(batch, model.signature(), tokenizers);
}

struct Lessons {
  std::string_view objective;
  uint64_t steps = 400;
  double rate = 5e-3;
  std::function<attend::Batch(uint64_t step)> batch;
};

// Adam, the rate falling to zero.
inline void train(attend::Model& model, const attend::Tokenizers& tokenizers,
                  const Lessons& lessons) {
  const auto objective =
      attend::objective_kind(lessons.objective).make(attend::RunConfig(), model.signature());
  attend::Optimizer optimizer(attend::parameters(model), {.rate = lessons.rate, .clip_norm = 1.0});
  for (uint64_t step = 0; step < lessons.steps; ++step) {
    const attend::TrainingScope training(attend::Rng(1, step << 32));
    const attend::Loss loss = objective->loss(model, lessons.batch(step),
                                              {.tokenizers = tokenizers,
                                               .epoch = step,
                                               .random = attend::RandomStream(2, step),
                                               .training = true});
    backward(scale(loss.sum, 1.0f / static_cast<float>(loss.count)));
    optimizer.step(1.0 - static_cast<double>(step) / static_cast<double>(lessons.steps));
  }
}
