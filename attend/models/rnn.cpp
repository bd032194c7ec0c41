#include "attend/models/rnn.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/models/rnn_layers.h"
#include "attend/models/rnn_recorder.h"
#include "attend/ops/dropout.h"
#include "attend/ops/recurrent_schedule.h"
#include "attend/ops/reduce.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

// The sequences that are named, in that order.
Tokens pick(const Tokens& tokens, std::span<const int32_t> sequences) {
  std::vector<int32_t> ids, lengths;
  const std::span<const int32_t> all = tokens.ids.index_span();
  for (const int32_t sequence : sequences) {
    const auto s = static_cast<size_t>(sequence);
    const auto rows = all.subspan(tokens.packing.begin(s), tokens.packing.length(s));
    ids.insert(ids.end(), rows.begin(), rows.end());
    lengths.push_back(static_cast<int32_t>(rows.size()));
  }
  return {ids, Packing(lengths)};
}

// Where each row of the batch is among those of the steps.
Tensor places_of(const RecurrentSchedule& schedule) {
  Tensor places = Tensor::empty({schedule.rows.size()}, DType::kInt32);
  for (size_t i = 0; i < schedule.rows.size(); ++i) {
    places.indices()[schedule.rows[i]] = static_cast<int32_t>(i);
  }
  return places;
}

Tensor ids_of(const Tensor& ids, std::span<const int32_t> rows) {
  Tensor picked = Tensor::empty({rows.size()}, DType::kInt32);
  for (size_t i = 0; i < rows.size(); ++i) picked.indices()[i] = ids.indices()[rows[i]];
  return picked;
}

// The rows of all steps, one step after another; undefined where they have none.
Tensor together(const std::vector<RnnDecoder::Rows>& steps, Tensor RnnDecoder::Rows::*part) {
  if (steps.empty() || !(steps.front().*part).defined()) return {};
  std::vector<Tensor> rows(steps.size());
  std::ranges::transform(steps, rows.begin(), part);
  return concat(rows, 0);
}

}  // namespace

RnnEncoder::RnnEncoder(const RnnConfig& c, Rng& rng)
    : config(c),
      embedding(c.source_vocabulary, c.embedding, rng),
      layers({.cell = c.cell,
              .input = c.embedding,
              .hidden = c.hidden,
              .layers = c.encoder_layers,
              .bidirectional = c.bidirectional,
              .dropout = c.layer_dropout},
             rng) {}

Recurrent::Output RnnEncoder::operator()(const Tokens& sources) const {
  const Tensor x = dropout(embedding(sources.ids), config.embedding_dropout);
  return run_layers(layers, x, sources.packing, {}, config.recurrent_dropout);
}

void RnnEncoder::visit(Visitor& v) {
  v("embedding", embedding);
  v("layers", layers);
}

RnnStart::RnnStart(const RnnConfig& config_in, Rng& rng) : config(config_in) {
  const bool states = config.bridge == RnnBridge::kStates;
  if (states && !config.bidirectional) return;
  const size_t in = states ? config.context_width() : config.hidden;
  for (size_t layer = 0; layer < config.decoder_layers; ++layer) {
    h.emplace_back(in, config.hidden, rng);
    if (config.cell == Cell::kLstm) c.emplace_back(in, config.hidden, rng);
  }
}

Recurrent::States RnnStart::operator()(const Recurrent::States& final) const {
  if (h.empty()) return final;
  const auto from = [&](size_t layer, Tensor RecurrentState::*part) {
    if (config.bridge == RnnBridge::kTanh) return final.back().*part;
    return concat({final[2 * layer].*part, final[2 * layer + 1].*part}, -1);
  };
  Recurrent::States first(h.size());
  for (size_t layer = 0; layer < h.size(); ++layer) {
    first[layer].h = h[layer](from(layer, &RecurrentState::h), Activation::kTanh);
    if (c.empty()) continue;
    first[layer].c = c[layer](from(layer, &RecurrentState::c), Activation::kTanh);
  }
  return first;
}

void RnnStart::visit(Visitor& v) {
  v("h", h);
  v("c", c);
}

struct RnnSeq2Seq::Decoding : Generator::State {
  Hypotheses hypotheses;
  RnnDecoder::Source source;
  RnnDecoder::Walk walk;

  explicit Decoding(size_t sources) : hypotheses(sources) {}

  void reorder(std::span<const size_t> parents) override {
    hypotheses.reorder(parents);
    walk.reorder(parents);
  }
};

RnnSeq2Seq::RnnSeq2Seq(const RnnConfig& config, Rng& rng) : config_(config) {
  config.check();
  encoder_ = RnnEncoder(config, rng);
  start_ = RnnStart(config, rng);
  decoder_ = RnnDecoder(config, rng);
}

RnnDecoder::Source RnnSeq2Seq::encode(const Tokens& sources) const {
  const Recurrent::Output encoded = encoder_(sources);
  RnnDecoder::Source source;
  source.start = start_(encoded.states);
  if (config_.attends()) {
    source.encoded = decoder_.attention.remember(encoded.output, sources.packing);
    return source;
  }
  source.context = encoded.states.back().h;
  if (config_.bidirectional) {
    source.context = concat({encoded.states[encoded.states.size() - 2].h, source.context}, -1);
  }
  return source;
}

Taught RnnSeq2Seq::teach(const Tokens& sources, const Tokens& inputs) const {
  if (sources.packing.count() != inputs.packing.count()) {
    throw ShapeError("rnn: {} sources but {} targets", sources.packing.count(),
                     inputs.packing.count());
  }
  if (config_.walks()) return walk(sources, inputs);
  const RnnDecoder::Source source = encode(sources);
  const Tensor x = dropout(decoder_.embedding(inputs.ids), config_.embedding_dropout);
  const RnnDecoder::Rows rows = decoder_(x, inputs.packing, source);
  return {decoder_.logits(decoder_.last(rows, x)), {}};
}

// By time step, the longest targets first, so that the sequences of a step are the first ones of
// the step before. Only what depends on that step is done there.
Taught RnnSeq2Seq::walk(const Tokens& sources, const Tokens& inputs) const {
  const RecurrentSchedule schedule(inputs.packing);
  const RnnDecoder::Source source = encode(pick(sources, schedule.sequences));
  const Tensor x =
      dropout(decoder_.embedding(ids_of(inputs.ids, schedule.rows)), config_.embedding_dropout);
  RnnDecoder::Walk walk = decoder_.walk(source, x);
  WalkRecorder recorder(schedule.sequences);
  std::vector<RnnDecoder::Rows> steps;
  for (const RecurrentSchedule::Step& step : schedule.steps) {
    walk.keep_first(step.rows);
    steps.push_back(decoder_.step({}, Packing::even(step.rows, 1), source, walk));
  }
  recorder.finish();
  const RnnDecoder::Rows all{together(steps, &RnnDecoder::Rows::h),
                             together(steps, &RnnDecoder::Rows::context),
                             together(steps, &RnnDecoder::Rows::attentional)};
  const Tensor last = gather_rows(decoder_.last(all, x), places_of(schedule));
  Taught taught{decoder_.logits(last), {}};
  const std::vector<Tensor>& losses = walk.attention.coverage_losses;
  if (!losses.empty()) taught.coverage = mean(concat(losses, 0));
  return taught;
}

std::unique_ptr<Generator::State> RnnSeq2Seq::start(const Tokens& sources) const {
  const NoGrad no_grad;
  auto state = std::make_unique<Decoding>(sources.packing.count());
  state->source = encode(sources);
  state->walk = decoder_.walk(state->source, {});
  return state;
}

Tensor RnnSeq2Seq::step(State& state, std::span<const int32_t> tokens) const {
  const NoGrad no_grad;
  auto& decoding = dynamic_cast<Decoding&>(state);
  const Tensor x = decoder_.embedding(Tensor::ids(tokens, {tokens.size()}));
  const RnnDecoder::Rows rows =
      decoder_.step(x, decoding.hypotheses.by_source(), decoding.source, decoding.walk);
  return decoder_.logits(decoder_.last(rows, x));
}

std::vector<AttentionLayer> RnnSeq2Seq::attention_layers() const {
  if (!config_.attends()) return {};
  return {{decoder_.attention.name, AttentionPart::kCross}};
}

void RnnSeq2Seq::visit(Visitor& v) {
  v("encoder", encoder_);
  v("start", start_);
  v("decoder", decoder_);
}

}  // namespace attend
