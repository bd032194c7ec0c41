// Lesson 11. What an encoder may see, and what that makes of a word with two senses: a language
// model in both directions (ELMo) and one that fills masks (BERT), trained on the same text.
#include <fmt/format.h>

#include <cmath>

#include "attend/attention/recorder.h"
#include "attend/base/files.h"
#include "attend/decode/embed.h"
#include "attend/inspect/draw.h"
#include "attend/models/bert.h"
#include "attend/models/elmo.h"
#include "attend/nn/row_tap.h"
#include "attend/ops/embedding.h"
#include "attend/ops/shape.h"
#include "senses.h"

using namespace attend;

const Tokenizers tokenizers = senses_tokenizers();
constexpr uint64_t kTestSeed = 99;
constexpr size_t kTexts = 200;

std::vector<Sentence> test_sentences(bool with_bank) {
  std::vector<Sentence> found;
  for (uint64_t i = 0; found.size() < kTexts; ++i) {
    const Sentence s = sentence(RandomStream(kTestSeed, i));
    if ((s.place == "bank") == with_bank) found.push_back(s);
  }
  return found;
}

Batch batch_of(const std::vector<Sentence>& sentences, const Model& model) {
  std::vector<std::string> texts;
  for (const Sentence& s : sentences) texts.push_back(s.text);
  return texts_of(texts, model, tokenizers);
}

void train_on_sentences(Model& model, std::string_view objective, uint64_t steps) {
  train(model, tokenizers, {objective, steps, 5e-3, [&](uint64_t step) {
                              std::vector<Sentence> some;
                              for (uint64_t i = 0; i < 32; ++i) {
                                some.push_back(sentence(RandomStream(3, 32 * step + i)));
                              }
                              return batch_of(some, model);
                            }});
}

// Of shore and office, the share of the one that stands there; row i is of sentence i.
void print_chance(std::string_view reader, const std::vector<Sentence>& sentences,
                  const std::function<Tensor(size_t i)>& logits) {
  double before = 0, after = 0, count_before = 0, count_after = 0;
  for (size_t i = 0; i < sentences.size(); ++i) {
    const Tensor row = logits(i);
    const auto of = [&](size_t sense) {
      return double{row.data()[tokenizers.at("text")->encode(kPlaces[sense])[0]]};
    };
    const size_t sense = sentences[i].sense;
    const double right = 1 / (1 + std::exp(of(1 - sense) - of(sense)));
    (sentences[i].clue_before ? before : after) += right;
    ++(sentences[i].clue_before ? count_before : count_after);
  }
  fmt::print("{:<28}{:12.0f} %{:14.0f} %\n", reader, 100 * before / count_before,
             100 * after / count_after);
}

void what_may_be_seen(const Model& elmo, const Model& bert) {
  const std::vector<Sentence> sentences = test_sentences(false);
  const Batch read = batch_of(sentences, elmo);
  const Packing& packing = read["text"].packing;
  const auto [forward, backward] = elmo.bidirectional_predictor()->predict_both(read);
  fmt::print("shore or office?             clue before it  clue after it\n");
  // Each sequence has a row less than tokens; the place is token word + 1, after the start.
  const auto row_of = [&](const Tensor& logits, size_t i, size_t row) {
    return logits.slice_rows(packing.begin(i) - i + row, 1);
  };
  print_chance("forwards", sentences,
               [&](size_t i) { return row_of(forward, i, sentences[i].word); });
  print_chance("backwards", sentences,
               [&](size_t i) { return row_of(backward, i, sentences[i].word + 1); });
  const Tokens text = read.tokens("text");
  std::vector<int32_t> hidden(text.ids.index_span().begin(), text.ids.index_span().end()), places;
  for (size_t i = 0; i < sentences.size(); ++i) {
    places.push_back(static_cast<int32_t>(packing.begin(i) + sentences[i].word + 1));
    hidden[static_cast<size_t>(places.back())] = kMask;
  }
  const Tensor filled =
      bert.masked_predictor()
          ->predict({"text", Tokens(hidden, packing)}, Tensor::ids(places, {places.size()}))
          .tokens;
  print_chance("both ways, the word hidden", sentences,
               [&](size_t i) { return filled.slice_rows(i, 1); });
}

// The layers of an encoder, as its rows pass through them.
struct Stages : RowTap {
  std::vector<Tensor> rows;
  void see(const std::string& /*stage*/, const Tensor& seen) override { rows.push_back(seen); }
};

// Of each bank the nearest other one: how often does it have the same sense? And of shore and
// office, is the nearer one the right one?
void print_senses(std::string_view name, const Tensor& bank_rows, const Tensor& other_rows) {
  const std::vector<Sentence> banks = test_sentences(true), others = test_sentences(false);
  const auto at_place = [](const std::vector<Sentence>& sentences, const Tensor& rows) {
    std::vector<int32_t> places;
    for (size_t i = 0; i < sentences.size(); ++i) {
      places.push_back(static_cast<int32_t>(14 * i + sentences[i].word + 1));
    }
    return NearestVectors(gather_rows(rows, Tensor::ids(places, {places.size()})));
  };
  const NearestVectors bank = at_place(banks, bank_rows), other = at_place(others, other_rows);
  double same = 0, right = 0, apart = 0, together = 0, pairs_apart = 0, pairs_together = 0;
  for (size_t i = 0; i < kTexts; ++i) {
    const std::vector<size_t> itself = {i};
    same += banks[bank(bank.unit(i), 1, itself)[0].number].sense == banks[i].sense ? 1 : 0;
    right += others[other(bank.unit(i), 1)[0].number].sense == banks[i].sense ? 1 : 0;
    for (size_t j = 0; j < i; ++j) {
      const bool alike = banks[i].sense == banks[j].sense;
      (alike ? together : apart) += cosine(bank.unit(i), bank.unit(j));
      ++(alike ? pairs_together : pairs_apart);
    }
  }
  fmt::print("{:<16}{:10.2f}{:13.2f}{:16.0f} %{:20.0f} %\n", name, together / pairs_together,
             apart / pairs_apart, 100 * same / kTexts, 100 * right / kTexts);
}

void senses_of_bank(const ElmoEncoder& elmo, const Model& bert) {
  fmt::print("\n                  cosine of two banks        nearest bank:    shore or office,\n");
  fmt::print("                one sense   two senses     the same sense    the right is nearer\n");
  const Tokens banks = batch_of(test_sentences(true), bert).tokens("text");
  const Tokens others = batch_of(test_sentences(false), bert).tokens("text");
  const auto a = elmo.directions(banks), b = elmo.directions(others);
  for (size_t layer = 0; layer < a.forward.size(); ++layer) {
    const auto both = [&](const ElmoEncoder::Directions& of) {
      return concat({of.forward[layer], of.backward[layer]}, -1);
    };
    print_senses(layer == 0 ? "ELMo, embedding" : fmt::format("ELMo, layer {}", layer), both(a),
                 both(b));
  }
  print_senses("ELMo, mixture", elmo.rows(banks), elmo.rows(others));
  Stages stages;
  bert.encoder()->encode({"text", banks});
  const std::vector<Tensor> first = std::exchange(stages.rows, {});
  bert.encoder()->encode({"text", others});
  for (size_t layer = 0; layer < first.size(); ++layer) {
    print_senses(layer == 0 ? "BERT, embedding" : fmt::format("BERT, layer {}", layer),
                 first[layer], stages.rows[layer]);
  }
}

// What the row of "bank" looks at, in both senses.
void draw_bank(const Model& bert, const std::string& file) {
  std::vector<HeatMap> maps;
  for (const char* seen : {"river and the boat", "loan and the fee"}) {
    const std::string text = std::string("I arrived at the bank after seeing the ") + seen;
    Recorder recorder;
    bert.encoder()->encode(texts_of({text}, bert, tokenizers));
    HeatMap map{.title = "what bank looks at"};
    map.columns = tokenizers.at("text")->pieces(text);
    map.columns.insert(map.columns.begin(), "<s>"), map.columns.push_back("</s>");
    std::vector<Tensor> rows;
    for (const RecordedHead& head : recorder.heads) {
      rows.push_back(head.weights.slice_rows(5, 1));
      map.rows.push_back(fmt::format("{}, head {}", head.layer, head.head));
    }
    map.values = concat(rows, 0);
    maps.push_back(std::move(map));
  }
  replace_file(file, draw_maps(maps, PictureFormat::kSvg));
}

int main(int arguments, char** argument) {
  ElmoConfig of_elmo;
  of_elmo.width = 24, of_elmo.dropout = 0;
  const auto elmo = new_model("elmo", of_elmo, tokenizers);
  train_on_sentences(*elmo, "both_directions", 1500);
  BertConfig of_bert;
  of_bert.width = 32, of_bert.layers = 2, of_bert.heads = 2, of_bert.max_length = 16;
  of_bert.dropout = of_bert.attention_dropout = 0, of_bert.init = 0.1f;
  const auto bert = new_model("bert", of_bert, tokenizers);
  train_on_sentences(*bert, "masked_tokens", 3000);

  const NoGrad no_grad;
  what_may_be_seen(*elmo, *bert);
  senses_of_bank(dynamic_cast<const ElmoEncoder&>(*elmo->shared_encoder()), *bert);
  if (arguments > 1) draw_bank(*bert, argument[1]);
}

// Prints, numbers within 5 %:
// shore or office?             clue before it  clue after it
// forwards                              98 %            50 %
// backwards                             50 %            99 %
// both ways, the word hidden            99 %            99 %
//
//                   cosine of two banks        nearest bank:    shore or office,
//                 one sense   two senses     the same sense    the right is nearer
// ELMo, embedding       1.00         1.00              50 %                  50 %
// ELMo, layer 1         0.89         0.89             100 %                  50 %
// ELMo, layer 2         0.87         0.85             100 %                  78 %
// ELMo, mixture         0.92         0.92             100 %                  50 %
// BERT, embedding       0.76         0.76              53 %                  53 %
// BERT, layer 1         0.82         0.76             100 %                  82 %
// BERT, layer 2         0.98         0.40             100 %                 100 %
