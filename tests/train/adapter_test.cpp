// Runs that train an adapter, and what becomes of it.
#include "attend/models/adapter.h"

#include <gtest/gtest.h>

#include "attend/decode/loaded_model.h"
#include "attend/io/config.h"
#include "attend/models/gpt.h"
#include "attend/train/average.h"
#include "tests/errors.h"
#include "tests/files.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

class Adapters : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream text(path("text")), labels(path("labels"));
    const RandomStream random(5, 0);
    for (uint64_t i = 0; i < 300; ++i) {
      std::string word;
      for (uint64_t j = 0; j < 4; ++j) word += static_cast<char>('a' + random.below(9 * i + j, 5));
      text << word << "\n";
      labels << (word.front() == 'a' ? "yes" : "no") << "\n";
    }
    text.close(), labels.close();
    RunConfig base = some_run("base");
    run(base);
  }

  fs::path path(const std::string& name) const { return directory_.path() / name; }
  RunConfig some_run(const std::string& out) const {
    RunConfig c;
    c.out = path(out);
    c.data.text = {path("text")};
    c.vocabulary.tokenizer.kind = TokenizerKind::kCharacter;
    c.model = ModelConfig("gpt");
    auto& gpt = c.model.settings.as<GptConfig>();
    gpt.width = 16, gpt.heads = 2, gpt.layers = 2;
    c.data.documents = DocumentKind::kLine;
    c.batch.tokens = 200;
    c.schedule.warmup = 2;
    c.training.steps = 8;
    c.training.report_every = 2;
    c.training.save_every = 3;
    return c;
  }
  RunConfig adapter_run(const std::string& out, bool labels = false) const {
    RunConfig c = some_run(out);
    c.init_from = path("base");
    c.lora.rank = 2;
    c.optimizer.rate = 0.02;
    if (labels) {
      c.data.documents = DocumentKind::kFile;
      c.data.label = path("labels");
    }
    return c;
  }
  TemporaryDirectory directory_;
};

size_t adapter_values_in(const fs::path& file) {
  size_t count = 0;
  const SafetensorsFile open(file);
  for (const auto& entry : open.entries()) count += entry.shape.size();
  return count;
}

std::vector<float> adapted_values(const TextModel& model, const std::string& name) {
  for (const NamedTensor& t : parameters_and_buffers(*model.model)) {
    if (t.name == name) return t.tensor.to_vector();
  }
  return {};
}

TEST_F(Adapters, AreStoredApartAndLeaveTheBaseAsItWas) {
  const std::string before = contents(path("base") / "model.safetensors");
  RunConfig config = adapter_run("adapter");
  config.training.average = 0.9;
  run(config);
  EXPECT_EQ(contents(path("base") / "model.safetensors"), before);
  EXPECT_FALSE(fs::exists(path("adapter") / "model.safetensors"));
  // Two layers, query and value of 16 by 16, rank 2.
  EXPECT_EQ(adapter_values_in(path("adapter") / "adapter.safetensors"),
            2u * 2u * (2u * 16u + 16u * 2u));

  // The optimizer remembers nothing of the base, and the mean neither.
  const auto last = latest_checkpoint(path("adapter") / "checkpoints");
  ASSERT_TRUE(last);
  size_t moments = 0;
  const SafetensorsFile file(last->path / kTrainingTensors);
  for (const auto& entry : file.entries()) {
    const bool state = entry.name.starts_with("optimizer.") || entry.name.starts_with("average.");
    EXPECT_TRUE(!state || is_low_rank(entry.name)) << entry.name;
    moments += entry.name.starts_with("optimizer.") ? entry.shape.size() : 0;
  }
  EXPECT_EQ(moments, 2 * adapter_values_in(path("adapter") / "adapter.safetensors"));
}

TEST_F(Adapters, AreUsedWithTheirBaseAndMergedIntoAModel) {
  run(adapter_run("adapter"));
  const TextModel base = TextModel::load(path("base")), apart = TextModel::load(path("adapter"));
  EXPECT_NE(adapted_values(apart, "layers.0.self.query.weight"),
            adapted_values(base, "layers.0.self.query.weight"));
  EXPECT_EQ(adapted_values(apart, "layers.0.self.key.weight"),
            adapted_values(base, "layers.0.self.key.weight"));
  const std::vector<fs::path> adapters = {path("adapter")};
  merge_adapters(path("base"), adapters, path("merged"));
  const LoadedModel merged = load(path("merged")), one = load(path("adapter")),
                    given = load(path("base"), {.adapters = adapters}), plain = load(path("base"));
  EXPECT_EQ(merged.score("abcd"), one.score("abcd"));
  EXPECT_EQ(merged.score("abcd"), given.score("abcd"));
  EXPECT_NE(merged.score("abcd"), plain.score("abcd"));
  expect_error<IoError>([&] { merge_adapters(path("base"), adapters, path("merged")); },
                        "has a model; merge into another directory");
}

// Gradients and moments are those of the adapter alone, and so is the mean.
TEST_F(Adapters, LeaveMoreMemoryToBatches) {
  RunConfig base = some_run("large");
  base.model.settings.as<GptConfig>().max_length = 65536;  // 4 MB of positions
  base.data.context = 64;
  base.training.steps = 1;
  run(base);
  std::ofstream text(path("text"));
  for (int i = 0; i < 3000; ++i) text << "abcde" << i % 7 << "ab\n";
  text.close();
  const auto tokens = [&](size_t rank) {
    RunConfig config = adapter_run(fmt::format("rank{}", rank));
    config.init_from = path("large");
    config.model = base.model;
    config.data.context = 64;
    config.lora.rank = rank;
    config.training.average = 0.9;
    config.training.steps = 2;
    config.memory.bytes = size_t{32} << 20;
    reset_peak_bytes();
    const size_t before = pool_statistics().bytes_in_use;
    run(config);
    EXPECT_LE(pool_statistics().peak_bytes_in_use - before, config.memory.bytes);
    RunConfig used;
    read_config(used, config.out / "attend.yaml");
    config.training.steps = 3;  // goes on with batches of that size
    run(config);
    return used.batch.tokens;
  };
  const size_t all = tokens(0);
  EXPECT_GT(all, 1024u);
  EXPECT_GT(tokens(2), 2 * all);
}

TEST_F(Adapters, HaveHeadsOfTheirOwn) {
  RunConfig config = adapter_run("critic", true);
  config.training.steps = 80;
  Messages messages;
  run_training(config, messages, false);
  EXPECT_TRUE(messages.has("adapter: rank 2, ")) << messages.text;
  const LoadedModel model = load(path("critic"));
  EXPECT_EQ(model.classify("abcd").text, "yes");
  EXPECT_EQ(model.classify("dbca").text, "no");
  run(adapter_run("more", true));
  const std::vector<fs::path> both = {path("critic"), path("more")};
  expect_error<ConfigError>([&] { load(path("base"), {.adapters = both}); },
                            "both have output.weight as their own");
}

TEST_F(Adapters, AddUp) {
  run(adapter_run("one"));
  RunConfig other = adapter_run("two");
  other.training.seed = 7;
  other.lora.targets = {"layers.1.self.key", "*.query"};
  run(other);
  const std::vector<fs::path> both = {path("one"), path("two")};
  const TextModel base = TextModel::load(path("base")), one = TextModel::load(path("one")),
                  two = TextModel::load(path("two")), sum = load_adapted(path("base"), both);
  for (const char* name :
       {"layers.1.self.query.weight", "layers.1.self.key.weight", "layers.1.self.value.weight"}) {
    const auto w = adapted_values(base, name), a = adapted_values(one, name),
               b = adapted_values(two, name), c = adapted_values(sum, name);
    for (size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(c[i], a[i] + b[i] - w[i], 1e-6f) << name;
  }
}

TEST_F(Adapters, AnotherBaseIsRefusedByName) {
  run(adapter_run("adapter"));
  RunConfig longer = some_run("base");
  longer.training.steps = 12;
  run(longer);
  const std::string message = message_of<FormatError>([&] { TextModel::load(path("adapter")); });
  EXPECT_NE(message.find("this adapter changes"), std::string::npos) << message;
  EXPECT_NE(message.find(path("base").string()), std::string::npos) << message;
  fs::remove_all(path("base"));
  expect_error<IoError>([&] { TextModel::load(path("adapter")); }, "which is not there");
}

TEST_F(Adapters, ARunThatIsStoppedAndResumedIsAsNeverStopped) {
  for (const bool labels : {false, true}) {
    const std::string name = labels ? "labels" : "text";
    RunConfig whole = adapter_run(name + "-whole", labels);
    whole.lora.dropout = 0.1f;
    run(whole);
    RunConfig parts = adapter_run(name + "-parts", labels);
    parts.lora.dropout = 0.1f;
    for (const int64_t step : {2, 4}) {
      std::atomic<bool> stop{false};
      StopAt observer(step, stop);
      EXPECT_EQ(run_training(parts, observer, stop).end, TrainingEnd::kStopped);
    }
    run(parts);
    const auto result = [&](const fs::path& model) {
      const auto last = latest_checkpoint(model / "checkpoints");
      return std::vector{contents(model / "adapter.safetensors"),
                         contents(last->path / kTrainingTensors)};
    };
    EXPECT_EQ(result(parts.out), result(whole.out)) << name;
    RunConfig other = parts;
    other.lora.rank = 3;
    expect_error<ConfigError>([&] { run(other); }, "trained with lora.rank = 2, not 3");
  }
}

TEST_F(Adapters, WithoutStepsAreTheBaseToTheBit) {
  RunConfig config = adapter_run("adapter");
  config.training.steps = 1;
  config.optimizer.rate = 1e-30;
  run(config);
  const TextModel base = TextModel::load(path("base")), same = TextModel::load(path("adapter"));
  for (const NamedTensor& t : parameters(*base.model)) {
    EXPECT_EQ(t.tensor.to_vector(), adapted_values(same, t.name)) << t.name;
  }
}

TEST_F(Adapters, SaysWhatCannotBe) {
  RunConfig config = adapter_run("none");
  config.init_from = "";
  expect_error<ConfigError>([&] { run(config); }, "an adapter changes a model that was trained");
  config = adapter_run("none");
  config.lora.targets = {"nothing"};
  expect_error<ConfigError>([&] { run(config); }, "no matrix of a linear layer matches 'nothing'");
  EXPECT_FALSE(fs::exists(config.out));
  run(adapter_run("adapter"));
  config = adapter_run("none");
  config.init_from = path("adapter");
  expect_error<ConfigError>([&] { run(config); }, "is an adapter; merge it first");
  expect_error<ConfigError>([&] { average_checkpoints(path("adapter"), 1, path("mean")); },
                            "this run trains an adapter");
  const std::vector<fs::path> model = {path("base")};
  expect_error<IoError>([&] { load_adapted(path("base"), model); }, "it has no adapter.json");
}

// Files of strangers: each is checked before memory is taken.
TEST_F(Adapters, FilesThatDoNotFitAreRefused) {
  run(adapter_run("adapter"));
  const ModelDirectory directory{path("adapter")};
  const AdapterDescription good = load_adapter_description(directory);
  const auto refused = [&](const auto& change, const std::string& message) {
    AdapterDescription bad = good;
    change(bad);
    save_adapter_description(directory, bad);
    const std::string found = message_of<Error>([&] { TextModel::load(directory.root); });
    EXPECT_NE(found.find(message), std::string::npos) << found;
  };
  refused([](AdapterDescription& a) { a.format = 2; }, "later version");
  refused([](AdapterDescription& a) { a.lora.rank = 3; }, "does not fit");
  refused([](AdapterDescription& a) { a.lora.rank = 0; }, "a rank of 0");
  refused([](AdapterDescription& a) { a.trained = {"nothing"}; }, "the model has no nothing");
  refused([&](AdapterDescription& a) { a.base = directory.root; }, "which is an adapter itself");
  refused([](AdapterDescription& a) { a.fingerprint = "\x1b[2J"; }, "other weights");
  save_adapter_description(directory, good);
  EXPECT_NO_THROW(TextModel::load(directory.root));
  fs::resize_file(directory.adapter(), 100);
  EXPECT_THROW(TextModel::load(directory.root), Error);
}

}  // namespace
}  // namespace attend
