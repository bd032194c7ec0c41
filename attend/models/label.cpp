#include "attend/models/label.h"

#include <limits>

#include "attend/base/names.h"
#include "attend/base/special_tokens.h"
#include "attend/ops/dropout.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/pool.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"

namespace attend {
namespace {

constexpr Named<EncoderKind> kEncoders[] = {{EncoderKind::kTransformer, "transformer"},
                                            {EncoderKind::kRnn, "rnn"},
                                            {EncoderKind::kConv, "conv"}};
constexpr Named<LabelPooling> kPoolings[] = {{LabelPooling::kMean, "mean"},
                                             {LabelPooling::kFirst, "first"},
                                             {LabelPooling::kAttention, "attention"}};
constexpr float kNever = -std::numeric_limits<float>::infinity();

Tensor ids_of(const std::vector<int32_t>& ids) { return Tensor::ids(ids, {ids.size()}); }

// The row of each query's source.
Tensor spread(const Tensor& rows, const Packing& queries) {
  std::vector<int32_t> ids;
  for (size_t s = 0; s < queries.count(); ++s) {
    ids.insert(ids.end(), queries.length(s), static_cast<int32_t>(s));
  }
  return gather_rows(rows, ids_of(ids));
}

void check_targets(const Packing& sources, const Packing& targets) {
  if (sources.count() != targets.count()) {
    throw ShapeError("label: {} sources but {} targets", sources.count(), targets.count());
  }
  if (current_training() != nullptr && targets.longest() > 2) {
    throw DataError(
        "label: a target of {} tokens, where a label is one; with vocabulary.target_kind 'line' "
        "all of a line is a token",
        targets.longest() - 1);
  }
}

}  // namespace

EncoderKind encoder_kind_from_name(std::string_view name) {
  return value_from_name(kEncoders, "encoder", name);
}
std::string_view name_of(EncoderKind kind) { return name_from_value(kEncoders, kind); }
LabelPooling label_pooling_from_name(std::string_view name) {
  return value_from_name(kPoolings, "pooling", name);
}
std::string_view name_of(LabelPooling pooling) { return name_from_value(kPoolings, pooling); }

void LabelConfig::check() const {
  check_ranges(*this, "label");
  if (target_vocabulary <= kSpecialTokens) {
    throw ConfigError("label: a vocabulary of {} tokens, {} of them special, has no label",
                      target_vocabulary, kSpecialTokens);
  }
  if (!(dropout >= 0.0f && dropout < 1.0f)) {
    throw ConfigError("label: a dropout of {} is not within [0, 1)", dropout);
  }
}

struct LabelModel::Decoding : Generator::State {
  Hypotheses hypotheses;
  Tensor pooled;         // [sources, width], or else
  KeyValueCache source;  // what attention pooling looks at
  int32_t written = 0;

  explicit Decoding(size_t sources) : hypotheses(sources) {}

  void reorder(std::span<const size_t> parents) override { hypotheses.reorder(parents); }
};

LabelModel::LabelModel(const LabelConfig& config, Encoder encoder, Rng& rng)
    : config_(config), encoder_(std::move(encoder)) {
  config.check();
  const auto* rnn = std::get_if<RnnEncoder>(&encoder_);
  if (config.pooling == LabelPooling::kFirst && rnn != nullptr && !rnn->config.bidirectional) {
    throw ConfigError(
        "label: pooling 'first' with an rnn that reads forwards sees nothing but the start; set "
        "rnn.bidirectional, or use 'mean' or 'attention'");
  }
  const size_t width = std::visit([](const auto& e) { return e.width(); }, encoder_);
  if (attends()) {
    pooling_ = AttentionPooling({.attention = {.width = width, .heads = config.heads}}, rng);
    pooling_.attention.name = "pooling";
  }
  output_ = Linear(width, config.target_vocabulary, rng);
}

Tokens LabelModel::read(const Tokens& sources) const {
  if (config_.pooling != LabelPooling::kFirst) return sources;
  std::vector<int32_t> ids, lengths;
  const auto all = sources.ids.index_span();
  for (size_t s = 0; s < sources.packing.count(); ++s) {
    const auto line = all.subspan(sources.packing.begin(s), sources.packing.length(s));
    ids.push_back(kStart);
    ids.insert(ids.end(), line.begin(), line.end());
    lengths.push_back(static_cast<int32_t>(line.size()) + 1);
  }
  return {ids, Packing(lengths)};
}

Tensor LabelModel::encode(const Tokens& read) const {
  return std::visit([&](const auto& e) { return e.rows(read); }, encoder_);
}

Tensor LabelModel::pooled(const Tensor& rows, const Packing& packing) const {
  if (config_.pooling == LabelPooling::kMean) return mean_pool(rows, packing);
  const auto firsts = packing.offsets().first(packing.count());
  return gather_rows(rows, Tensor::ids(firsts, {firsts.size()}));
}

Tensor LabelModel::queries(size_t count) const {
  return gather_rows(pooling_.queries, ids_of(std::vector<int32_t>(count, 0)));
}

Tensor LabelModel::labels(const Tensor& pooled) const {
  const Tensor possible = Tensor::zeros({config_.target_vocabulary});
  possible.span()[kStart] = possible.span()[kEnd] = kNever;
  return add(output_(dropout(pooled, config_.dropout)), possible);
}

Tensor LabelModel::ends(size_t rows) const {
  Tensor logits = Tensor::full({rows, config_.target_vocabulary}, kNever);
  for (size_t i = 0; i < rows; ++i) logits.slice_rows(i, 1).span()[kEnd] = 0.0f;
  return logits;
}

// Attention pooling looks once for each row of the targets, so that a Recorder sees what it sees of
// any decoder; only the first look of a target counts.
Tensor LabelModel::logits(const Tokens& sources, const Tokens& inputs) const {
  const Packing& targets = inputs.packing;
  check_targets(sources.packing, targets);
  const Tokens tokens = read(sources);
  const Tensor rows = encode(tokens);
  const Tensor seen =
      attends() ? pooling_.attention(queries(targets.rows()), targets, rows, tokens.packing)
                : spread(pooled(rows, tokens.packing), targets);
  std::vector<int32_t> firsts;
  for (size_t s = 0; s < targets.count(); ++s) {
    if (targets.length(s) > 0) firsts.push_back(static_cast<int32_t>(targets.begin(s)));
  }
  std::vector<int32_t> places(targets.rows(), static_cast<int32_t>(firsts.size()));
  for (size_t i = 0; i < firsts.size(); ++i) {
    places[static_cast<size_t>(firsts[i])] = static_cast<int32_t>(i);
  }
  const Tensor different = concat({labels(gather_rows(seen, ids_of(firsts))), ends(1)}, 0);
  return gather_rows(different, ids_of(places));
}

std::unique_ptr<Generator::State> LabelModel::start(const Tokens& sources) const {
  const NoGrad no_grad;
  auto state = std::make_unique<Decoding>(sources.packing.count());
  const Tokens tokens = read(sources);
  const Tensor rows = encode(tokens);
  if (attends()) {
    state->source = pooling_.attention.remember(rows, tokens.packing);
  } else {
    state->pooled = pooled(rows, tokens.packing);
  }
  return state;
}

Tensor LabelModel::step(State& state, std::span<const int32_t> tokens) const {
  const NoGrad no_grad;
  auto& decoding = dynamic_cast<Decoding&>(state);
  const Packing targets = decoding.hypotheses.by_source();
  const std::vector<int32_t> earlier(targets.count(), decoding.written++);
  const Tensor seen =
      attends() ? pooling_.attention.look(queries(tokens.size()), targets, decoding.source, earlier)
                : spread(decoding.pooled, targets);
  return decoding.written == 1 ? labels(seen) : ends(tokens.size());
}

std::vector<AttentionLayer> LabelModel::attention_layers() const {
  std::vector<AttentionLayer> all;
  if (const auto* encoder = std::get_if<TransformerEncoder>(&encoder_)) {
    all = encoder->attention_layers();
  }
  if (attends()) all.push_back({pooling_.attention.name, AttentionPart::kCross, config_.heads});
  return all;
}

void LabelModel::visit(Visitor& v) {
  std::visit([&](auto& encoder) { v("encoder", encoder); }, encoder_);
  v("pooling", pooling_);
  v("output", output_);
}

}  // namespace attend
