#include "attend/serve/explorer.h"

#include <fstream>

#include "attend/base/version.h"
#include "attend/inspect/heat_map.h"
#include "attend/inspect/lens.h"
#include "attend/inspect/snapshot.h"
#include "attend/io/json_log.h"
#include "attend/io/json_text.h"
#include "attend/nn/freeze.h"
#include "attend/serve/answers.h"
#include "attend/serve/examples.h"
#include "attend/serve/explorer_run.h"
#include "attend/serve/idle_memory.h"
#include "attend/serve/turn_lock.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kKeptRuns = 32, kKeptNodes = 4'000'000;
constexpr size_t kMostLogBytes = 4 << 20;  // of one answer

Json layers_json(const Signature& signature) {
  Json layers = Json::array();
  for (const AttentionLayer& layer : signature.layers) {
    layers.push_back({{"name", layer.name},
                      {"queries", layer.queries},
                      {"keys", layer.keys},
                      {"heads", layer.heads}});
  }
  return layers;
}

Json columns_json(const TextModel& model, const Signature& signature) {
  Json columns = Json::array();
  for (const ColumnSpec& column : signature.columns) {
    const std::string_view tokenizer =
        column.has_tokenizer() ? name_of(model.tokenizer(column.name).kind()) : "";
    columns.push_back({{"name", column.name},
                       {"kind", name_of(column.kind)},
                       {"tokenizer", tokenizer},
                       {"written", column.written || column.kind == ColumnKind::kLabel}});
  }
  return columns;
}

Json guide_json(const ExplorerGuide& guide) {
  return {{"title", guide.title},
          {"text", guide.text},
          {"inputs", guide.inputs},
          {"state", guide.state}};
}

}  // namespace

Explorer::Explorer(std::span<const std::filesystem::path> models,
                   std::optional<ExplorerGuide> guide)
    : guide_(std::move(guide)), computing_(std::make_unique<TurnLock>()) {
  for (const std::filesystem::path& path : models) {
    ExploredModel& added = models_.emplace_back(ExploredModel{{path}, TextModel::load(path)});
    freeze(*added.model.model);
    added.has_lens = has_logit_lens(added.model);
    added.examples = example_inputs(added.directory, added.model);
    const size_t number = models_.size() - 1;
    const bool is_named = guide_ && number < guide_->names.size();
    added.name = is_named ? guide_->names[number] : path.string();
  }
}

Explorer::~Explorer() = default;

const ExploredModel& Explorer::model(size_t number) const {
  if (number < models_.size()) return models_[number];
  throw NotFound("there is no model {}; the explorer has {}", number, models_.size());
}

std::shared_ptr<const ExplorerRun> Explorer::find(size_t number) const {
  const std::lock_guard lock(runs_lock_);
  const auto found = runs_.find(number);
  if (found != runs_.end()) return found->second;
  throw NotFound("run {} is no longer kept; run the text again", number);
}

std::string Explorer::models() const {
  Json all = Json::array();
  for (size_t i = 0; i < models_.size(); ++i) {
    const auto& [directory, text, has_lens, name, examples] = models_[i];
    const Signature signature = text.model->signature();
    all.push_back({{"id", i},
                   {"name", name},
                   {"kind", text.config.kind.name},
                   {"parameters", parameter_count(*text.model)},
                   {"writes", text.model->generator() != nullptr},
                   {"sequences", columns_json(text, signature)},
                   {"joined", signature.joined ? Json(signature.joined->name) : Json()},
                   {"layers", layers_json(signature)},
                   {"lens", has_lens},
                   {"embeds", text.model->encoder() != nullptr},
                   {"words", text.model->word_predictor() != nullptr},
                   {"masked", text.model->masked_predictor() != nullptr},
                   {"snapshots", snapshot_steps(directory).size()},
                   {"examples", examples}});
  }
  return json_text({{"version", library_version()},
                    {"models", all},
                    {"guide", guide_ ? guide_json(*guide_) : Json()},
                    {"note", kAttentionNote}});
}

// Whole lines only: the trainer may be writing the last one.
std::string Explorer::training(size_t number, const Parameters& parameters) const {
  size_t from = number_of("from", parameter(parameters, "from", "0"));
  const std::filesystem::path log = model(number).directory.log();
  std::error_code none;
  const size_t size = std::filesystem::file_size(log, none);
  if (from > size) from = 0;  // the log was started again
  std::ifstream file(log, std::ios::binary);
  std::string text;
  if (!none && file.seekg(static_cast<std::streamoff>(from))) {
    text.resize(std::min(kMostLogBytes, size - from));
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(file.gcount()));
  }
  // No report is so long: what goes on past it is skipped.
  if (text.size() < kMostLogBytes || text.find('\n') != text.npos) {
    text.resize(text.rfind('\n') + 1);
  }
  std::string lines;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    if (!parse_log_line(line)) continue;
    if (!lines.empty()) lines += ',';
    lines += line;
  }
  return fmt::format(R"({{"next":{},"lines":[{}]}})", from + text.size(), lines);
}

std::string Explorer::snapshots(size_t number) const {
  const ModelDirectory& directory = model(number).directory;
  const TextModel& text = model(number).model;
  std::vector<int64_t> steps = snapshot_steps(directory);
  Json sentences = Json::array();
  if (!steps.empty()) {
    const Snapshot last(directory, steps.back());
    // Training may have resumed with other sentences.
    std::erase_if(steps, [&](int64_t step) { return !last.is_of_same(Snapshot(directory, step)); });
    for (size_t i = 0; i < last.sentences(); ++i) {
      const Trace trace = last.trace(text, i);
      const TraceSequence& first = trace.sequences.front();
      sentences.push_back({{"text", text.tokenizer(first.name).decode(first.text_ids())},
                           {"sequences", sequences_json(trace)}});
    }
  }
  return json_text({{"steps", steps},
                    {"sentences", sentences},
                    {"layers", layers_json(text.model->signature())}});
}

std::string Explorer::snapshot_map(size_t number, const Parameters& parameters) const {
  const size_t step = number_of("step", parameter(parameters, "step"));
  const Snapshot snapshot(model(number).directory, static_cast<int64_t>(step));
  return map_bytes(snapshot.map(number_of("sentence", parameter(parameters, "sentence", "0")),
                                parameter(parameters, "layer"),
                                HeadChoice::parse(parameter(parameters, "head", "mean"))));
}

void Explorer::start_run(std::string_view text, const Emit& emit) {
  const IdleMemory given_back;
  std::unique_lock computing(*computing_, std::defer_lock);
  const EmitJson tell = [&](const Json& event) {
    const bool mine = computing.owns_lock();
    if (mine) computing.unlock();  // others may have a turn, also while the client is slow
    const bool wanted = emit(json_text(event));
    if (mine) computing.lock();
    return wanted;
  };
  try {
    RunRequest request = RunRequest::parse(text);
    const TextModel& asked = model(request.model).model;
    {
      const std::lock_guard lock(runs_lock_);
      request.number = next_run_++;
    }
    computing.lock();
    auto run = run_request(asked, request, tell);
    if (!run) return;  // nobody listens any more
    const Json done = run->done;
    keep(request.number, std::make_shared<const ExplorerRun>(*std::move(run)));
    computing.unlock();
    tell(done);                            // what asks for its maps now finds the run
  } catch (const std::exception& error) {  // also of the system, such as no memory
    tell({{"event", "error"}, {"error", error.what()}});
  }
}

// Forgets the oldest ones where there are too many, or their trees too large.
void Explorer::keep(size_t number, std::shared_ptr<const ExplorerRun> run) {
  const std::lock_guard lock(runs_lock_);
  runs_[number] = std::move(run);
  size_t nodes = 0;
  for (const auto& [_, kept] : runs_) nodes += kept->tree->nodes().size();
  while (runs_.size() > kKeptRuns || (runs_.size() > 1 && nodes > kKeptNodes)) {
    nodes -= runs_.begin()->second->tree->nodes().size();
    runs_.erase(runs_.begin());
  }
}

std::string Explorer::run(size_t number) const {
  const auto run = find(number);
  Json knocked_out = Json::array();
  for (const HeadsOf& heads : run->knocked_out) {
    knocked_out.push_back({{"layer", heads.layer}, {"head", Json()}});
    if (heads.head) knocked_out.back()["head"] = *heads.head;
  }
  return json_text({{"model", run->model},
                    {"text", run->text},
                    {"sequences", sequences_json(run->trace)},
                    {"knocked_out", knocked_out}});
}

}  // namespace attend
