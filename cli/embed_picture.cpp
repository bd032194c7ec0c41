#include "cli/embed_picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/inspect/word_vectors.h"
#include "cli/config_flags.h"
#include "cli/help.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "cli/text_input.h"

namespace attend::cli {
namespace {

// Before anything is computed.
PictureFormat checked_format(const std::filesystem::path& picture) {
  try {
    const PictureFormat format = format_of_file(picture);
    if (format != PictureFormat::kTerminal && format != PictureFormat::kMoses) return format;
  } catch (const ConfigError&) {
  }
  throw CLI::ValidationError("--picture", fmt::format("{} should end in .svg, .png, .html, .json "
                                                      "or .npy",
                                                      picture.string()));
}

}  // namespace

void EmbedPictureOptions::add(CLI::App& parser) {
  const auto keep = [&](CLI::Option* option) {
    given_.push_back(option);
    return option;
  };
  parser
      .add_option("--picture", picture,
                  "draw the vectors as points into a file: .svg, .png, .html (shows the text under "
                  "the pointer), .json or .npy")
      ->type_name("FILE");
  keep(parser.add_option("--method", method,
                         "how vectors become points: principal components, or t-SNE, which keeps "
                         "neighbours together (pca)"))
      ->type_name(choices_text(projection_names()))
      ->check(CLI::IsMember(projection_names()).description(""));
  keep(parser.add_option("--label", labels, "file of labels, one for each line: the colours"))
      ->type_name("FILE[:COLUMN]");
  keep(parser.add_option("--words", words,
                         "draw the first N words of the vocabulary, in place of lines"))
      ->type_name("N")
      ->check(whole_number(2, kMostPoints));
  keep(parser.add_option("--column", column,
                         "with --words: whose vocabulary (default: what is read)"))
      ->type_name("NAME");
  keep(parser.add_option("--perplexity", perplexity,
                         "t-SNE: about how many neighbours a point has (30)"))
      ->type_name("X")
      ->check(CLI::Range(1.0, 10'000.0).description(""));
  keep(parser.add_option("--iterations", iterations, "t-SNE: steps of the optimisation (1000)"))
      ->type_name("N")
      ->check(whole_number(1, 100'000));
  keep(parser.add_option("--seed", seed, "t-SNE: of the displacements at the start (1)"))
      ->type_name("N")
      ->check(whole_number(0, 1'000'000'000));
}

void EmbedPictureOptions::check(bool has_lines) const {
  if (picture.empty()) {
    for (const CLI::Option* option : given_) {
      if (option->count() > 0) throw CLI::RequiresError(option->get_name(), "--picture");
    }
    return;
  }
  checked_format(picture);
  if (words > 0 && has_lines) {
    throw CLI::ValidationError("--words", "are of the model; leave out the texts and --input");
  }
  if (words > 0 && !labels.empty()) {
    throw CLI::ValidationError("--label", "is for lines; leave it out with --words");
  }
  if (words == 0 && !column.empty()) {
    throw CLI::ValidationError("--column", "is for --words; lines are what the model reads");
  }
}

void draw_embeddings(const TextModel& model, const EmbedPictureOptions& options,
                     const std::vector<std::string>& lines, const EmbeddingOptions& vectors) {
  const PictureFormat format = checked_format(options.picture);
  ProjectionConfig config{.method = projection_from_name(options.method)};
  config.tsne.perplexity = options.perplexity;
  config.tsne.iterations = options.iterations;
  config.tsne.seed = options.seed;
  std::vector<std::string> texts = lines, labels;
  Tensor points;
  if (options.words > 0) {
    VocabularyWords words = first_words(model, options.column, options.words);
    texts = std::move(words.words);
    points = words.vectors;
  } else {
    if (!options.labels.empty()) {
      labels = read_lines(options.labels);
      if (labels.size() != texts.size()) {
        throw DataError("embed: {} texts, but {} has {} labels; each line needs one", texts.size(),
                        options.labels, labels.size());
      }
    }
    const bool too_many =
        config.method == ProjectionMethod::kTsne && texts.size() > kMostTsnePoints;
    if (too_many || texts.size() > kMostPoints) {  // before hours of encoding
      throw DataError("embed: {} lines; a picture by {} has at most {}, so give fewer",
                      texts.size(), options.method, too_many ? kMostTsnePoints : kMostPoints);
    }
    points = embed_texts(model, texts, vectors);
  }
  LiveLine line;
  PointMap map = project(points, texts, labels, config, [&](size_t iteration) {
    if (iteration % 10 == 0) {
      line.show(fmt::format("t-SNE: {} of {} iterations", iteration, config.tsne.iterations));
    }
    return true;
  });
  map.named = options.words > 0;
  replace_file(options.picture, draw_points(map, format));
}

}  // namespace attend::cli
