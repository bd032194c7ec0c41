// `attend embed --picture`: vectors of lines, or of words, as points of a plane.
#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "attend/decode/embed.h"
#include "attend/inspect/point_map.h"

namespace attend::cli {

struct EmbedPictureOptions {
  std::filesystem::path picture;  // empty: none is asked for
  std::string labels;             // FILE or FILE:COLUMN
  std::string method = "pca", column;
  double perplexity = 30;
  size_t words = 0, iterations = 1000, seed = 1;

  // Adds the flags to those of `attend embed`.
  void add(CLI::App& parser);
  // Throws CLI::ValidationError for flags that do nothing without the others.
  void check(bool has_lines) const;

 private:
  std::vector<CLI::Option*> given_;  // flags that need --picture
};

// Draws the lines, or words of the model, into the file that is asked for.
void draw_embeddings(const TextModel& model, const EmbedPictureOptions& options,
                     const std::vector<std::string>& lines, const EmbeddingOptions& vectors);

}  // namespace attend::cli
