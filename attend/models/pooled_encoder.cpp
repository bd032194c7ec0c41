#include "attend/models/pooled_encoder.h"

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/models/text_pair.h"
#include "attend/ops/pool.h"
#include "attend/text/tokenizer.h"

namespace attend {
namespace {

constexpr Named<LabelPooling> kPoolings[] = {{LabelPooling::kMean, "mean"},
                                             {LabelPooling::kFirst, "first"},
                                             {LabelPooling::kLast, "last"},
                                             {LabelPooling::kAttention, "attention"}};

}  // namespace

std::string_view name_of(LabelPooling pooling) { return name_from_value(kPoolings, pooling); }

void PooledEncoderConfig::set_size(const ModelSize& size) {
  encoder.settings = model_kind(encoder.kind.name).sized(size);
}

// An encoder that reads forwards knows the whole text at its end.
void PooledEncoderConfig::fit_pooling() {
  const ShapesOnly no_memory;
  Rng rng(0);
  const auto made = make_encoder(encoder, kSpecialTokens + 1, rng);
  const bool forwards = made->last_sees_all() && !made->first_sees_all();
  pooling = forwards ? LabelPooling::kLast : LabelPooling::kMean;
}

PooledEncoder::PooledEncoder(std::string_view model, const PooledEncoderConfig& c,
                             size_t vocabulary, Rng& rng)
    : config(c), encoder(make_encoder(c.encoder, vocabulary, rng)) {
  if (c.pooling == LabelPooling::kFirst && !encoder->first_sees_all()) {
    throw ConfigError(
        "{}: pooling 'first' takes the row of the start, but the encoder reads forwards and has "
        "seen nothing else there; let it read both ways, or use 'mean', 'last' or 'attention'",
        model);
  }
  if (c.pooling == LabelPooling::kAttention) {
    pooling = AttentionPooling({.attention = {.width = encoder->width(), .heads = c.heads}}, rng);
    pooling.attention.name = "pooling";
  }
  if (c.pooler) pooler = Linear(encoder->width(), encoder->width(), rng);
}

Column PooledEncoder::encode(const Batch& inputs) const {
  const auto [tokens, segments] = joined_texts(inputs);
  return {encoder->rows_of_segments(tokens, segments), tokens.packing};
}

Tensor PooledEncoder::attention_pooled(const Column& rows) const {
  return config.pooling == LabelPooling::kAttention ? pooling(rows.values, rows.packing) : Tensor();
}

Tensor PooledEncoder::operator()(const Batch& inputs) const {
  const auto [rows, packing] = encode(inputs);
  Tensor pooled;
  if (config.pooling == LabelPooling::kMean) {
    pooled = mean_pool(rows, packing);
  } else if (config.pooling == LabelPooling::kAttention) {
    pooled = pooling(rows, packing);
  } else {
    pooled = config.pooling == LabelPooling::kFirst ? first_rows(rows, packing)
                                                    : wanted_rows(rows, packing, StepRows::kLast);
  }
  return config.pooler ? pooler(pooled, Activation::kTanh) : pooled;
}

Signature PooledEncoder::signature(const ColumnSpec& written) const {
  const bool start = config.pooling == LabelPooling::kFirst || encoder->wants_start();
  Signature signature = text_signature(config.pair, start, encoder->positions());
  signature.columns.push_back(written);
  const std::string sequence = text_sequence(config.pair);
  signature.layers = encoder->layers(sequence);
  if (config.pooling == LabelPooling::kAttention) {
    signature.layers.push_back({pooling.attention.name, written.name, sequence, config.heads});
  }
  return signature;
}

void PooledEncoder::visit(Visitor& v) {
  v("encoder", *encoder);
  v("pooling", pooling);
  v("pooler", pooler);
}

}  // namespace attend
