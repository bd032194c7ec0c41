#include "attend/models/tagger.h"

#include <algorithm>
#include <limits>

#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/data/words.h"
#include "attend/io/config.h"
#include "attend/models/text_pair.h"
#include "attend/nn/pack.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/embedding.h"
#include "attend/ops/reduce.h"
#include "attend/ops/softmax.h"
#include "attend/tensor/tape.h"
#include "attend/text/tokenizer.h"

namespace attend {
namespace {

constexpr Named<TagOutput> kTagOutputs[] = {{TagOutput::kSoftmax, "softmax"},
                                            {TagOutput::kCrf, "crf"}};

constexpr std::string_view kTagsColumn = "tags";

DecodedTags decoded_rows(const Column& scores) {
  DecodedTags found{scores.packing, {}, softmax(scores.values)};
  found.best.reserve(scores.values.rows());
  for (size_t i = 0; i < scores.values.rows(); ++i) {
    const float* const row = scores.values.data() + i * scores.values.stride();
    found.best.push_back(
        static_cast<int32_t>(std::max_element(row, row + scores.values.width()) - row));
  }
  return found;
}

// Where tags depend on one another: the most probable ones together, and the marginals. A text for
// which the weights allow no tags gets those of `otherwise`.
template <typename Otherwise>
DecodedTags decoded_chain(const Column& scores, const CrfWeights& weights,
                          const Otherwise& otherwise) {
  CrfPaths paths = crf_best_paths(scores.values, scores.packing, weights);
  DecodedTags found{scores.packing, std::move(paths.tags),
                    crf_marginals(scores.values, scores.packing, weights)};
  const size_t width = scores.values.width();
  std::optional<DecodedTags> other;
  for (size_t i = 0; i < scores.packing.count(); ++i) {
    if (paths.scores[i] != -std::numeric_limits<double>::infinity()) continue;
    if (!other) other = otherwise();
    const size_t begin = scores.packing.begin(i), words = scores.packing.length(i);
    std::copy_n(other->best.begin() + static_cast<ptrdiff_t>(begin), words,
                found.best.begin() + static_cast<ptrdiff_t>(begin));
    std::copy_n(other->probabilities.data() + begin * width, words * width,
                found.probabilities.data() + begin * width);
  }
  return found;
}

}  // namespace

std::string_view name_of(TagOutput output) { return name_from_value(kTagOutputs, output); }

ModelKind tagger_kind() {
  ModelKind kind = kind_of<TaggerModel, TaggerConfig>(
      "tagger", "a tag for each word of a text, from the encoder of another model",
      {{"tagger", "the encoder of a small Transformer", [] { return AnyConfig(TaggerConfig()); }}});
  kind.around = around_encoder<TaggerConfig>;
  kind.inner = encoder_inside<TaggerConfig>;
  kind.sized = [](const ModelSize& size) {
    TaggerConfig c;
    c.encoder.settings = model_kind(c.encoder.kind.name).sized(size);
    c.dropout = size.dropout;
    return AnyConfig(c);
  };
  return kind;
}

void TaggerConfig::check() const {
  check_ranges(*this, "tagger");
  if (text_vocabulary == 0 || tags_vocabulary == 0) {
    throw ConfigError("tagger: a vocabulary of {} tokens and {} tags; both must be known",
                      text_vocabulary, tags_vocabulary);
  }
  if (!(dropout >= 0.0f && dropout < 1.0f)) {
    throw ConfigError("tagger: a dropout of {} is not within [0, 1)", dropout);
  }
}

TaggerModel::TaggerModel(const TaggerConfig& config, Rng& rng) : config_(config) {
  config.check();
  encoder_ = make_encoder(config.encoder, config.text_vocabulary, rng);
  output_ = Linear(encoder_->width(), config.tags_vocabulary, rng);
  if (config.output == TagOutput::kCrf) crf_.emplace(config.tags_vocabulary, rng);
}

void TaggerModel::read_words(std::string_view column, const Tokenizer& tokenizer) {
  if (column == kTextColumn) encoder_->read_words(tokenizer);
  if (column != kTagsColumn || config_.scheme.value_or(TagScheme::kAny) == TagScheme::kAny) return;
  std::vector<std::string> texts;
  std::vector<SpanTag> tags;
  for (int32_t id = tokenizer.first_piece(); static_cast<size_t>(id) < tokenizer.size(); ++id) {
    texts.push_back(tokenizer.decode(std::span(&id, 1)));
  }
  for (const std::string& text : texts) {
    const std::optional<SpanTag> tag = span_tag(text);
    if (!tag) {
      throw ConfigError(
          "tagger: model.tagger.scheme is {}, but '{}' is not a tag of spans, which look like "
          "B-PER, I-PER and O; set the scheme to any",
          name_of(*config_.scheme), shown_name(text));
    }
    tags.push_back(*tag);
  }
  rules_ = crf_rules(tags.size(), [&](std::optional<size_t> before, std::optional<size_t> after) {
    return may_follow(*config_.scheme, before ? &tags[*before] : nullptr,
                      after ? &tags[*after] : nullptr);
  });
}

Column TaggerModel::encode(const Batch& inputs) const {
  const Tokens text = inputs.tokens(kTextColumn);
  return {encoder_->rows(text), text.packing};
}

Column TaggerModel::tag_scores(const Batch& inputs) const {
  const auto [rows, packing] = encode(inputs);
  const Column& words = inputs[words_column(kTextColumn)];
  const auto ends = words.values.index_span();
  std::vector<int32_t> last;
  last.reserve(ends.size());
  for (size_t i = 0; i < words.packing.count(); ++i) {
    for (size_t word = words.packing.begin(i); word < words.packing.end(i); ++word) {
      last.push_back(static_cast<int32_t>(packing.begin(i)) + ends[word]);
    }
  }
  const Tensor of_words = gather_rows(rows, Tensor::ids(last, {last.size()}));
  return {output_(dropout(of_words, config_.dropout)), words.packing};
}

// Training does without the scheme: tags of a text that break its rules can be learned from.
Tensor TaggerModel::tag_loss(const Batch& inputs, const Tensor& gold,
                             const TagLossOptions& options) const {
  const auto [scores, packing] = tag_scores(inputs);
  if (!crf_) {
    return cross_entropy(scores, gold,
                         {.label_smoothing = options.label_smoothing,
                          .reduction = Reduction::kSum,
                          .class_weights = options.class_weights});
  }
  const bool weighted = options.class_weights.defined();
  if (weighted || options.label_smoothing > 0) {
    throw ConfigError(
        "tagger: {} for tags that are learned one by one, but a conditional random field learns "
        "those of a text together; leave it out, or set model.tagger.output to softmax",
        weighted ? "training.class_weights is" : "training.label_smoothing is");
  }
  return scale(sum(crf_->log_likelihood(scores, packing, gold)), -1.0f);
}

DecodedTags TaggerModel::decode_tags(const Batch& inputs) const {
  const NoGrad no_grad;
  const Column scores = tag_scores(inputs);
  const auto by_themselves = [&] { return decoded_rows(scores); };
  const auto without_rules = [&] {
    return crf_ ? decoded_chain(scores, crf_->weights(), by_themselves) : by_themselves();
  };
  if (!rules_) return without_rules();
  return decoded_chain(scores, crf_ ? add(crf_->weights(), *rules_) : *rules_, without_rules);
}

Signature TaggerModel::signature() const {
  Signature signature = text_signature(false, encoder_->wants_start(), encoder_->positions());
  signature.columns.push_back(
      {.name = std::string(kTagsColumn), .kind = ColumnKind::kLabels, .written = true});
  signature.layers = encoder_->layers(kTextColumn);
  return signature;
}

void TaggerModel::pack() { pack_weights(*this); }

void TaggerModel::visit(Visitor& v) {
  v("encoder", *encoder_);
  v("output", output_);
  if (crf_) v("crf", *crf_);
}

}  // namespace attend
