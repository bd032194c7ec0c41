// Every kind of file that is read, cut off at every byte and with every byte of its header changed:
// an error of ours or, where that does no harm, what was read before. Never another exception, a
// crash, or a loop without end.
#include <gtest/gtest.h>

#include <functional>

#include "attend/base/hash.h"
#include "attend/data/corpus.h"
#include "attend/inspect/snapshot.h"
#include "attend/io/config.h"
#include "attend/io/json_log.h"
#include "attend/models/text_model.h"
#include "attend/serve/explorer.h"
#include "tests/damage.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

constexpr int64_t kStep = 2;  // of the run that made the files
constexpr TokenizerKind kTokenizers[] = {TokenizerKind::kCharacter, TokenizerKind::kWord,
                                         TokenizerKind::kLine,      TokenizerKind::kByte,
                                         TokenizerKind::kBpe,       TokenizerKind::kUnigram};
const std::vector<std::string> kLines = {"the dog läuft über die Straße", "a cat, a 猫, a 🐈",
                                         "the cat walked under the tree"};

fs::path tokenizer_file(TokenizerKind kind) { return fmt::format("{}.model", name_of(kind)); }

std::string numbers(std::span<const float> values) {
  return std::to_string(
      hash_of({reinterpret_cast<const char*>(values.data()), values.size_bytes()}));
}

std::string tensors_of(const SafetensorsFile& file) {
  std::string text;
  for (const SafetensorsFile::Entry& entry : file.entries()) {
    const Tensor tensor = file.read(entry);
    text += fmt::format("{} {} ", entry.name, tensor.shape());
    if (tensor.dtype() == DType::kFloat32) text += numbers(tensor.span());
  }
  return text;
}

// Up to the first logits.
std::string model_of(const ModelDirectory& directory) {
  const TextModel model = TextModel::load(directory.root);
  const Tokens tokens = one_sequence(model.tokenizer("source").encode("abc"));
  const std::string place =
      model.best_alignment ? to_json(*model.best_alignment) : std::string("none");
  return to_json(model.config) + place +
         numbers(model.generator().logits({"source", tokens}, tokens).span());
}

// Into a model that is made once.
std::string weights_of(const ModelDirectory& directory) {
  static const auto model = TextModel::load_description(directory).model;
  const std::vector<NamedTensor> weights = parameters(*model);
  load_weights(directory.weights(), weights);
  std::string text;
  for (const NamedTensor& weight : weights) text += numbers(weight.tensor.span()) + " ";
  return text;
}

std::string settings_of(const ModelDirectory& directory) {
  RunConfig config;
  read_config(config, directory.training());
  return to_yaml(config);
}

std::string corpus_of(const ModelDirectory& directory) {
  const Corpus corpus(directory.root / "train.corpus");
  std::vector<int32_t> ids;
  for (size_t i = 0; i < corpus.size(); ++i) {
    for (size_t column = 0; column < corpus.columns().size(); ++column) {
      corpus.append(i, column, ids);
    }
  }
  return fmt::format("{}", fmt::join(ids, " "));
}

std::string checkpoint_of(const ModelDirectory& directory) {
  const auto checkpoint = latest_checkpoint(directory.checkpoints());
  if (!checkpoint) throw DataError("no checkpoint");
  TrainingState state;
  read_config(state, checkpoint->path / "state.json");
  return to_json(state) + tensors_of(SafetensorsFile(checkpoint->path / kTrainingTensors));
}

// Of those that resume, and of the page.
std::string log_of(const ModelDirectory& directory) {
  const Explorer explorer(std::vector{directory.root});
  const std::string seen = explorer.training(0, {});
  { const JsonLog log(directory.log(), kStep); }
  return seen + contents(directory.log());
}

std::string snapshot_of(const ModelDirectory& directory) {
  const Snapshot snapshot(directory, kStep);
  const TextModel model = TextModel::load(directory.root);
  std::string text;
  for (size_t s = 0; s < snapshot.sentences(); ++s) {
    for (const TraceSequence& sequence : snapshot.trace(model, s).sequences) {
      text += fmt::format("{} {} | ", sequence.name, fmt::join(sequence.ids, " "));
    }
    for (const char* layer : {"encoder.0.self", "decoder.0.self", "decoder.0.cross"}) {
      const Tensor map = snapshot.map(s, layer, {});
      text += fmt::format("{} {} ", map.shape(), numbers(map.span()));
    }
  }
  return text;
}

std::string encoded_by(const ModelDirectory& directory, TokenizerKind kind) {
  const auto tokenizer = load_tokenizer(directory.root / tokenizer_file(kind));
  std::string text;
  for (const std::string& line : kLines) text += tokenizer->decode(tokenizer->encode(line)) + "\n";
  return text;
}

struct FileKind {
  std::string name;
  fs::path file;                                           // below the model's directory
  std::function<std::string(const ModelDirectory&)> load;  // what was read, in short
  bool guarded = false;  // by a checksum: a changed byte must be noticed as well
  bool lines = false;    // the first of them are a file too
  size_t header = 4096, footer = 0;
};

std::vector<FileKind> file_kinds() {
  const fs::path checkpoint = fs::path("checkpoints") / fmt::format("step-{}", kStep);
  std::vector<FileKind> kinds = {
      {.name = "Config", .file = "config.json", .load = model_of},
      {.name = "Weights", .file = "model.safetensors", .load = weights_of, .header = 6000},
      {.name = "BestAlignment", .file = "alignment.json", .load = model_of},
      {.name = "Settings",
       .file = "attend.yaml",
       .load = settings_of,
       .lines = true,
       .header = 600},
      {.name = "Corpus", .file = "train.corpus", .load = corpus_of, .header = 16, .footer = 1000},
      {.name = "Manifest",
       .file = checkpoint / "manifest.json",
       .load = checkpoint_of,
       .guarded = true},
      {.name = "TrainingState",
       .file = checkpoint / "state.json",
       .load = checkpoint_of,
       .guarded = true},
      {.name = "TrainingTensors",
       .file = checkpoint / kTrainingTensors,
       .load = checkpoint_of,
       .guarded = true,
       .header = 1024},
      {.name = "Log", .file = "log.jsonl", .load = log_of, .lines = true},
      {.name = "Snapshot",
       .file = fmt::format("looks/step-{}.safetensors", kStep),
       .load = snapshot_of},
  };
  for (const TokenizerKind kind : kTokenizers) {
    std::string name = "Tokenizer_" + std::string(name_of(kind));
    kinds.push_back({.name = std::move(name),
                     .file = tokenizer_file(kind),
                     .load = [kind](const ModelDirectory& d) { return encoded_by(d, kind); },
                     .header = 600,  // in those of SentencePiece, its pieces
                     .footer = 100});
  }
  return kinds;
}

class FileDamage : public testing::TestWithParam<FileKind> {
 protected:
  static void SetUpTestSuite() {
    temporary_ = new TemporaryDirectory;
    RunConfig config = small_run(temporary_->path());
    transformer(config).width = 4, transformer(config).feed_forward = 4;
    config.training.steps = kStep;
    config.training.average = 0;
    config.snapshots.every = kStep;
    config.snapshots.sentences = 1;
    run(config);
    const ModelDirectory directory{config.out};
    replace_file(directory.alignment(), to_json(AlignmentPlace{"decoder.0.cross", 1}));
    for (const TokenizerKind kind : kTokenizers) {
      train_tokenizer({.kind = kind, .vocabulary = 40}, kLines)
          ->save(config.out / tokenizer_file(kind));
    }
  }
  static void TearDownTestSuite() { delete temporary_; }

  // What is read of the file with these bytes; nothing where that is an error of ours.
  std::optional<std::string> read(std::string_view bytes) const {
    std::ofstream(directory_.root / kind_.file, std::ios::binary) << bytes;
    try {
      return kind_.load(directory_);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  static const TemporaryDirectory* temporary_;
  const ModelDirectory directory_{temporary_->path() / "model"};
  const FileKind kind_ = GetParam();
  const std::string whole_ = contents(directory_.root / kind_.file);
  const std::vector<size_t> places_ =
      places_to_damage(whole_.size(), kind_.header, kind_.footer, 300);
};

const TemporaryDirectory* FileDamage::temporary_ = nullptr;

TEST_P(FileDamage, IsNoticedOrDoesNoHarm) {
  const std::optional<std::string> expected = read(whole_);
  ASSERT_TRUE(expected);
  size_t refused = 0;
  for (const size_t at : places_) {
    try {
      const auto cut = read(std::string_view(whole_).substr(0, at));
      if (cut && !kind_.lines) {
        EXPECT_EQ(*cut, *expected) << "cut at " << at;
      }
      std::string changed = whole_;
      changed[at] = static_cast<char>(changed[at] ^ 1 << at % 8);
      const auto other = read(changed);
      if (other && kind_.guarded) {
        EXPECT_EQ(*other, *expected) << "changed at " << at;
      }
      refused += !cut + !other;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "damage at " << at << " of " << whole_.size() << ": " << error.what();
    }
  }
  if (!kind_.lines) {
    EXPECT_GT(refused, places_.size() / 2);
  }
  EXPECT_EQ(read(whole_), expected);
}

INSTANTIATE_TEST_SUITE_P(All, FileDamage, testing::ValuesIn(file_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace attend
