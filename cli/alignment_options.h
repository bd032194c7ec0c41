// The options of commands that print which tokens of the input each token of the output came from.
#pragma once

#include <algorithm>
#include <string>

#include "attend/decode/align_text.h"
#include "cli/config_flags.h"

namespace attend::cli {

struct AlignmentOptions {
  bool links = false, words = false;
  ConfigFlags place;

  void add(CLI::App& parser) {
    parser.add_flag(
        "--alignments", links,
        "after each line, links from tokens of the input to tokens of the output: 0-0 2-1");
    parser.add_flag("--words", words, "link words instead of tokens");
    place.add(parser, AlignmentConfig(), "alignment");
  }

  // An option that would do nothing is a usage error. `drawn`: links are not only printed but
  // drawn.
  void check(bool drawn = false) const {
    if (words && !links) throw CLI::ValidationError("--words", "goes with --alignments");
    if (links || drawn) return;
    for (const char* path : {"layer", "head", "leave_out_ends"}) {
      if (!place.has(path)) continue;
      std::string name = path;
      std::ranges::replace(name, '_', '-');
      throw CLI::ValidationError("--alignment-" + name, "goes with --alignments");
    }
  }

  AlignmentConfig config() const {
    AlignmentConfig config;
    place.apply(config);
    return config;
  }

  // As Moses writes them. `source` and `target` are without start and end.
  std::string line(const Tensor& weights, const TextModel& model, std::span<const int32_t> source,
                   std::span<const int32_t> target) const {
    return format_links(
        strongest_links(words ? word_weights(weights, model, source, target) : weights));
  }
};

}  // namespace attend::cli
