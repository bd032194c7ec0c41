#include "attend/decode/align_text.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/decode/text_batches.h"

namespace attend {
namespace {

constexpr size_t kNoWord = static_cast<size_t>(-1);

struct Words {
  std::vector<size_t> of;  // the word of each token, or none: it is white space
  size_t count = 0;
};

Words words_of(const Tokenizer& tokenizer, std::span<const int32_t> ids) {
  constexpr std::string_view kWordStart = "▁";
  const TokenizerKind kind = tokenizer.kind();
  Words words;
  bool inside = false;
  for (const int32_t id : ids) {
    bool space = false, starts = false;
    if (kind == TokenizerKind::kBpe || kind == TokenizerKind::kUnigram) {
      starts = tokenizer.piece(id).starts_with(kWordStart);
    } else if (kind == TokenizerKind::kWordpiece) {
      starts = !tokenizer.piece(id).starts_with("##");
    } else if (kind == TokenizerKind::kByteBpe) {
      const std::string text = tokenizer.decode({&id, 1});
      space = text.find_first_not_of(" \t\r\n") == text.npos;
      starts = text.starts_with(' ');
    } else if (kind == TokenizerKind::kCharacter || kind == TokenizerKind::kByte) {
      const std::string text = tokenizer.decode({&id, 1});
      space = text == " " || text == "\t";
    } else {
      starts = true;
    }
    if (!space && (starts || !inside)) ++words.count;
    words.of.push_back(space ? kNoWord : words.count - 1);
    inside = !space;
  }
  return words;
}

// What the model reads and what it writes.
struct Sides {
  ColumnSpec source, target;

  explicit Sides(const TextModel& model) : target(model.written()) {
    const std::optional<ColumnSpec> read = model.read();
    if (!read) {
      throw ConfigError("alignments: the model reads nothing besides the {} that it writes",
                        target.name);
    }
    source = *read;
  }
};

}  // namespace

Tensor word_weights(const Tensor& weights, const TextModel& model, std::span<const int32_t> source,
                    std::span<const int32_t> target) {
  const Sides sides(model);
  const Words from = words_of(model.tokenizer(sides.source.name), source),
              to = words_of(model.tokenizer(sides.target.name), target);
  Tensor sums = Tensor::zeros({to.count + 1, from.count});
  std::vector<size_t> rows(to.count + 1, 0);
  for (size_t t = 0; t < weights.rows(); ++t) {
    const size_t word = t < target.size() ? to.of[t] : to.count;
    if (word == kNoWord) continue;
    ++rows[word];
    for (size_t s = 0; s < source.size(); ++s) {
      if (from.of[s] == kNoWord) continue;
      sums.data()[word * from.count + from.of[s]] += weights.data()[t * weights.width() + s];
    }
  }
  for (size_t word = 0; word < rows.size(); ++word) {
    for (float& weight : sums.slice_rows(word, 1).span()) {
      weight /= static_cast<float>(std::max<size_t>(rows[word], 1));
    }
  }
  return sums;
}

AlignmentConfig with_best_place(AlignmentConfig config, const TextModel& model) {
  if (config.layer != "best") return config;
  if (!model.best_alignment) {
    throw ConfigError(
        "alignments: the best layer is not known yet; find it with: attend evaluate MODEL "
        "--source FILE --target FILE --gold FILE");
  }
  config.layer = model.best_alignment->layer;
  config.head = model.best_alignment->head;
  return config;
}

std::vector<AlignedText> align_text(const TextModel& model, std::span<const std::string> sources,
                                    std::span<const std::string> targets,
                                    const AlignmentConfig& config, size_t batch_tokens) {
  const AlignmentConfig place = with_best_place(config, model);
  const Sides sides(model);
  const SpecialTokens special = model.tokenizer(sides.target.name).special();
  TextPairs pairs("align", model, sources, targets);
  std::vector<AlignedText> all(pairs.size());
  pairs.in_batches(
      model, batch_tokens,
      [&](std::span<const size_t> numbers, const Batch& inputs, const Tokens& written) {
        std::vector<Tensor> weights = alignments(*model.model, inputs, written, special, place);
        for (size_t i = 0; i < numbers.size(); ++i) all[numbers[i]].weights = std::move(weights[i]);
      });
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].source = std::move(pairs.read[i]);
    all[i].target = std::move(pairs.written[i]);
  }
  return all;
}

std::vector<RankedAlignment> rank_alignments(const TextModel& model,
                                             std::span<const std::string> sources,
                                             std::span<const std::string> targets,
                                             std::span<const std::vector<Link>> gold,
                                             size_t batch_tokens) {
  if (gold.size() != sources.size()) {
    throw DataError("align: {} lines of gold links but {} sources", gold.size(), sources.size());
  }
  std::vector<RankedAlignment> ranked;
  const auto measure = [&](const AlignmentPlace& place) {
    AlignmentStats stats;
    const auto aligned =
        align_text(model, sources, targets, {place.layer, place.head}, batch_tokens);
    for (size_t i = 0; i < aligned.size(); ++i) {
      const AlignedText& text = aligned[i];
      stats += alignment_stats(
          strongest_links(word_weights(text.weights, model, text.source, text.target)), gold[i]);
    }
    ranked.push_back({place, stats});
  };
  for (const AttentionLayer& layer : alignment_layers(model.model->signature())) {
    measure({layer.name, {}});
    for (size_t head = 0; layer.heads > 1 && head < layer.heads; ++head) {
      measure({layer.name, head});
    }
  }
  std::ranges::stable_sort(ranked, {},
                           [](const RankedAlignment& r) { return alignment_error_rate(r.stats); });
  return ranked;
}

}  // namespace attend
