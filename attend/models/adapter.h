// Adapters: what fine-tuning a model with LoRA changed, stored apart from the model:
//
//   config.json, tokenizers   the adapted model's, which may be of another kind than the base
//   adapter.json              AdapterDescription: whose change it is
//   adapter.safetensors       the low-rank changes, and the parameters that the base does not have
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "attend/models/transfer.h"
#include "attend/nn/low_rank.h"

namespace attend {

struct AdapterDescription {
  size_t format = 1;
  std::filesystem::path base;  // the model directory, or a checkpoint in one
  std::string fingerprint;     // of its weights
  LowRankConfig lora;
  std::vector<std::string> trained;  // parameters that are the adapter's own

  template <typename V>
  void fields(V& v) {
    v("format", format, "version of the format", limits::kCount);
    v("base", base, "model that is adapted");
    v("fingerprint", fingerprint, "of its weights");
    v("lora", lora, "low-rank changes");
    v("trained", trained, "parameters that are the adapter's own");
  }
};

// Of all weights of a base, with their names and shapes.
std::string fingerprint_of(const BaseModel& base);

// Whether a directory has an adapter and no model of its own.
bool is_adapter(const ModelDirectory& directory);
AdapterDescription load_adapter_description(const ModelDirectory& directory);
void save_adapter_description(const ModelDirectory& directory, const AdapterDescription& adapter);

// Adds the changes of low rank, which at first change nothing, and leaves only them and what is
// `trained` to training.
void start_adapter(Model& model, const AdapterDescription& adapter, Rng& rng);

// The tensors that belong to an adapter: of a model with changes of low rank, those, what is
// `trained`, and buffers.
std::vector<NamedTensor> adapter_tensors(Model& model, const AdapterDescription& adapter);

// The base with its adapters merged into it: changes of low rank add up. Throws FormatError for an
// adapter of other weights, ConfigError for adapters that do not go together.
TextModel adapted_model(const BaseModel& base, std::span<const std::filesystem::path> adapters);
// The same with the base that the adapter names.
TextModel adapted_model(const ModelDirectory& adapter);
// The model in a directory; where there are adapters, with these instead of as it is.
TextModel load_adapted(const std::filesystem::path& model,
                       std::span<const std::filesystem::path> adapters);

// Writes the model that a base and its adapters are together, which then needs neither. Throws
// IoError where `out` has something already.
void merge_adapters(const std::filesystem::path& base,
                    std::span<const std::filesystem::path> adapters,
                    const std::filesystem::path& out);

}  // namespace attend
