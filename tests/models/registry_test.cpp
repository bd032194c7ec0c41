// What every kind of model in the registry must do. A new one is tested here without a line of its
// own.
#include "attend/models/registry.h"

#include <map>
#include <set>
#include <utility>

#include "attend/decode/embed.h"
#include "attend/decode/text_generator.h"
#include "attend/decode/translator.h"
#include "attend/inspect/attention_maps.h"
#include "attend/inspect/saliency.h"
#include "attend/inspect/snapshot.h"
#include "attend/nn/row_tap.h"
#include "tests/errors.h"
#include "tests/files.h"
#include "tests/models/interventions.h"
#include "tests/models/small_settings.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

constexpr size_t kRegistryLabels = 5;

class EveryKind : public testing::TestWithParam<std::string> {
 protected:
  static ModelConfig config() {
    ModelConfig made(GetParam());
    make_small(made.settings);
    made.set_vocabularies({{"source", kSourceTokens},
                           {"target", kTargetTokens},
                           {"text", kTargetTokens},
                           {"label", kRegistryLabels},
                           {"tags", kRegistryLabels}});
    return made;
  }
  static std::unique_ptr<Model> model(uint64_t seed = 7) {
    Rng rng(seed);
    return make_model(config(), rng);
  }
};

// What an Encoder may read: of a language model, what it would write.
Batch with_written(const Model& model, Batch inputs, const Tokens& written) {
  for (const ColumnSpec& column : model.signature().columns) {
    if (column.written && column.kind == ColumnKind::kTokens) inputs.add(column.name, written);
  }
  return inputs;
}

// Whatever facet it has, all at once, of tokens that every vocabulary has.
std::vector<float> outputs(const Model& model) {
  const NoGrad no_grad;
  constexpr size_t kTokens = 6;
  const Batch inputs = some_inputs(model, {3, 1, 7}, 1, kTokens);
  const Tokens written = some_tokens({2, 5, 1}, kTokens, 2);
  std::vector<float> all;
  const auto add = [&](const Tensor& x) {
    const std::vector<float> values = x.to_vector();
    all.insert(all.end(), values.begin(), values.end());
  };
  if (model.generator() != nullptr) add(model.generator()->logits(inputs, written));
  if (model.classifier() != nullptr) add(model.classifier()->label_logits(inputs));
  if (model.tagger() != nullptr) add(model.tagger()->tag_scores(inputs).values);
  if (model.tagger() != nullptr) add(model.tagger()->decode_tags(inputs).probabilities);
  if (model.regressor() != nullptr) add(model.regressor()->standard_numbers(inputs));
  if (model.masked_predictor() != nullptr) {
    const std::vector<int32_t> rows = {4, 0};
    add(model.masked_predictor()->predict(inputs, Tensor::ids(rows, {2})).tokens);
  }
  if (model.bidirectional_predictor() != nullptr) {
    add(model.bidirectional_predictor()->predict_both(inputs).forward);
  }
  if (model.encoder() != nullptr) {
    add(model.encoder()->encode(with_written(model, inputs, written)).values);
  }
  return all;
}

TEST_P(EveryKind, HasASummaryPresetsAndAtLeastOneFacet) {
  const ModelKind& kind = model_kind(GetParam());
  EXPECT_FALSE(kind.summary.empty());
  EXPECT_FALSE(kind.presets.empty());
  for (const ModelPreset& preset : kind.presets) {
    EXPECT_EQ(ModelConfig::of_preset(preset.name).kind.name, kind.name) << preset.name;
    EXPECT_FALSE(preset.summary.empty()) << preset.name;
  }
  EXPECT_FALSE(outputs(*model()).empty());
}

TEST_P(EveryKind, ParametersAndBuffersHaveNamesOfTheirOwn) {
  const auto made = model();
  std::set<std::string> names;
  for (const NamedTensor& each : parameters_and_buffers(*made)) {
    EXPECT_FALSE(each.name.empty());
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
  }
  EXPECT_FALSE(names.empty());
}

TEST_P(EveryKind, LayersLookFromColumnsAtColumnsOrAtAllAsOne) {
  const Signature signature = model()->signature();
  ASSERT_FALSE(signature.columns.empty());
  std::set<std::string> names, known;
  for (const ColumnSpec& column : signature.columns) known.insert(column.name);
  if (signature.joined) {
    EXPECT_FALSE(known.contains(signature.joined->name));
    known = {signature.joined->name};
  }
  for (const AttentionLayer& layer : signature.layers) {
    EXPECT_TRUE(names.insert(layer.name).second) << layer.name;
    EXPECT_TRUE(known.contains(layer.queries)) << layer.name;
    EXPECT_TRUE(known.contains(layer.keys)) << layer.name;
    EXPECT_GE(layer.heads, 1u) << layer.name;
  }
}

// Each layer of the signature once for each of its heads and each record, and no other; as many
// rows as there are queries, and no more columns than keys.
TEST_P(EveryKind, ARecorderSeesTheLayersOfTheSignature) {
  const NoGrad no_grad;
  const auto made = model();
  const Signature signature = made->signature();
  const std::vector<int32_t> read = {3, 1, 7}, wrote = {2, 5, 1};
  const auto length = [&](const std::string& name, size_t record) {
    if (signature.joined && name == signature.joined->name) {
      return static_cast<size_t>(read[record] + wrote[record]);
    }
    const ColumnSpec& column = signature.column(name);
    if (column.kind == ColumnKind::kLabel || column.kind == ColumnKind::kNumber) return size_t{1};
    return static_cast<size_t>((column.written ? wrote : read)[record]);
  };
  Recorder recorder;
  const Batch inputs = some_inputs(*made, read, 1);
  if (made->generator() != nullptr) {
    made->generator()->logits(inputs, some_tokens(wrote, kTargetTokens, 2));
  } else if (made->classifier() != nullptr) {
    made->classifier()->label_logits(inputs);
  } else {
    made->encoder()->encode(inputs);
  }
  std::map<std::tuple<std::string, size_t, size_t>, size_t> seen;
  for (const RecordedHead& head : recorder.heads) {
    const AttentionLayer& layer = signature.layer(head.layer);
    ++seen[{head.layer, head.sequence, head.head}];
    EXPECT_LT(head.head, layer.heads) << head.layer;
    EXPECT_EQ(head.weights.rows(), length(layer.queries, head.sequence)) << head.layer;
    EXPECT_EQ(head.first_query, 0u) << head.layer;
    EXPECT_LE(head.first_key + head.weights.width(), length(layer.keys, head.sequence))
        << head.layer;
  }
  for (const AttentionLayer& layer : signature.layers) {
    for (size_t record = 0; record < read.size(); ++record) {
      for (size_t head = 0; head < layer.heads; ++head) {
        EXPECT_EQ((seen[{layer.name, record, head}]), 1u) << layer.name << " head " << head;
      }
    }
  }
}

TEST_P(EveryKind, EveryLayerHeedsInterventions) { expect_heeds_interventions(*model()); }

// A row for each item of what it reads first, the same in any company.
TEST_P(EveryKind, EncodesEachItemItReads) {
  const NoGrad no_grad;
  const auto made = model();
  const Encoder* const encoder = made->encoder();
  ASSERT_NE(encoder, nullptr);
  const std::vector<int32_t> lengths = {3, 1, 7};
  const Batch inputs =
      with_written(*made, some_inputs(*made, lengths, 1), some_tokens(lengths, kTargetTokens, 2));
  const Column rows = encoder->encode(inputs);
  ASSERT_EQ(rows.packing, Packing(lengths));
  ASSERT_EQ(rows.values.shape(), Shape({11, encoder->width()}));
  for (size_t i = 0; i < lengths.size(); ++i) {
    const Column alone = encoder->encode(inputs.pick(std::vector{i}));
    const size_t length = rows.packing.length(i);
    expect_same(alone.values, rows.values.slice_rows(rows.packing.begin(i), length));
  }
}

struct Stages : RowTap {
  std::vector<NamedTensor> seen;
  void see(const std::string& stage, const Tensor& rows) override { seen.push_back({stage, rows}); }
};

// A language model reads only what it writes. Each of its layers has a logit lens; that of the last
// layer is the output itself.
TEST_P(EveryKind, TheOutputLayerReadsEveryLayerOfALanguageModel) {
  const NoGrad no_grad;
  const auto made = model();
  const std::vector<ColumnSpec> columns = made->signature().columns;
  if (made->generator() == nullptr || columns.size() > 1) return;
  const Tokens written = some_tokens({2, 5, 1}, kTargetTokens, 2);
  Stages stages;
  const Tensor logits = made->generator()->logits(Batch(3), written);
  std::vector<std::string> layers;
  for (const auto& [name, rows] : stages.seen) {
    if (name.starts_with("layers.")) layers.push_back(name);
    ASSERT_EQ(rows.rows(), written.packing.rows()) << name;
    const auto read = made->generator()->logits_of_rows(rows);
    ASSERT_TRUE(read) << name;
    ASSERT_EQ(read->shape(), logits.shape()) << name;
  }
  EXPECT_EQ(layers, (std::vector<std::string>{"layers.0", "layers.1"}));
  expect_same(*made->generator()->logits_of_rows(stages.seen.back().tensor), logits);
}

// What the encoder facet of a language model gives is what its layers pass on when it writes.
TEST_P(EveryKind, ALanguageModelEncodesWithTheLayersItWritesWith) {
  const NoGrad no_grad;
  const auto made = model();
  if (made->generator() == nullptr || made->signature().columns.size() > 1) return;
  const Tokens text = some_tokens({2, 5, 1}, kTargetTokens, 2);
  Stages stages;
  made->generator()->logits(Batch(3), text);
  const std::vector<NamedTensor> writing = std::exchange(stages.seen, {});
  made->encoder()->encode({"text", text});
  ASSERT_EQ(stages.seen.size(), writing.size());
  for (size_t i = 0; i < writing.size(); ++i) {
    EXPECT_EQ(stages.seen[i].name, writing[i].name);
    expect_same(stages.seen[i].tensor, writing[i].tensor);
  }
}

TEST_P(EveryKind, PackingChangesNoBitOfItsSteps) {
  const auto made = model();
  if (made->generator() == nullptr) return;
  const Batch inputs = some_inputs(*made, {3, 1, 7}, 1);
  const auto run = [&] {
    const NoGrad no_grad;
    return step_by_step(*made->generator(), inputs, some_tokens({2, 5, 1}, kTargetTokens, 2))
        .to_vector();
  };
  const std::vector<float> before = run();
  made->pack();
  EXPECT_EQ(run(), before);
}

TEST_P(EveryKind, MissingFacetsAreRefused) {
  TextModel text;
  text.config = config();
  text.model = model();
  const std::string kind = "it is a " + GetParam() + " model";
  if (text.model->generator() == nullptr) {
    expect_error<ConfigError>([&] { text.generator(); }, "the model writes no sequences: " + kind);
    if (text.model->classifier() != nullptr) {
      expect_error<ConfigError>([&] { text.written(); }, "use classify");
    }
  }
  if (text.model->classifier() == nullptr) {
    expect_error<ConfigError>([&] { text.classifier(); }, "the model gives no labels: " + kind);
  }
  if (text.model->generator() != nullptr && text.model->classifier() == nullptr) {
    expect_error<ConfigError>([&] { text.classifier(); },
                              text.read() ? "use translate" : "use generate");
  }
}

// From text files to a model directory and back: in one go, or stopped and resumed.
class EveryKindTrains : public EveryKind {
 protected:
  static RunConfig run_of(const fs::path& directory) {
    RunConfig c = small_run(directory);
    c.model = config();
    const Signature signature = model()->signature();
    const auto has = [&](std::string_view name) {
      return std::ranges::find(signature.columns, name, &ColumnSpec::name) !=
             signature.columns.end();
    };
    if (!has("source")) {
      c.data.text = {c.data.source}, c.data.valid_text = {c.data.valid_source};
      c.data.source = c.data.target = c.data.valid_source = c.data.valid_target = "";
    }
    if (has("label")) {
      c.data.label = directory / "train.label", c.data.valid_label = directory / "valid.label";
      for (const auto& [file, lines] : {std::pair(c.data.label, 200), {c.data.valid_label, 20}}) {
        std::ofstream labels(file.front());
        for (int i = 0; i < lines; ++i) labels << (i % 2 == 0 ? "even\n" : "odd\n");
      }
    }
    const auto write = [&](auto& setting, auto& valid, const char* odd, const char* even) {
      setting = directory / "train.answers", valid = directory / "valid.answers";
      for (const auto& [file, lines] : {std::pair(setting, 200), {valid, 20}}) {
        std::ofstream answers(file.front());
        for (int i = 0; i < lines; ++i) answers << (i % 2 == 0 ? even : odd) << "\n";
      }
    };
    if (has("tags")) write(c.data.tags, c.data.valid_tags, "X", "Y");
    if (has("number")) write(c.data.number, c.data.valid_number, "1.5", "-2");
    c.training.steps = 6;
    c.training.report_every = 1;
    c.training.save_every = 2;
    c.validation.every = 3;
    c.validation.metric = Metric::kLoss;
    return c;
  }
};

TEST_P(EveryKindTrains, IsSavedLoadedAndResumed) {
  const TemporaryDirectory whole, parts;
  const RunConfig config = run_of(whole.path()), stopped = run_of(parts.path());
  run(config);
  const TextModel first = TextModel::load(config.out), second = TextModel::load(config.out);
  EXPECT_EQ(first.config.kind.name, GetParam());
  EXPECT_EQ(outputs(*first.model), outputs(*second.model));

  TemporaryDirectory copied;
  const ModelDirectory copy{copied.path()};
  first.save_description(copy);
  first.save_weights(copy.weights());
  EXPECT_EQ(outputs(*TextModel::load(copied.path()).model), outputs(*first.model));

  std::atomic<bool> stop{false};
  StopAt observer(3, stop);
  EXPECT_EQ(run_training(stopped, observer, stop).step, 3);
  run(stopped);
  EXPECT_EQ(outcome(stopped.out), outcome(config.out));
}

// What the command for this model does with a text.
void expect_used(const TextModel& model) {
  const Signature signature = model.model->signature();
  const std::vector<std::string> texts = {"ab", "cde"};
  EXPECT_EQ(embed_texts(model, texts).shape(), Shape({2, model.model->encoder()->width()}));
  EXPECT_EQ(token_vectors(model, embedded_column(model)).extent(0),
            model.tokenizer(embedded_column(model)).size());
  if (model.model->generator() == nullptr) {
    const size_t labels = model.model->classifier() == nullptr ? 0 : 1;
    EXPECT_EQ(written_trace(model, texts[0]).output().size(), labels);
  } else if (signature.columns.size() == 1) {
    const TextGenerator generate(model, {.max_tokens = 5});
    EXPECT_EQ(generate(texts).size(), 2u);
    expect_error<ConfigError>([&] { Translator({model}, {}); }, "use generate");
  } else {
    const Translator translate({model}, {});
    EXPECT_EQ(translate(texts).size(), 2u);
    expect_error<ConfigError>([&] { TextGenerator(model, {}); }, "use translate");
  }
}

TEST_P(EveryKindTrains, IsUsedAndLookedAt) {
  const TemporaryDirectory directory;
  RunConfig config = run_of(directory.path());
  config.snapshots.every = 3;
  run(config);
  const TextModel model = TextModel::load(config.out);
  expect_used(model);
  const Trace trace = written_trace(model, "abc");
  const std::vector<Tensor> maps = attention_maps(model, trace, trace.layers);
  for (size_t i = 0; i < maps.size(); ++i) {
    const AttentionLayer& layer = trace.layers[i];
    const size_t queries = trace.sequence(layer.queries).size();
    EXPECT_EQ(maps[i].shape(), Shape({queries, trace.sequence(layer.keys).size()})) << layer.name;
  }
  const bool tells = model.model->generator() != nullptr || model.model->classifier() != nullptr;
  const Saliency found =
      !tells ? Saliency(1, Tensor::zeros({1})) : saliency(model, trace, {.steps = 2});
  EXPECT_TRUE(std::ranges::any_of(found, [](const Tensor& t) { return t.defined(); }));

  const std::vector<int64_t> all = {3, 6}, none;
  EXPECT_EQ(snapshot_steps({config.out}), trace.layers.empty() ? none : all);
}

std::string kind_title(const testing::TestParamInfo<std::string>& kind) { return kind.param; }

INSTANTIATE_TEST_SUITE_P(All, EveryKind, testing::ValuesIn(model_kind_names()), kind_title);
INSTANTIATE_TEST_SUITE_P(All, EveryKindTrains, testing::ValuesIn(model_kind_names()), kind_title);

}  // namespace
}  // namespace attend
