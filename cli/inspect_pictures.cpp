#include "cli/inspect_pictures.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "attend/inspect/attention_pictures.h"
#include "attend/inspect/cell.h"
#include "attend/inspect/lens_pictures.h"
#include "attend/inspect/overview.h"
#include "cli/progress.h"
#include "cli/terminal.h"

namespace attend::cli {
namespace {

// The layer that --layer names; else those of one pair of sequences.
std::vector<AttentionLayer> chosen_layers(const InspectOptions& options, const Trace& trace) {
  if (!options.layer.empty()) return {layer_named(trace.layers, options.layer)};
  return layers_between(trace.layers, chosen_pair(trace.layers, options.from, options.to));
}

std::vector<HeatMap> maps_of_layers(const InspectOptions& options, const TextModel& model,
                                    const Trace& trace) {
  const std::vector<AttentionLayer> layers = chosen_layers(options, trace);
  if (options.head == "all") return head_pictures(model, trace, layers);
  return attention_pictures(model, trace, layers, HeadChoice::parse(options.head));
}

// A line a layer, an object of JSON, or a map.
std::string drawn_entropy(const InspectOptions& options, const TextModel& model, const Trace& trace,
                          PictureFormat format) {
  const std::vector<AttentionLayer> layers = chosen_layers(options, trace);
  if (format != PictureFormat::kTerminal && format != PictureFormat::kJson) {
    const HeatMap map = entropy_picture(model, trace, layers);
    return draw_maps({&map, 1}, format);
  }
  const auto all = entropies(model, trace, layers);
  nlohmann::ordered_json json;
  std::string text;
  for (size_t i = 0; i < layers.size(); ++i) {
    json[layers[i].name] = all[i];
    text += fmt::format("{:<20}", layers[i].name);
    for (const float entropy : all[i]) text += fmt::format(" {:6.3f}", entropy);
    text += "\n";
  }
  return format == PictureFormat::kJson ? json.dump() + "\n" : text;
}

HeatMap graph_map(const InspectOptions& options, const TextModel& model, const Trace& trace) {
  // Layers may lead from one sequence to another through a third: only both names say which.
  SequencePair pair{options.from, options.to};
  if (pair.queries.empty() || pair.keys.empty()) {
    pair = chosen_pair(trace.layers, options.from, options.to);
  }
  const bool flows = options.show == "flow";
  return graph_picture(model, trace, flows ? GraphMethod::kFlow : GraphMethod::kRollout, pair);
}

std::vector<HeatMap> maps_of(const InspectOptions& options, const TextModel& model,
                             const Trace& trace) {
  if (options.show == "attention") return maps_of_layers(options, model, trace);
  if (options.show == "rollout" || options.show == "flow") {
    return {graph_map(options, model, trace)};
  }
  LiveLine line;
  const auto show_progress = [&](const Saliency&, size_t rows) {
    line.show(fmt::format("saliency: {} of {} tokens", rows, trace.written()->written.size()));
    return true;
  };
  return {saliency_picture(model, trace, options.to, {saliency_method_from_name(options.show)},
                           show_progress)};
}

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

std::string drawn(const InspectOptions& options, const TextModel& model, const Trace& trace,
                  PictureFormat format) {
  if (!options.cell.empty()) return drawn_cell(options, model, trace, format);
  if (options.show == "entropy") return drawn_entropy(options, model, trace, format);
  if (options.show == "lens") return draw_lens(logit_lens(model, trace), format, style_of(options));
  return draw_maps(maps_of(options, model, trace), format, style_of(options));
}

}  // namespace attend::cli
