#include "attend/models/adapter.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/base/hash.h"
#include "attend/base/printable.h"
#include "attend/io/config.h"
#include "attend/nn/init.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

constexpr size_t kAdapterFormat = 1;

void check_base(const BaseModel& base, const std::string& fingerprint, const fs::path& path,
                const AdapterDescription& adapter) {
  if (adapter.fingerprint == fingerprint) return;
  throw FormatError(
      "{}: this adapter changes {} as it was when its training started, but {} has other weights "
      "now (fingerprint {}, not {}); give the model it was trained on, or train it again",
      path.string(), adapter.base.string(), base.directory().string(), fingerprint,
      shown_name(adapter.fingerprint));
}

bool differs(const ModelConfig& a, const ModelConfig& b) {
  return !std::ranges::all_of(differences(a, b), [](const Difference& d) {
    return d.path.ends_with("dropout") || d.path == "preset";
  });
}

// One adapter after another is read, checked and added to a model.
class Adapting {
 public:
  explicit Adapting(const BaseModel& base) : base_(base), fingerprint_(fingerprint_of(base)) {}

  void add(const fs::path& path) {
    const ModelDirectory directory{path};
    const AdapterDescription adapter = load_adapter_description(directory);
    check_base(base_, fingerprint_, path, adapter);
    const TextModel described = TextModel::load_description(directory);
    const SafetensorsFile file(directory.adapter());
    check_file(file, described, adapter);
    if (!model_) {
      start(described, adapter);
      first_ = path;
    } else {
      check_together(path, described);
    }
    for (const std::string& name : adapter.trained) {
      const auto [other, is_new] = owners_.emplace(name, path);
      if (is_new) continue;
      throw ConfigError("{} and {} both have {} as their own; use one of them at a time",
                        other->second.string(), path.string(), shown_name(name));
    }
    Rng unused(0);
    add_low_rank(*model_->model, adapter.lora, unused);
    load_weights(file, adapter_tensors(*model_->model, adapter));
    merge_low_rank(*model_->model);
  }

  TextModel take() { return std::move(*model_); }

 private:
  // Before memory is taken.
  static void check_file(const SafetensorsFile& file, const TextModel& described,
                         const AdapterDescription& adapter) {
    Rng unused(0);
    const ShapesOnly no_memory;
    const auto shapes = make_model(described.config, unused);
    add_low_rank(*shapes, adapter.lora, unused);
    check_weights(file, adapter_tensors(*shapes, adapter));
  }

  void start(const TextModel& described, const AdapterDescription& adapter) {
    model_ = described;
    const std::vector<NamedTensor> all = parameters_and_buffers(*model_->model);
    for (const NamedTensor& t : all) t.tensor.allocate();
    const TransferReport report =
        transfer_weights(base_, *model_, {.vocabulary = VocabularyTransfer::kNew});
    std::set<std::string> known(report.taken.begin(), report.taken.end());
    known.insert(adapter.trained.begin(), adapter.trained.end());
    for (const NamedTensor& t : buffers(*model_->model)) known.insert(t.name);
    for (const NamedTensor& t : all) {
      if (known.contains(t.name)) continue;
      throw FormatError("{}: neither the adapter nor {} has {}; copy the whole directory again",
                        base_.directory().string(), adapter.base.string(), t.name);
    }
  }

  void check_together(const fs::path& path, const TextModel& described) const {
    if (!differs(model_->config, described.config)) return;
    throw ConfigError("{} and {} adapt {} to different models; use one of them at a time",
                      first_.string(), path.string(), base_.directory().string());
  }

  const BaseModel& base_;
  std::string fingerprint_;
  std::optional<TextModel> model_;
  fs::path first_;
  std::map<std::string, fs::path> owners_;  // of parameters
};

}  // namespace

std::string fingerprint_of(const BaseModel& base) {
  Hash hash;
  for (const NamedTensor& t : parameters_and_buffers(*base.model().model)) {
    const Tensor values = base.read(t);
    hash.add(fmt::format("{} {}\n", t.name, t.tensor.shape()));
    hash.add({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  }
  return fmt::format("{:016x}", hash.value());
}

void start_adapter(Model& model, const AdapterDescription& adapter, Rng& rng) {
  add_low_rank(model, adapter.lora, rng);
  freeze_base(model, adapter.trained);
}

bool is_adapter(const ModelDirectory& directory) {
  return !fs::exists(directory.weights()) && fs::exists(directory.adapter());
}

AdapterDescription load_adapter_description(const ModelDirectory& directory) {
  if (!fs::exists(directory.adapter_config())) {
    throw IoError(
        "{}: it has no adapter.json, so it is no adapter; give what `attend train "
        "--lora.rank N` wrote",
        directory.root.string());
  }
  AdapterDescription adapter;
  read_config(adapter, directory.adapter_config());
  if (adapter.format > kAdapterFormat) {
    throw FormatError("{}: format {} is of a later version of Attend; install that",
                      directory.adapter_config().string(), adapter.format);
  }
  return adapter;
}

void save_adapter_description(const ModelDirectory& directory, const AdapterDescription& adapter) {
  replace_file(directory.adapter_config(), to_json(adapter) + "\n");
}

std::vector<NamedTensor> adapter_tensors(Model& model, const AdapterDescription& adapter) {
  std::set<std::string> wanted(adapter.trained.begin(), adapter.trained.end());
  for (const NamedTensor& t : buffers(model)) wanted.insert(t.name);
  std::vector<NamedTensor> found;
  for (const NamedTensor& t : parameters_and_buffers(model)) {
    const bool own = wanted.erase(t.name) > 0;
    if (own || is_low_rank(t.name)) found.push_back(t);
  }
  if (wanted.empty()) return found;
  throw FormatError("adapter.json: the model has no {}; copy the whole directory again",
                    shown_name(*wanted.begin()));
}

TextModel adapted_model(const BaseModel& base, std::span<const fs::path> adapters) {
  if (adapters.empty()) throw ConfigError("{}: no adapter", base.directory().string());
  Adapting adapting(base);
  for (const fs::path& path : adapters) adapting.add(path);
  return adapting.take();
}

TextModel adapted_model(const ModelDirectory& adapter) {
  const AdapterDescription description = load_adapter_description(adapter);
  if (!fs::exists(description.base)) {
    throw IoError(
        "{}: it adapts {}, which is not there; give the model's place: `attend adapter merge BASE "
        "{} --out DIRECTORY`",
        adapter.root.string(), description.base.string(), adapter.root.string());
  }
  if (is_adapter({description.base})) {
    throw FormatError("{}: it adapts {}, which is an adapter itself; merge that first",
                      adapter.root.string(), description.base.string());
  }
  return adapted_model(BaseModel(description.base), std::span(&adapter.root, 1));
}

TextModel load_adapted(const fs::path& model, std::span<const fs::path> adapters) {
  return adapters.empty() ? TextModel::load(model) : adapted_model(BaseModel(model), adapters);
}

void merge_adapters(const fs::path& base, std::span<const fs::path> adapters, const fs::path& out) {
  const ModelDirectory to{out};
  if (fs::exists(to.config()) || fs::exists(to.weights())) {
    throw IoError("{} has a model; merge into another directory, or remove it", out.string());
  }
  const TextModel merged = adapted_model(BaseModel(base), adapters);
  make_directories(out);
  merged.save_description(to);
  merged.save_weights(to.weights());
}

}  // namespace attend
