// Word vectors: a table that a one-hot vector selects from, learned by predicting the words around
// each word (Mikolov et al., 2013); what its distances and directions mean, and what those of
// spellings do not. With the name of a file as its argument it draws the cosines of all words.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "attend/base/files.h"
#include "attend/decode/embed.h"
#include "attend/inspect/draw.h"
#include "attend/nn/init.h"
#include "attend/ops/embedding.h"
#include "attend/ops/linear.h"
#include "attend/ops/word_context.h"
#include "attend/tensor/tape.h"
#include "attend/train/optimizer.h"

using namespace attend;

// Who a person is shows only in the company: his or her, a crown or a cap, at work or at play.
const std::vector<std::string> kWords = {"man",    "woman",    "boy",  "girl", "king", "queen",
                                         "prince", "princess", "his",  "her",  "cap",  "cabin",
                                         "crown",  "castle",   "work", "play", "lost", "at"};
constexpr size_t kWidth = 12, kSentences = 4, kLength = 6, kReach = 5, kNegatives = 5;

int32_t number_of(const std::string& word) {
  return static_cast<int32_t>(std::ranges::find(kWords, word) - kWords.begin());
}

// "king lost his crown at work", of 8 persons and 2 things of each rank.
std::array<int32_t, kLength> sentence(RandomStream random) {
  const uint64_t person = random.below(0, 8);
  const bool female = person % 2 == 1, young = person % 4 >= 2, royal = person >= 4;
  const char* const things[2][2] = {{"cap", "cabin"}, {"crown", "castle"}};
  return {static_cast<int32_t>(person),
          number_of("lost"),
          number_of(female ? "her" : "his"),
          number_of(things[royal][random.below(1, 2)]),
          number_of("at"),
          number_of(young ? "play" : "work")};
}

// Some sentences: each word is told by its neighbours from words that are drawn.
struct Lesson {
  Tensor ids;
  WordWindows windows;

  explicit Lesson(uint64_t step) {
    std::vector<int32_t> all;
    windows.reach = kReach;
    for (uint64_t s = 0; s < kSentences; ++s) {
      const RandomStream random(step, s);
      const size_t first = all.size();
      for (const int32_t id : sentence(random)) {
        windows.first_output.push_back(static_cast<uint32_t>(windows.outputs.size()));
        windows.begin.push_back(static_cast<uint32_t>(first));
        windows.end.push_back(static_cast<uint32_t>(first + kLength));
        windows.outputs.push_back(id), windows.signs.push_back(-1);
        for (uint64_t k = 0; k < kNegatives; ++k) {
          const auto wrong =
              static_cast<int32_t>(random.below(2 + all.size() * kNegatives + k, kWords.size()));
          windows.outputs.push_back(wrong), windows.signs.push_back(wrong == id ? 0 : 1);
        }
        all.push_back(id);
      }
    }
    windows.first_output.push_back(static_cast<uint32_t>(windows.outputs.size()));
    ids = Tensor::ids(all, {all.size()});
  }
};

// How often each letter occurs.
std::vector<float> letters_of(const std::string& word) {
  std::vector<float> count(26);
  for (const char c : word) ++count[static_cast<size_t>(c - 'a')];
  return count;
}

// How near each word's vector is to those of the others.
HeatMap cosines_of(const NearestVectors& vectors) {
  const size_t count = kWords.size();
  HeatMap map{.title = "cosines of word vectors", .rows = kWords, .columns = kWords};
  map.values = Tensor::zeros({count, count});
  for (size_t i = 0; i < count; ++i) {
    for (const Neighbour& other : vectors(vectors.unit(i), count)) {
      map.values.data()[i * count + other.number] = static_cast<float>(other.similarity);
    }
  }
  map.has_sign = true;
  return map;
}

int main(int arguments, char** argument) {
  Rng rng(1);
  const Tensor table = parameter({kWords.size(), kWidth}, Init::kUniform, rng, 0.5f);
  const Tensor outputs = constant_parameter({kWords.size(), kWidth}, 0.0f);

  Tensor one_hot = Tensor::zeros({1, kWords.size()});
  one_hot.data()[number_of("king")] = 1;
  const Tensor product = matmul(one_hot, table), row = embedding(table, Tensor::ids({4}));
  fmt::print("one-hot times the table is the row: {}\n", product.to_vector() == row.to_vector());

  Optimizer optimizer({{"table", table}, {"outputs", outputs}},
                      {.kind = OptimizerKind::kSgd, .rate = 0.03});
  for (uint64_t step = 0; step < 6000; ++step) {
    const Lesson lesson(step);
    backward(word_context_loss(sparse_embedding(table, lesson.ids), outputs, lesson.windows).sum);
    optimizer.step(1.0 - static_cast<double>(step) / 6000);
  }

  const NearestVectors near(table.detach());
  Tensor spellings = Tensor::empty({kWords.size(), 26});
  for (size_t i = 0; i < kWords.size(); ++i) {
    std::ranges::copy(letters_of(kWords[i]), spellings.data() + i * 26);
  }
  const NearestVectors alike(spellings);
  fmt::print("\nnearest   by company           by spelling\n");
  for (const std::string word : {"crown", "cap", "work", "his", "girl"}) {
    const std::vector<size_t> self = {static_cast<size_t>(number_of(word))};
    const Neighbour a = near(near.unit(self[0]), 1, self)[0];
    const Neighbour b = alike(alike.unit(self[0]), 1, self)[0];
    fmt::print("{:8}  {:8} {:10.2f}  {:8} {:10.2f}\n", word, kWords[a.number], a.similarity,
               kWords[b.number], b.similarity);
  }

  fmt::print("\n");
  for (const auto& [a, b, c] : {std::array<std::string, 3>{"king", "man", "woman"},
                                {"princess", "girl", "boy"},
                                {"queen", "woman", "girl"}}) {
    const std::vector<size_t> known = {static_cast<size_t>(number_of(a)),
                                       static_cast<size_t>(number_of(b)),
                                       static_cast<size_t>(number_of(c))};
    std::vector<float> query(kWidth);
    for (size_t k = 0; k < kWidth; ++k) {
      query[k] = near.unit(known[0])[k] - near.unit(known[1])[k] + near.unit(known[2])[k];
    }
    const Neighbour found = near(query, 1, known)[0];
    fmt::print("{} - {} + {} = {}\n", a, b, c, kWords[found.number]);
  }
  if (arguments > 1) {
    const HeatMap map = cosines_of(near);
    replace_file(argument[1], draw_maps({&map, 1}, PictureFormat::kSvg));
  }
}

// Prints, numbers within 5 %:
// one-hot times the table is the row: true
//
// nearest   by company           by spelling
// crown     castle         1.00  work           0.67
// cap       cabin          1.00  play           0.58
// work      play           0.44  crown          0.67
// his       her            0.44  princess       0.55
// girl      boy            0.59  king           0.50
//
// king - man + woman = queen
// princess - girl + boy = prince
// queen - woman + girl = princess
