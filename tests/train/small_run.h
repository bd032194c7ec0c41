// A run of a fraction of a second, and what is left of it.
#pragma once

#include <fstream>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/io/checkpoint.h"
#include "attend/models/rnn.h"
#include "attend/models/transformer.h"
#include "attend/train/run.h"

namespace attend {

namespace fs = std::filesystem;

// Words of two to four letters, and the same backwards.
inline void write_pairs(const fs::path& source, const fs::path& target, size_t count,
                        uint64_t seed) {
  std::ofstream a(source), b(target);
  const RandomStream random(seed, 0);
  for (size_t i = 0; i < count; ++i) {
    std::string word;
    const size_t length = 2 + random.below(8 * i, 3);
    for (size_t j = 1; j <= length; ++j)
      word += static_cast<char>('a' + random.below(8 * i + j, 5));
    a << word << "\n";
    b << std::string(word.rbegin(), word.rend()) << "\n";
  }
}

inline void write_pairs(const TextFiles& source, const TextFiles& target, size_t count,
                        uint64_t seed) {
  write_pairs(source.front(), target.front(), count, seed);
}

inline TransformerConfig& transformer(RunConfig& config) {
  return config.model.settings.as<TransformerConfig>();
}
inline RnnConfig& rnn(RunConfig& config) { return config.model.settings.as<RnnConfig>(); }

inline RunConfig small_run(const fs::path& directory, const std::string& kind = "transformer") {
  write_pairs(directory / "train.src", directory / "train.tgt", 200, 1);
  write_pairs(directory / "valid.src", directory / "valid.tgt", 20, 2);
  RunConfig c;
  c.out = directory / "model";
  c.data.source = directory / "train.src";
  c.data.target = directory / "train.tgt";
  c.data.valid_source = directory / "valid.src";
  c.data.valid_target = directory / "valid.tgt";
  c.vocabulary.tokenizer.kind = TokenizerKind::kCharacter;
  c.model = ModelConfig(kind);
  if (kind == "transformer") {
    transformer(c).width = 16, transformer(c).heads = 2;
    transformer(c).feed_forward = 32;
    transformer(c).encoder_layers = transformer(c).decoder_layers = 1;
  } else {
    rnn(c).hidden = 16, rnn(c).embedding = 8;
  }
  c.batch.tokens = 200;
  c.schedule.warmup = 5;
  c.training.steps = 24;
  c.training.report_every = 3;
  c.training.save_every = 5;
  c.training.average = 0.9;
  c.validation.every = 8;
  c.validation.metric = Metric::kAccuracy;
  c.search.beam = 2;
  return c;
}

inline RunResult run(const RunConfig& config) {
  TrainingObserver nobody;
  const std::atomic<bool> never{false};
  return run_training(config, nobody, never);
}

inline RunPlan plan(const RunConfig& config) {
  TrainingObserver nobody;
  return plan_training(config, nobody);
}

inline std::string contents(const fs::path& path) { return file_contents(path); }

// What must be the same however a run was interrupted.
inline std::vector<std::string> outcome(const fs::path& model) {
  const auto last = latest_checkpoint(model / "checkpoints");
  if (!last) throw DataError("{} has no checkpoint", model.string());
  return {contents(model / "model.safetensors"), contents(last->path / "training.safetensors"),
          contents(last->path / "state.json")};
}

// Hears what a run says.
struct Messages : TrainingObserver {
  std::string text;
  void on_message(const std::string& line) override { text += line + "\n"; }
  bool has(std::string_view part) const { return text.find(part) != std::string::npos; }
};

// Stops by the flag after some steps.
class StopAt : public TrainingObserver {
 public:
  StopAt(int64_t step, std::atomic<bool>& stop) : step_(step), stop_(stop) {}
  void on_report(const TrainingReport& report) override {
    if (report.step >= step_) stop_ = true;
  }

 private:
  int64_t step_;
  std::atomic<bool>& stop_;
};

}  // namespace attend
