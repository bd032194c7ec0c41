// What the explorer answers about a run that is there.
#include "attend/base/printable.h"
#include "attend/inspect/cell.h"
#include "attend/inspect/graph.h"
#include "attend/inspect/label_saliency.h"
#include "attend/inspect/lens.h"
#include "attend/inspect/masked_tokens.h"
#include "attend/inspect/overview.h"
#include "attend/inspect/saliency.h"
#include "attend/inspect/tuning.h"
#include "attend/io/json_text.h"
#include "attend/serve/answers.h"
#include "attend/serve/explorer_run.h"
#include "attend/serve/idle_memory.h"
#include "attend/serve/turn_lock.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLargestThumbnail = 128;
constexpr size_t kSaliencyTurn = 1024;  // rows of a model, until others may compute

// Lets others compute who wait for it.
void pass_turn(std::unique_lock<TurnLock>& computing) {
  computing.unlock();
  computing.lock();
}

// The last number of "1,4,9".
size_t last_node(const ExplorerRun& run, const std::string& path) {
  const std::string_view last = std::string_view(path).substr(path.find_last_of(',') + 1);
  const size_t node = number_of("node", last);
  if (node > run.tree->nodes().size()) throw NotFound("the run's tree has no node {}", node);
  return node;
}

// That of the run, or of another leaf of its tree.
Trace trace_of(const TextModel& model, const ExplorerRun& run, const std::string& path) {
  if (path.empty()) return run.trace;
  return with_output(model, run.trace, run.tree->tokens(last_node(run, path)));
}

// Whether a leaf of the tree is a text without its end.
bool is_cut(const TextModel& model, const ExplorerRun& run, const std::string& path) {
  const TraceSequence* const written = run.trace.written();
  if (written == nullptr || written->role != SequenceRole::kWritten) return false;
  const size_t node = last_node(run, path);
  return node == 0 || run.tree->node(node).token != model.tokenizer(written->name).special().end;
}

// The pair of sequences that is asked for; where a part of it is left open, the first that fits.
SequencePair asked_pair(const Trace& trace, const Explorer::Parameters& parameters) {
  const SequencePair asked{parameter(parameters, "queries"), parameter(parameters, "keys")};
  const bool is_whole = !asked.queries.empty() && !asked.keys.empty();
  return is_whole ? asked : chosen_pair(trace.layers, asked.queries, asked.keys);
}

// The block of the maps of a joined sequence that is asked for, if it is one.
std::optional<MapBlock> asked_block(const Trace& trace, const Explorer::Parameters& parameters) {
  return block_between(trace, {parameter(parameters, "queries"), parameter(parameters, "keys")});
}

Tensor chosen_map(const TextModel& model, const Trace& trace,
                  const Explorer::Parameters& parameters) {
  const std::string reduction = parameter(parameters, "reduction");
  const std::optional<MapBlock> block = asked_block(trace, parameters);
  const auto cut = [&](const Tensor& map) { return block ? block->of(map) : map; };
  if (reduction.empty()) {
    return cut(attention_map(model, trace, parameter(parameters, "layer"),
                             HeadChoice::parse(parameter(parameters, "head", "mean"))));
  }
  const SequencePair pair = block ? block->whole : asked_pair(trace, parameters);
  if (reduction == "mean") return cut(mean_map(model, trace, pair));
  if (reduction == "rollout") return cut(relevance(model, trace, GraphMethod::kRollout, pair));
  if (reduction == "flow") return cut(relevance(model, trace, GraphMethod::kFlow, pair));
  throw ConfigError("unknown reduction '{}'; there are: mean, rollout, flow",
                    shown_name(reduction));
}

}  // namespace

std::string Explorer::sequences(size_t number, const Parameters& parameters) const {
  const auto run = find(number);
  const Trace trace = trace_of(model(run->model).model, *run, parameter(parameters, "path"));
  return json_text({{"sequences", sequences_json(trace)}});
}

std::string Explorer::map(size_t number, const Parameters& parameters) const {
  const auto run = find(number);
  const TextModel& text = model(run->model).model;
  const Trace trace = trace_of(text, *run, parameter(parameters, "path"));
  const ThreadMemory given_back;
  const ShortTurn computing(*computing_);
  const Without without(*run);
  return map_bytes(chosen_map(text, trace, parameters));
}

std::string Explorer::thumbnails(size_t number, const Parameters& parameters) const {
  const auto run = find(number);
  const size_t size = number_of("size", parameter(parameters, "size", "24"));
  if (size == 0 || size > kLargestThumbnail) {
    throw ConfigError("thumbnails of size {}; use 1 to {}", size, kLargestThumbnail);
  }
  const TextModel& text = model(run->model).model;
  const Trace trace = trace_of(text, *run, parameter(parameters, "path"));
  const ThreadMemory given_back;
  const ShortTurn computing(*computing_);
  const Without without(*run);
  const Thumbnails all = attend::thumbnails(text, trace, asked_pair(trace, parameters), size);
  std::string bytes;
  for (const size_t extent : {all.layers, all.heads, all.rows, all.columns}) {
    append_number(bytes, extent);
  }
  append_values(bytes, all.entropies);
  bytes.append(all.cells.begin(), all.cells.end());
  return bytes;
}

std::string Explorer::lens(size_t number, const Parameters& parameters) const {
  const auto run = find(number);
  const size_t top = number_of("top", parameter(parameters, "top", "5"));
  const TextModel& text = model(run->model).model;
  const std::string path = parameter(parameters, "path");
  Trace trace = trace_of(text, *run, path);
  const ThreadMemory given_back;
  const ShortTurn computing(*computing_);
  const Without without(*run);
  if (!path.empty() && is_cut(text, *run, path)) {
    trace = with_output(text, trace, trace.output(), likeliest_next(text, trace));
  }
  return lens_json(logit_lens(text, trace, top));
}

std::string Explorer::masked(size_t number, const Parameters& parameters) const {
  const auto run = find(number);
  const size_t top = number_of("top", parameter(parameters, "top", "5"));
  const TextModel& text = model(run->model).model;
  const IdleMemory given_back;
  std::unique_lock computing(*computing_);
  const Without without(*run);
  const MaskedTokensConfig config{
      .top = top, .most_rows = kSaliencyTurn, .on_pass = [&] { pass_turn(computing); }};
  return masked_tokens_json(run->trace, masked_tokens(text, run->trace, config));
}

// What became of another model, `base`, in that of the run; of most pairs, nothing did.
std::string Explorer::change(size_t number, const Parameters& parameters) const {
  const auto run = find(number);
  const TextModel& text = model(run->model).model;
  const TextModel& base = model(number_of("base", parameter(parameters, "base"))).model;
  const ThreadMemory given_back;
  const ShortTurn computing(*computing_);
  try {
    if (run->knocked_out.empty()) return tuning_json(tuning_change(base, text, run->trace));
    throw ConfigError("some heads of the run are off; switch them on");
  } catch (const ConfigError& error) {
    return json_text({{"unrelated", error.what()}});
  }
}

std::string Explorer::labels(size_t number, const Parameters& parameters) const {
  const auto run = find(number);
  const TextModel& text = model(run->model).model;
  const Trace trace = trace_of(text, *run, parameter(parameters, "path"));
  const IdleMemory given_back;
  std::unique_lock computing(*computing_, std::defer_lock);
  const LabelSaliencyConfig config{
      .method = label_method_from_name(parameter(parameters, "method", "gradient")),
      .labels = number_of("labels", parameter(parameters, "labels", "10")),
      .most_rows = kSaliencyTurn,
      .on_pass = [&] { pass_turn(computing); }};
  computing.lock();
  const Without without(*run);
  return label_saliency_json(label_saliency(text, trace, config), trace,
                             parameter(parameters, "keys"));
}

// Of one head; or, where none is named, the weight that each head of a layer or of a pair has
// there.
std::string Explorer::cell(size_t number, const Parameters& parameters) const {
  const auto run = find(number);
  const TextModel& text = model(run->model).model;
  const Trace trace = trace_of(text, *run, parameter(parameters, "path"));
  size_t row = number_of("row", parameter(parameters, "row"));
  size_t column = number_of("column", parameter(parameters, "column"));
  const std::optional<MapBlock> block = asked_block(trace, parameters);
  if (block) {
    if (row >= block->rows || column >= block->columns) {
      throw ConfigError("cell {}, {} is outside the block, which has {} rows and {} columns", row,
                        column, block->rows, block->columns);
    }
    row += block->row, column += block->column;
  }
  const std::string layer = parameter(parameters, "layer"), head = parameter(parameters, "head");
  const ThreadMemory given_back;
  const ShortTurn computing(*computing_);
  const Without without(*run);
  if (!head.empty()) {
    return cell_json(attention_cell(text, trace, {layer, number_of("head", head), row, column}));
  }
  const std::vector<AttentionLayer> layers =
      layer.empty()
          ? layers_between(trace.layers, block ? block->whole : asked_pair(trace, parameters))
          : std::vector{layer_named(trace.layers, layer)};
  Json heads = Json::array();
  for (const HeadWeight& one : cell_of_heads(text, trace, layers, row, column)) {
    heads.push_back({{"layer", one.layer}, {"head", one.head}, {"weight", shortest(one.weight)}});
  }
  return json_text({{"heads", heads}});
}

Explorer::Writer Explorer::saliency(size_t number, const Parameters& parameters) const {
  const auto run = find(number);
  const TextModel& text = model(run->model).model;
  const Trace trace = trace_of(text, *run, parameter(parameters, "path"));
  const SaliencyConfig config{
      .method = saliency_method_from_name(parameter(parameters, "method", "gradient")),
      .most_rows = kSaliencyTurn};
  check_saliency(trace, config);
  const size_t keys = trace.index_of(saliency_keys(trace, parameter(parameters, "keys")));
  return [this, run, &text, trace, config, keys](const EmitBytes& emit) {
    const IdleMemory given_back;
    std::unique_lock computing(*computing_);
    const Without without(*run);
    size_t written = 0;
    const auto write = [&](const Saliency& found, size_t known) {
      const Tensor& map = found[keys];
      std::string bytes = written == 0 && known > 0 ? extents_bytes(map) : "";
      append_values(bytes, map.slice_rows(written, known - written).span());
      written = known;
      computing.unlock();  // others may have a turn
      const bool wanted = emit(bytes);
      computing.lock();
      return wanted;
    };
    attend::saliency(text, trace, config, write);
  };
}

}  // namespace attend
