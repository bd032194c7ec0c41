#include "cli/inspect_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/inspect/attention_pictures.h"
#include "attend/inspect/cell.h"
#include "attend/inspect/label_saliency.h"
#include "attend/inspect/lens_pictures.h"
#include "attend/inspect/masked_tokens.h"
#include "attend/inspect/overview.h"
#include "attend/inspect/tuning.h"
#include "cli/progress.h"
#include "cli/terminal.h"

namespace attend::cli {
namespace {

// The layer that --layer names; else those of one pair of sequences.
std::vector<AttentionLayer> chosen_layers(const InspectOptions& options, const Trace& trace) {
  const std::optional<SequencePair> block = chosen_block(trace, options.from, options.to);
  const SequencePair parts{options.from, options.to};
  if (!options.layer.empty()) {
    const AttentionLayer& layer = layer_named(trace.layers, options.layer);
    const bool fits = options.from.empty() || pair_of(layer) == parts ||
                      (block && block_between(trace, *block)->whole == pair_of(layer));
    if (fits) return {layer};
    throw ConfigError("inspect: the layer {} goes from {} to {}; leave out --from and --to",
                      layer.name, layer.queries, layer.keys);
  }
  if (block) return layers_between(trace.layers, block_between(trace, *block)->whole);
  return layers_between(trace.layers, chosen_pair(trace.layers, options.from, options.to));
}

// What the page shows first: the mean of the layers and their heads. A layer, heads or --all ask
// for more.
bool shows_mean(const InspectOptions& options) {
  return !options.all && options.layer.empty() && options.head == "mean";
}

std::vector<HeatMap> maps_of_layers(const InspectOptions& options, const TextModel& model,
                                    const Trace& trace) {
  const std::vector<AttentionLayer> layers = chosen_layers(options, trace);
  std::vector<HeatMap> maps;
  if (shows_mean(options)) {
    maps = {mean_picture(model, trace, pair_of(layers.front()))};
  } else if (options.head == "all") {
    maps = head_pictures(model, trace, layers);
  } else {
    maps = attention_pictures(model, trace, layers, HeadChoice::parse(options.head));
  }
  const std::optional<SequencePair> block = chosen_block(trace, options.from, options.to);
  if (block) cut_to_block(maps, trace, *block);
  return maps;
}

// A line for each layer below a header, an object of JSON, or a map.
std::string drawn_entropy(const InspectOptions& options, const TextModel& model, const Trace& trace,
                          PictureFormat format) {
  const std::vector<AttentionLayer> layers = chosen_layers(options, trace);
  if (format != PictureFormat::kTerminal && format != PictureFormat::kJson) {
    const HeatMap map = entropy_picture(model, trace, layers);
    return draw_maps({&map, 1}, format);
  }
  const auto all = entropies(model, trace, layers);
  nlohmann::ordered_json json;
  size_t heads = 0;
  for (const std::vector<float>& layer : all) heads = std::max(heads, layer.size());
  std::string text = "entropy of each head, in nats; 0: it looks at one token\n";
  text += fmt::format("{:<20} {:>6}", "layer", "head 0");
  for (size_t head = 1; head < heads; ++head) text += fmt::format(" {:>6}", head);
  text += "\n";
  for (size_t i = 0; i < layers.size(); ++i) {
    json[layers[i].name] = all[i];
    text += fmt::format("{:<20}", layers[i].name);
    for (const float entropy : all[i]) text += fmt::format(" {:6.3f}", entropy);
    text += "\n";
  }
  return format == PictureFormat::kJson ? json.dump() + "\n" : text;
}

HeatMap graph_map(const InspectOptions& options, const TextModel& model, const Trace& trace) {
  const GraphMethod method = options.show == "flow" ? GraphMethod::kFlow : GraphMethod::kRollout;
  if (const auto block = chosen_block(trace, options.from, options.to)) {
    HeatMap map = graph_picture(model, trace, method, block_between(trace, *block)->whole);
    cut_to_block({&map, 1}, trace, *block);
    return map;
  }
  // Layers may lead from one sequence to another through a third: only both names say which.
  SequencePair pair{options.from, options.to};
  if (pair.queries.empty() || pair.keys.empty()) {
    pair = chosen_pair(trace.layers, options.from, options.to);
  }
  return graph_picture(model, trace, method, pair);
}

LabelSaliencyConfig label_config(const InspectOptions& options) {
  LabelSaliencyConfig config{.method = label_method_from_name(options.by)};
  if (options.top > 0) config.labels = options.top;
  return config;
}

std::vector<HeatMap> maps_of(const InspectOptions& options, const TextModel& model,
                             const Trace& trace) {
  if (options.show == "attention") return maps_of_layers(options, model, trace);
  if (options.show == "rollout" || options.show == "flow") {
    return {graph_map(options, model, trace)};
  }
  if (options.show == "labels") {
    return {label_saliency_picture(model, trace, options.to, label_config(options))};
  }
  LiveLine line;
  const auto show_progress = [&](const Saliency&, size_t rows) {
    line.show(fmt::format("saliency: {} of {} tokens", rows, trace.written()->written.size()));
    return true;
  };
  return {saliency_picture(model, trace, options.to, {saliency_method_from_name(options.show)},
                           show_progress)};
}

size_t top_of(const InspectOptions& options) { return options.top > 0 ? options.top : 5; }

std::string drawn_cell(const InspectOptions& options, const TextModel& model, const Trace& trace,
                       PictureFormat format) {
  const AttentionCell cell = attention_cell(model, trace, CellPlace::parse(options.cell));
  if (format == PictureFormat::kJson) return cell_json(cell) + "\n";
  return cell_text(cell, style_of(options).columns);
}

}  // namespace

TerminalStyle style_of(const InspectOptions& options) {
  TerminalStyle style = terminal_style();
  if (options.columns > 0) style.columns = options.columns;
  if (options.colours == "none") style.colours = ColourDepth::kNone;
  if (options.colours == "256") style.colours = ColourDepth::k256;
  if (options.colours == "24bit") style.colours = ColourDepth::k24Bit;
  return style;
}

// How much the weights of each layer changed, above the map of what became of the tokens.
std::string change_table(const TuningChange& change) {
  std::string text = fmt::format("{:<20} {:>10}  {}\n", "weights of", "changed by", "parameters");
  for (const LayerChange& layer : change.layers) {
    text +=
        fmt::format("{:<20} {:>9.3g}%  {}\n", layer.name, 100 * layer.weights, layer.parameters);
  }
  if (change.fresh + change.left > 0) {
    text += fmt::format("{} tensors are new, and {} of the base were left\n", change.fresh,
                        change.left);
  }
  return text + "\n";
}

std::string drawn_beside(const InspectOptions& options, const TextModel& base,
                         const TextModel& model, const Trace& trace, PictureFormat format) {
  if (options.show == "change") {
    const TuningChange change = tuning_change(base, model, trace);
    if (format == PictureFormat::kJson) return tuning_json(change) + "\n";
    const bool is_text = format == PictureFormat::kTerminal;
    if (change.stages.empty()) {
      if (is_text) return change_table(change);
      throw ConfigError(
          "inspect: the models have no layers whose rows can be compared; --format json and the "
          "terminal show how the weights changed");
    }
    const HeatMap map = tuning_picture(change);
    return (is_text ? change_table(change) : "") + draw_maps({&map, 1}, format, style_of(options));
  }
  std::vector<AttentionLayer> layers = chosen_layers(options, trace);
  // A model of another kind has the layers of the encoder alone.
  const bool of_encoder = options.layer.empty() && !layers.front().looks_at_itself() &&
                          base.config.kind.name != model.config.kind.name;
  if (of_encoder) {
    layers = trace.layers;
    std::erase_if(layers, [](const AttentionLayer& layer) { return !layer.looks_at_itself(); });
  }
  const std::vector<HeatMap> maps =
      compared_attention(base, model, trace, layers, HeadChoice::parse(options.head));
  return draw_maps(maps, format, style_of(options));
}

std::string drawn(const InspectOptions& options, const TextModel& model, const Trace& trace,
                  PictureFormat format) {
  if (!options.cell.empty()) return drawn_cell(options, model, trace, format);
  if (options.show == "entropy") return drawn_entropy(options, model, trace, format);
  if (options.show == "lens") {
    return draw_lens(logit_lens(model, trace, top_of(options)), format, style_of(options));
  }
  if (options.show == "masked") {
    const auto places = masked_tokens(model, trace, {.top = top_of(options)});
    return draw_masked_tokens(trace, places, format, style_of(options));
  }
  if (options.show == "labels" && format == PictureFormat::kJson) {
    const LabelSaliency found = label_saliency(model, trace, label_config(options));
    return label_saliency_json(found, trace, options.to) + "\n";
  }
  std::vector<HeatMap> maps = maps_of(options, model, trace);
  const bool saliency = options.show == "gradient" || options.show == "integrated";
  // For people: the gradients of one token may be far larger than those of the others.
  if (saliency && format == PictureFormat::kTerminal) scale_by_row(maps.front());
  return draw_maps(maps, format, style_of(options));
}

}  // namespace attend::cli
