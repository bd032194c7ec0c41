#include "attend/models/tagger.h"

#include "attend/base/error.h"
#include "attend/data/words.h"
#include "attend/io/config.h"
#include "attend/models/text_pair.h"
#include "attend/nn/pack.h"
#include "attend/ops/dropout.h"
#include "attend/ops/embedding.h"

namespace attend {

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

Signature TaggerModel::signature() const {
  Signature signature = text_signature(false, encoder_->wants_start(), encoder_->positions());
  signature.columns.push_back({.name = "tags", .kind = ColumnKind::kLabels, .written = true});
  signature.layers = encoder_->layers(kTextColumn);
  return signature;
}

void TaggerModel::pack() { pack_weights(*this); }

void TaggerModel::visit(Visitor& v) {
  v("encoder", *encoder_);
  v("output", output_);
}

}  // namespace attend
