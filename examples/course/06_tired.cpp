// Lesson 6. "The red animal did not cross the blue street because it was too tired", or too wide:
// what is it, and what colour is it? Two layers of attention answer from the row of `it`, once
// with weights that are computed from the words, once with weights computed from positions alone.
// With the name of a file as its argument it draws what `it` looks at.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "attend/attention/multi_head.h"
#include "attend/attention/recorder.h"
#include "attend/base/files.h"
#include "attend/inspect/draw.h"
#include "attend/nn/embedding.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/elementwise.h"
#include "attend/tensor/tape.h"
#include "attend/train/optimizer.h"

using namespace attend;

const std::vector<std::string> kWalkers = {"animal", "child", "horse", "robot"};
const std::vector<std::string> kWays = {"street", "river", "bridge", "canyon"};
const std::vector<std::string> kWhy = {"tired", "hungry", "afraid", "wide", "dark", "icy"};
const std::vector<std::string> kColours = {"red", "blue", "green", "black"};
constexpr size_t kWidth = 32, kIt = 10, kWords = 14;

std::map<std::string, int32_t> ids;
std::vector<std::string> words;
int32_t id(const std::string& word) {
  const auto [place, is_new] = ids.emplace(word, static_cast<int32_t>(words.size()));
  if (is_new) words.push_back(word);
  return place->second;
}

struct Sentence {
  std::vector<int32_t> words;
  int32_t referent, colour;

  // Colour and name of who walks, colour and name of the way, and the reason.
  explicit Sentence(const std::array<std::string, 5>& w) {
    for (const std::string& word :
         {std::string("the"), w[0], w[1], std::string("did"), std::string("not"),
          std::string("cross"), std::string("the"), w[2], w[3], std::string("because"),
          std::string("it"), std::string("was"), std::string("too"), w[4]}) {
      words.push_back(id(word));
    }
    const bool walks = std::ranges::find(kWhy, w[4]) - kWhy.begin() < 3;
    referent = id(w[walks ? 1 : 3]), colour = id(w[walks ? 0 : 2]);
  }
};

// x + attention(x), twice, then a linear layer: no MLP.
struct Reader {
  bool by_words;
  Embedding table;
  Tensor positions;  // [words, width]
  std::vector<Linear> query, key, value;
  Linear output;

  Reader(bool from_words, Rng& rng)
      : by_words(from_words), table(words.size(), kWidth, rng), output(kWidth, words.size(), rng) {
    positions = parameter({kWords, kWidth}, Init::kNormal, rng, 0.2f);
    for (int layer = 0; layer < 2; ++layer) {
      for (auto* part : {&query, &key, &value}) part->emplace_back(kWidth, kWidth, rng);
    }
  }

  Tensor operator()(const Tokens& tokens) const {
    std::vector<int32_t> place(tokens.packing.rows());
    for (size_t i = 0; i < place.size(); ++i) place[i] = static_cast<int32_t>(i % kWords);
    const Tensor where = embedding(positions, Tensor::ids(place, {place.size()}));
    Tensor x = add(table(tokens.ids), where);
    for (size_t layer = 0; layer < 2; ++layer) {
      const Tensor& seen = by_words ? x : where;  // what decides where to look
      x = add(x, attention(query[layer](seen), key[layer](seen), value[layer](x),
                           {.queries = tokens.packing, .keys = tokens.packing})
                     .output);
    }
    std::vector<int32_t> it(tokens.count());
    for (size_t i = 0; i < it.size(); ++i) it[i] = static_cast<int32_t>(i * kWords + kIt);
    return output(gather_rows(x, Tensor::ids(it, {it.size()})));
  }

  void visit(Visitor& v) {
    v("table", table);
    v("positions", positions);
    v("query", query);
    v("key", key);
    v("value", value);
    v("output", output);
  }
};

struct Data {
  TokenLines lines;
  std::vector<int32_t> referents, colours;
};

Data sentences() {
  Data data;
  for (size_t n = 0; n < 4 * 4 * 4 * 4 * 6; ++n) {
    const std::string &a = kColours[n % 4], &b = kColours[n / 4 % 4];
    if (a == b) continue;
    const Sentence s({a, kWalkers[n / 16 % 4], b, kWays[n / 64 % 4], kWhy[n / 256]});
    data.lines.add(s.words);
    data.referents.push_back(s.referent), data.colours.push_back(s.colour);
  }
  return data;
}

Reader train(const Data& data, bool by_words, const std::vector<int32_t>& answers) {
  Rng rng(3);
  Reader reader(by_words, rng);
  Optimizer optimizer(parameters(reader), {.rate = 5e-3});
  const Tokens all = data.lines.tokens();
  for (uint64_t step = 0; step < 300; ++step) {
    const RandomStream random(6, step);
    std::vector<size_t> some(64);
    std::vector<int32_t> labels;
    for (size_t i = 0; i < some.size(); ++i) {
      some[i] = random.below(i, answers.size());
      labels.push_back(answers[some[i]]);
    }
    backward(
        cross_entropy(reader(pick_sequences(all, some)), Tensor::ids(labels, {labels.size()})));
    optimizer.step(1.0 - static_cast<double>(step) / 300);
  }
  const NoGrad no_grad;
  const Tensor logits = reader(all);
  size_t right = 0;
  for (size_t i = 0; i < answers.size(); ++i) {
    const auto row = logits.slice_rows(i, 1).span();
    right += std::ranges::max_element(row) - row.begin() == answers[i] ? 1 : 0;
  }
  fmt::print("{:12.0f} %",
             100.0 * static_cast<double>(right) / static_cast<double>(answers.size()));
  return reader;
}

int main(int arguments, char** argument) {
  const Data data = sentences();
  fmt::print("weights from    what is it?   what colour is it?\n");
  std::vector<HeatMap> maps;
  for (const bool by_words : {false, true}) {
    fmt::print("{:<13}", by_words ? "words" : "positions");
    train(data, by_words, data.referents);
    const Reader reader = train(data, by_words, data.colours);
    fmt::print("\n");
    const NoGrad no_grad;
    for (const char* why : {"tired", "wide"}) {
      const Sentence s({"red", "animal", "blue", "street", why});
      Recorder recorder;
      reader(one_sequence(s.words));
      const auto row = recorder.heads.back().weights.slice_rows(kIt, 1).span();
      fmt::print("  too {:<6} it looks {:3.0f} % at \"red animal\", {:3.0f} % at \"blue street\"\n",
                 std::string(why) + ":", 100 * (row[1] + row[2]), 100 * (row[7] + row[8]));
      HeatMap map{.title = fmt::format("it, too {}, weights from {}", why,
                                       by_words ? "words" : "positions"),
                  .rows = {"it"},
                  .values = Tensor::of(row, {1, kWords})};
      for (const int32_t word : s.words) map.columns.push_back(words[static_cast<size_t>(word)]);
      maps.push_back(std::move(map));
    }
  }
  if (arguments > 1) replace_file(argument[1], draw_maps(maps, PictureFormat::kSvg));
}

// Prints, numbers within 5 %:
// weights from    what is it?   what colour is it?
// positions             100 %          51 %
//   too tired: it looks  89 % at "red animal",  11 % at "blue street"
//   too wide:  it looks  89 % at "red animal",  11 % at "blue street"
// words                 100 %         100 %
//   too tired: it looks 100 % at "red animal",   0 % at "blue street"
//   too wide:  it looks   1 % at "red animal",  99 % at "blue street"
