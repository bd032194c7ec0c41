// "The animal didn't cross the street because it was too tired", or too wide: what is it? A tiny
// decoder of two layers learns to say, and its last attention shows which word it read that from.
// Other seeds find other ways to the same answers: weights show what was read, not why.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "attend/decode/alignment.h"
#include "attend/decode/search.h"
#include "attend/models/transformer.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"
#include "attend/train/optimizer.h"

using namespace attend;

const std::vector<std::string> kWalkers = {"animal", "child", "horse", "robot", "tourist", "dog"};
const std::vector<std::string> kWays = {"street", "river", "bridge", "field", "road", "canyon"};
const std::vector<std::string> kOfWalkers = {"tired", "hungry", "lazy", "afraid"};
const std::vector<std::string> kOfWays = {"wide", "busy", "dark", "icy"};

// Words by number, after the special ones.
const SpecialTokens kSpecial;
std::map<std::string, int32_t> ids;
std::vector<std::string> words(3);
int32_t id(const std::string& word) {
  const auto [place, is_new] = ids.emplace(word, static_cast<int32_t>(words.size()));
  if (is_new) words.push_back(word);
  return place->second;
}

std::vector<int32_t> sentence(const std::string& walker, const std::string& way,
                              const std::string& why) {
  std::vector<int32_t> all;
  for (const char* word : {"the", walker.c_str(), "did", "not", "cross", "the", way.c_str(),
                           "because", "it", "was", "too", why.c_str()}) {
    all.push_back(id(word));
  }
  return framed(all, {.end = true}, kSpecial);
}

int main() {
  std::vector<int32_t> sources, targets;
  size_t count = 0;
  for (const auto& walker : kWalkers) {
    for (const auto& way : kWays) {
      for (size_t i = 0; i < kOfWalkers.size() + kOfWays.size(); ++i, ++count) {
        const bool of_way = i >= kOfWalkers.size();
        const auto& why = of_way ? kOfWays[i - kOfWalkers.size()] : kOfWalkers[i];
        const auto text = sentence(walker, way, why);
        sources.insert(sources.end(), text.begin(), text.end());
        targets.push_back(id(of_way ? way : walker));
      }
    }
  }
  TransformerConfig config;
  config.source_vocabulary = config.target_vocabulary = words.size();
  config.width = 32, config.heads = 1, config.feed_forward = 64;
  config.encoder_layers = 0, config.decoder_layers = 2;  // words are looked at as they are
  config.tying = Tying::kAll;
  Rng rng(2);
  Transformer model(config, rng);
  Optimizer optimizer(parameters(model), {.rate = 3e-3});
  const Batch all("source", {sources, Packing::even(count, 13)});
  const TeacherRows rows = teacher_rows({targets, Packing::even(count, 1)}, kSpecial);
  for (int step = 0; step < 300; ++step) {
    backward(cross_entropy(model.logits(all, rows.inputs), rows.labels));
    optimizer.step();
  }

  for (const std::string why : {"tired", "wide"}) {
    const Tokens source = one_sequence(sentence("animal", "street", why));
    const Batch inputs("source", source);
    const Hypothesis best =
        search(model, inputs, SearchConfig{.beam = 1}, {.special = kSpecial})[0][0];
    fmt::print("the animal did not cross the street because it was too {}: it = {}\n", why,
               words[static_cast<size_t>(best.tokens.at(0))]);
    const Tensor weights = alignments(model, inputs, one_sequence(best.tokens), kSpecial,
                                      {.layer = "decoder.1.cross"})[0];
    const auto row = weights.slice_rows(0, 1).span();
    const auto most = std::ranges::max_element(row) - row.begin();
    fmt::print("  read from '{}'\n", words[static_cast<size_t>(source.ids.indices()[most])]);
  }
}

// Prints:
// the animal did not cross the street because it was too tired: it = animal
//   read from 'animal'
// the animal did not cross the street because it was too wide: it = street
//   read from 'street'
