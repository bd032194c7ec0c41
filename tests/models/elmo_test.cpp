// The bidirectional language model: what each direction may see, and the mixture of its layers.
#include "attend/models/elmo.h"

#include <cmath>
#include <numeric>

#include "attend/models/label.h"
#include "attend/ops/elementwise.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"
#include "attend/train/objective.h"
#include "tests/errors.h"
#include "tests/models/generators.h"

namespace attend {
namespace {

ElmoConfig small_elmo() {
  ElmoConfig c;
  c.text_vocabulary = kSourceTokens;
  c.width = 6, c.layers = 3;
  return c;
}

ElmoModel elmo_model(const ElmoConfig& config = small_elmo()) {
  Rng rng(4);
  return {config, rng};
}

ElmoEncoder elmo_encoder(const ElmoConfig& config = small_elmo()) {
  Rng rng(4);
  return {config, rng};
}

Tokens with_other_token(const Tokens& text, size_t place) {
  std::vector<int32_t> ids(text.ids.index_span().begin(), text.ids.index_span().end());
  ids[place] = (ids[place] + 1) % static_cast<int32_t>(kSourceTokens);
  return {ids, text.packing};
}

bool same_row(const Tensor& a, const Tensor& b, size_t row) {
  return a.slice_rows(row, 1).to_vector() == b.slice_rows(row, 1).to_vector();
}

const std::vector<Cell> kCells = {Cell::kLstm, Cell::kGru, Cell::kRnnTanh};

// Each layer of each direction changes at the token and after it, in the order it reads, and
// nowhere else: neither before it nor in another text.
TEST(Elmo, ADirectionSeesNothingThatItHasStillToRead) {
  const NoGrad no_grad;
  for (const Cell cell : kCells) {
    ElmoConfig config = small_elmo();
    config.cell = cell;
    const ElmoEncoder encoder = elmo_encoder(config);
    const Tokens text = some_tokens({4, 6, 1}, kSourceTokens, 1);
    const auto before = encoder.directions(text);
    ASSERT_EQ(before.forward.size(), config.layers + 1);
    for (size_t changed = 0; changed < text.packing.rows(); ++changed) {
      const auto after = encoder.directions(with_other_token(text, changed));
      size_t sequence = 0;
      while (text.packing.end(sequence) <= changed) ++sequence;
      for (size_t row = 0; row < text.packing.rows(); ++row) {
        const bool own = row >= text.packing.begin(sequence) && row < text.packing.end(sequence);
        for (size_t layer = 0; layer <= config.layers; ++layer) {
          SCOPED_TRACE(fmt::format("token {}, row {}, layer {}", changed, row, layer));
          const bool forward = layer == 0 ? row == changed : own && row >= changed;
          const bool backward = layer == 0 ? row == changed : own && row <= changed;
          EXPECT_EQ(same_row(before.forward[layer], after.forward[layer], row), !forward);
          EXPECT_EQ(same_row(before.backward[layer], after.backward[layer], row), !backward);
        }
      }
    }
  }
}

// Whatever stands at a place, neither direction's prediction for it changes.
TEST(Elmo, APredictionDoesNotDependOnWhatItPredicts) {
  const NoGrad no_grad;
  const ElmoModel model = elmo_model();
  const Tokens text = some_tokens({5}, kSourceTokens, 2);
  const auto [forward, backward] = model.predict_both({"text", text});
  ASSERT_EQ(forward.shape(), Shape({4, kSourceTokens}));
  ASSERT_EQ(backward.shape(), Shape({4, kSourceTokens}));
  for (size_t place = 0; place < 5; ++place) {
    const auto other = model.predict_both({"text", with_other_token(text, place)});
    // Forward row i is of token i + 1, backward row i of token i.
    for (size_t row = 0; row < 4; ++row) {
      EXPECT_EQ(same_row(forward, other.forward, row), place > row) << place << " " << row;
      EXPECT_EQ(same_row(backward, other.backward, row), place <= row) << place << " " << row;
    }
  }
}

TEST(Elmo, APredictionDoesNotDependOnItsBatch) {
  const NoGrad no_grad;
  const ElmoModel model = elmo_model();
  const std::vector<int32_t> lengths = {3, 7, 1, 2};
  const Tokens texts = some_tokens(lengths, kSourceTokens, 3);
  const auto [forward, backward] = model.predict_both({"text", texts});
  const Tensor rows = model.encode({"text", texts}).values;
  size_t first = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    const Tokens one = one_sequence(texts.sequence(i));
    const size_t count = texts.packing.length(i) - 1;
    const auto alone = model.predict_both({"text", one});
    expect_same(alone.forward, forward.slice_rows(first, count));
    expect_same(alone.backward, backward.slice_rows(first, count));
    expect_same(model.encode({"text", one}).values,
                rows.slice_rows(texts.packing.begin(i), texts.packing.length(i)));
    first += count;
  }
}

Loss loss_of(const ElmoModel& model, const Tokens& text) {
  const auto objective = make_both_directions(RunConfig(), model.signature());
  return objective->loss(model, {"text", text}, {.tokenizers = {}});
}

TEST(Elmo, EveryWeightOfTheLanguageModelLearns) {
  const Tokens text = some_tokens({4, 2, 6}, kSourceTokens, 5);
  for (const bool residual : {false, true}) {
    for (const bool tied : {false, true}) {
      ElmoConfig config = small_elmo();
      config.residual = residual, config.tied = tied;
      ElmoModel model = elmo_model(config);
      const auto loss = [&] {
        const Loss all = loss_of(model, text);
        return scale(all.sum, 1 / static_cast<float>(all.count));
      };
      backward(loss());
      // The mixture is a task's to learn; the language model does not use it.
      for (const NamedTensor& p : parameters(model)) {
        const bool mixture = p.name == "encoder.mix" || p.name == "encoder.gamma";
        ASSERT_EQ(p.tensor.grad().defined(), !mixture) << p.name;
        if (mixture) continue;
        expect_slope(p, loss);
      }
    }
  }
}

// A task on top of the vectors trains all of the encoder and the mixture.
TEST(Elmo, TheMixtureLearnsFromATask) {
  for (const bool norm : {false, true}) {
    ModelConfig config("label");
    auto& label = config.settings.as<LabelConfig>();
    label.text_vocabulary = kSourceTokens, label.label_vocabulary = 3;
    label.encoder = EncoderConfig("elmo");
    ElmoConfig elmo = small_elmo();
    elmo.mix_norm = norm;
    label.encoder.settings = AnyConfig(elmo);
    Rng rng(2);
    const auto model = make_model(config, rng);
    const Batch inputs("text", some_tokens({4, 2, 6}, kSourceTokens, 5));
    const Tensor labels = Tensor::ids({2, 0, 1});
    expect_slopes(*model,
                  [&] { return cross_entropy(model->classifier()->label_logits(inputs), labels); });
  }
}

TEST(Elmo, TheSharesAddUpToOneAndWeighTheLayers) {
  const NoGrad no_grad;
  ElmoConfig config = small_elmo();
  config.mix_norm = false;
  const ElmoEncoder encoder = elmo_encoder(config);
  const Tokens text = some_tokens({4, 2}, kSourceTokens, 6);
  const auto [forward, backward] = encoder.directions(text);
  const auto mixed_by = [&](const std::vector<float>& logits, float gamma) {
    std::ranges::copy(logits, encoder.mix.data());
    encoder.gamma.data()[0] = gamma;
    const std::vector<float> shares = encoder.shares().to_vector();
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1.0, 1e-6);
    const Tensor rows = encoder.rows(text);
    ASSERT_EQ(rows.shape(), Shape({6, 12}));
    for (size_t row = 0; row < 6; ++row) {
      for (size_t column = 0; column < 12; ++column) {
        double expected = 0;
        for (size_t layer = 0; layer < shares.size(); ++layer) {
          const Tensor& of = column < 6 ? forward[layer] : backward[layer];
          expected += shares[layer] * of.slice_rows(row, 1).span()[column % 6];
        }
        EXPECT_NEAR(rows.slice_rows(row, 1).span()[column], gamma * expected, 1e-5);
      }
    }
  };
  mixed_by({0, 0, 0, 0}, 1);
  mixed_by({0.5f, -2, 1, 3}, 2.5f);
  mixed_by({0, 100, 0, 0}, -1);
}

// The embedding of a token is the same in any text; each layer above knows what stands around it.
TEST(Elmo, ContextChangesTheVectorOfAToken) {
  const NoGrad no_grad;
  const ElmoEncoder encoder = elmo_encoder();
  const std::vector<int32_t> first = {1, 7, 3, 2}, second = {1, 7, 4, 2}, third = {1, 8, 3, 2};
  const auto a = encoder.directions(one_sequence(first));
  const auto b = encoder.directions(one_sequence(second));  // another word after token 7
  const auto c = encoder.directions(one_sequence(third));   // another word before token 3
  EXPECT_TRUE(same_row(a.forward[0], b.forward[0], 1));
  EXPECT_TRUE(same_row(a.forward[0], c.forward[0], 2));
  EXPECT_FALSE(same_row(a.backward[1], b.backward[1], 1));
  EXPECT_FALSE(same_row(a.forward[1], c.forward[1], 2));
  EXPECT_FALSE(same_row(encoder.rows(one_sequence(first)), encoder.rows(one_sequence(second)), 1));
}

TEST(Elmo, DropoutIsForTrainingAlone) {
  ElmoConfig config = small_elmo();
  config.dropout = 0.5f, config.recurrent_dropout = 0.25f;
  const ElmoModel model = elmo_model(config);
  const Tokens text = some_tokens({9}, kSourceTokens, 7);
  const float quiet = loss_of(model, text).sum.item();
  EXPECT_EQ(loss_of(model, text).sum.item(), quiet);
  const TrainingScope training(Rng(1));
  EXPECT_NE(loss_of(model, text).sum.item(), quiet);
}

TEST(Elmo, RefusesWhatCannotBe) {
  ElmoConfig config = small_elmo();
  config.dropout = 1.0f;
  expect_error<ConfigError>([&] { elmo_model(config); }, "elmo: a dropout of 1 is not within");
  config = small_elmo();
  config.text_vocabulary = 0;
  expect_error<ConfigError>([&] { elmo_model(config); }, "elmo: a vocabulary of 0 tokens");
}

}  // namespace
}  // namespace attend
