// Weights of one model as the start of another.
#include "attend/models/transfer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "attend/models/gpt.h"
#include "attend/models/label.h"
#include "attend/models/tagger.h"
#include "tests/errors.h"
#include "tests/files.h"
#include "tests/models/small_settings.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using TransferNames = std::vector<std::string>;

std::shared_ptr<const Tokenizer> transfer_letters(const std::string& letters) {
  return train_tokenizer({.kind = TokenizerKind::kCharacter, .vocabulary = 0},
                         TransferNames{letters});
}
std::shared_ptr<const Tokenizer> transfer_labels(const TransferNames& labels) {
  return train_tokenizer({.kind = TokenizerKind::kLine, .vocabulary = 0}, labels);
}

struct TransferredSizes {
  std::string text = "abcdef";
  TransferNames labels = {"bad", "good", "bad"};
  uint64_t seed = 1;
};

TextModel transfer_model(ModelConfig config, const TransferredSizes& made = {}) {
  make_small(config.settings);
  Tokenizers tokenizers;
  const auto text = transfer_letters(made.text), labels = transfer_labels(made.labels);
  for (const char* column : {"source", "target", "text"}) tokenizers[column] = text;
  tokenizers["label"] = tokenizers["tags"] = labels;
  ModelConfig::Vocabularies sizes;
  for (const auto& [column, tokenizer] : tokenizers) {
    sizes[column] = tokenizer->size() - (tokenizer == labels ? kSpecialTokens : 0);
  }
  config.set_vocabularies(sizes);
  Rng rng(made.seed);
  TextModel model{config, make_model(config, rng), {}};
  for (const ColumnSpec& column : model.model->signature().columns) {
    if (column.has_tokenizer()) model.tokenizers[column.name] = tokenizers.at(column.name);
  }
  return model;
}

class Transfers : public testing::Test {
 protected:
  BaseModel saved(const TextModel& model) {
    fs::create_directories(path());
    model.save_description({path()});
    model.save_weights(ModelDirectory{path()}.weights());
    return BaseModel(path());
  }
  fs::path path() const { return directory_.path() / "base"; }
  TemporaryDirectory directory_;
};

Tensor transfer_tensor(const TextModel& model, const std::string& name) {
  for (const NamedTensor& t : parameters_and_buffers(*model.model)) {
    if (t.name == name) return t.tensor;
  }
  throw ConfigError("no tensor {}", name);
}

ModelConfig transfer_label(const TextModel& base) {
  ModelConfig config("label");
  config.settings = *model_kind("label").around(base.config.kind.name, base.config.settings);
  return config;
}

TEST_F(Transfers, EveryKindGivesItselfEverything) {
  for (const std::string& kind : model_kind_names()) {
    const TextModel base = transfer_model(ModelConfig(kind)),
                    to = transfer_model(ModelConfig(kind), {.seed = 2});
    const TransferReport report = transfer_weights(saved(base), to);
    EXPECT_EQ(report.left, TransferNames{}) << kind;
    EXPECT_EQ(report.fresh, TransferNames{}) << kind;
    const auto all = parameters_and_buffers(*to.model);
    EXPECT_EQ(report.taken.size(), all.size()) << kind;
    for (const NamedTensor& t : all) {
      EXPECT_EQ(t.tensor.to_vector(), transfer_tensor(base, t.name).to_vector()) << kind << t.name;
    }
    fs::remove_all(path());
  }
}

// Wherever the encoder is in its model, and whatever its parts are called there.
TEST_F(Transfers, EveryEncoderFindsItsPlaceInALabelModel) {
  for (const std::string& kind : encoder_kind_names()) {
    const TextModel base = transfer_model(ModelConfig(kind));
    const TextModel to = transfer_model(transfer_label(base), {.seed = 2});
    const TransferReport report = transfer_weights(saved(base), to);
    for (const NamedTensor& t : parameters_and_buffers(*to.model)) {
      const bool taken = std::ranges::find(report.taken, t.name) != report.taken.end();
      EXPECT_EQ(taken, t.name.starts_with("encoder.")) << kind << " " << t.name;
    }
    EXPECT_EQ(report.fresh, (TransferNames{"output.weight", "output.bias"})) << kind;

    // And back: an encoder that learned labels starts a model of its own kind.
    const BaseModel labels = saved(to);
    const TextModel again = transfer_model(ModelConfig(kind), {.seed = 3});
    EXPECT_EQ(transfer_weights(labels, again).taken.size(), report.taken.size()) << kind;
    fs::remove_all(path());
  }
}

TEST_F(Transfers, SaysWhatItTookWhatItLeftAndWhatIsNew) {
  const TextModel base = transfer_model(ModelConfig("gpt"));
  const TextModel to = transfer_model(transfer_label(base), {.seed = 2});
  const auto lines = transfer_weights(saved(base), to).lines();
  ASSERT_EQ(lines.size(), 2u);
  const size_t taken = parameters(*base.model).size();
  EXPECT_EQ(lines[0], fmt::format("start: took {0} of {0} tensors of {1} (gpt): encoder {0}", taken,
                                  path().string()));
  EXPECT_EQ(lines[1], "start: new 2: output 2");
}

TEST_F(Transfers, OtherVocabulariesAreRefusedUnlessAskedFor) {
  const TextModel base = transfer_model(ModelConfig("gpt"));
  const TextModel to = transfer_model(ModelConfig("gpt"), {.text = "efxyzw", .seed = 2});
  const std::vector<float> before = transfer_tensor(to, "embedding.weight").to_vector();
  const BaseModel from = saved(base);
  expect_error<ConfigError>([&] { transfer_weights(from, to); }, "set init_vocabulary to match");
  EXPECT_EQ(transfer_tensor(to, "embedding.weight").to_vector(), before);

  const TransferReport report =
      transfer_weights(from, to, {.vocabulary = VocabularyTransfer::kMatch});
  ASSERT_EQ(report.taken_in_part.size(), 1u);
  EXPECT_EQ(report.taken_in_part[0].name, "embedding.weight");
  EXPECT_EQ(report.taken_in_part[0].rows, 5u);  // e, f, and the special ones
  const Tensor table = transfer_tensor(to, "embedding.weight"),
               known = transfer_tensor(base, "embedding.weight");
  const auto row = [](const TextModel& model, const Tensor& x, const char* letter) {
    return x.slice_rows(model.tokenizer("text").encode(letter).front(), 1).to_vector();
  };
  EXPECT_EQ(row(to, table, "e"), row(base, known, "e"));
  EXPECT_EQ(row(to, table, "f"), row(base, known, "f"));
  EXPECT_EQ(table.slice_rows(kEnd, 1).to_vector(), known.slice_rows(kEnd, 1).to_vector());
  const auto x = static_cast<size_t>(to.tokenizer("text").encode("x").front());
  EXPECT_EQ(table.slice_rows(x, 1).to_vector(),
            std::vector<float>(before.begin() + static_cast<ptrdiff_t>(x * table.width()),
                               before.begin() + static_cast<ptrdiff_t>((x + 1) * table.width())));

  const TextModel other = transfer_model(ModelConfig("gpt"), {.text = "efxyzw", .seed = 2});
  const TransferReport none =
      transfer_weights(from, other, {.vocabulary = VocabularyTransfer::kNew});
  EXPECT_EQ(none.fresh, TransferNames{"embedding.weight"});
  EXPECT_EQ(transfer_tensor(other, "embedding.weight").to_vector(), before);
}

TEST_F(Transfers, LabelsAreMatchedByTheirText) {
  const TextModel base = transfer_model(ModelConfig("label"), {.labels = {"bad", "good", "bad"}});
  const TextModel to =
      transfer_model(ModelConfig("label"), {.labels = {"good", "fair", "good"}, .seed = 2});
  const TransferReport report = transfer_weights(saved(base), to);
  ASSERT_EQ(report.taken_in_part.size(), 2u);
  EXPECT_EQ(report.taken_in_part[0].rows, 1u);
  EXPECT_EQ(report.taken_in_part[0].of, 2u);
  const auto row = [](const TextModel& model, const char* label) {
    const int32_t id = model.tokenizer("label").encode(label).front() - kSpecialTokens;
    return transfer_tensor(model, "output.weight").slice_rows(id, 1).to_vector();
  };
  EXPECT_EQ(row(to, "good"), row(base, "good"));
  EXPECT_NE(row(to, "fair"), row(base, "bad"));
}

// A weight for two tags is taken where both models know both.
TEST_F(Transfers, TransitionsAreMatchedByTheTextOfBothTags) {
  ModelConfig config("tagger");
  config.settings.as<TaggerConfig>().output = TagOutput::kCrf;
  const TextModel base = transfer_model(config, {.labels = {"bad", "good", "bad", "dull"}});
  const TextModel to =
      transfer_model(config, {.labels = {"good", "fair", "good", "bad", "new"}, .seed = 2});
  const std::vector<float> fresh = transfer_tensor(to, "crf.transitions").to_vector();
  const TransferReport report = transfer_weights(saved(base), to);
  ASSERT_EQ(report.taken_in_part.size(), 5u);  // of the output layer, two tables; of the CRF, three
  for (const TransferReport::Part& part : report.taken_in_part) EXPECT_EQ(part.rows, 2u);
  const auto number = [](const TextModel& model, const char* tag) {
    return static_cast<size_t>(model.tokenizer("tags").encode(tag).front() - kSpecialTokens);
  };
  const auto value = [&](const TextModel& model, const char* before, const char* after) {
    const Tensor x = transfer_tensor(model, "crf.transitions");
    return x.data()[number(model, before) * x.width() + number(model, after)];
  };
  for (const char* before : {"bad", "good"}) {
    for (const char* after : {"bad", "good"}) {
      EXPECT_EQ(value(to, before, after), value(base, before, after));
    }
    EXPECT_EQ(transfer_tensor(to, "crf.start").data()[number(to, before)],
              transfer_tensor(base, "crf.start").data()[number(base, before)]);
  }
  EXPECT_EQ(value(to, "fair", "good"), fresh[number(to, "fair") * 4 + number(to, "good")]);
  EXPECT_EQ(value(to, "good", "new"), fresh[number(to, "good") * 4 + number(to, "new")]);
}

TEST_F(Transfers, TopLayersCanStayNew) {
  const TextModel base = transfer_model(ModelConfig("gpt"));
  const TextModel to = transfer_model(ModelConfig("gpt"), {.seed = 2});
  const BaseModel from = saved(base);
  const TransferReport report = transfer_weights(from, to, {.reinitialize = 1});
  EXPECT_FALSE(report.fresh.empty());
  for (const std::string& name : report.fresh) EXPECT_TRUE(name.starts_with("layers.1.")) << name;
  for (const std::string& name : report.taken) EXPECT_FALSE(name.starts_with("layers.1.")) << name;
  expect_error<ConfigError>([&] { transfer_weights(from, to, {.reinitialize = 3}); },
                            "training.reinitialize is 3, but the encoder has 2 layers");
}

TEST_F(Transfers, OtherSizesAreLeftAndSaid) {
  const TextModel base = transfer_model(ModelConfig("gpt"));
  ModelConfig config("gpt");
  make_small(config.settings);
  TextModel to = transfer_model(config, {.seed = 2});
  to.config.settings.as<GptConfig>().feed_forward = 40;
  Rng rng(2);
  to.model = make_model(to.config, rng);
  const TransferReport report = transfer_weights(saved(base), to);
  EXPECT_EQ(report.reshaped.size(), 6u);  // of two layers: two matrices and a bias
  EXPECT_EQ(report.fresh, report.reshaped);
  EXPECT_NE(report.lines()[1].find("of another shape: layers.0.feed_forward.in.weight"),
            std::string::npos);
}

TEST_F(Transfers, SaysWhatIsMissing) {
  expect_error<IoError>([&] { const BaseModel none(path()); }, "not a model directory");
  const TextModel base = transfer_model(ModelConfig("gpt"));
  saved(base);
  fs::resize_file(ModelDirectory{path()}.weights(), 100);
  EXPECT_THROW(const BaseModel none(path()), Error);
  fs::remove(ModelDirectory{path()}.weights());
  expect_error<IoError>([&] { const BaseModel none(path()); }, "has no model.safetensors");
}

}  // namespace
}  // namespace attend
