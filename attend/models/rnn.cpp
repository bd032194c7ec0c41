#include "attend/models/rnn.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/models/rnn_recorder.h"
#include "attend/ops/dropout.h"
#include "attend/ops/embedding.h"
#include "attend/ops/recurrent_schedule.h"
#include "attend/ops/reduce.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

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
      recurrent({.cell = c.cell,
                 .input = c.embedding,
                 .hidden = c.hidden,
                 .layers = c.encoder_layers,
                 .bidirectional = c.bidirectional,
                 .dropout = c.layer_dropout,
                 .recurrent_dropout = c.recurrent_dropout},
                rng) {}

Recurrent::Output RnnEncoder::operator()(const Tokens& sources) const {
  const Tensor x = dropout(embedding(sources.ids), config.embedding_dropout);
  return recurrent(x, sources.packing);
}

void RnnEncoder::visit(Visitor& v) {
  v("embedding", embedding);
  v("layers", recurrent);
}

RnnStart::RnnStart(const RnnConfig& config_in, Rng& rng) : config(config_in) {
  const bool states = config.bridge == RnnBridge::kStates;
  if (config.bridge == RnnBridge::kZero || (states && !config.bidirectional)) return;
  const size_t in = states ? config.context_width() : config.hidden;
  for (size_t layer = 0; layer < config.decoder_layers; ++layer) {
    h.emplace_back(in, config.hidden, rng);
    if (config.cell == Cell::kLstm) c.emplace_back(in, config.hidden, rng);
  }
}

Recurrent::States RnnStart::operator()(const Recurrent::States& final) const {
  if (config.bridge == RnnBridge::kZero) {
    const Tensor zeros = Tensor::zeros({final.back().h.rows(), config.hidden});
    const bool cells = config.cell == Cell::kLstm;
    return Recurrent::States(config.decoder_layers, {zeros, cells ? zeros : Tensor()});
  }
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

ModelKind rnn_kind() {
  ModelKind kind = kind_of<RnnSeq2Seq, RnnConfig>(
      "rnn", "recurrent encoder-decoder, with attention or one fixed vector",
      {{"bahdanau", "bidirectional GRU with additive attention (Bahdanau et al., 2015)",
        [] { return AnyConfig(RnnConfig()); }},
       {"luong", "2 + 2 LSTM layers, general attention, input feeding (Luong et al., 2015)",
        [] { return AnyConfig(RnnConfig::luong_preset()); }},
       {"vanilla", "GRU with one fixed vector, without attention (Cho et al., 2014)",
        [] { return AnyConfig(RnnConfig::vanilla_preset()); }}});
  kind.make_encoder = encoder_of<RnnEncoder, RnnConfig>;
  return kind;
}

RnnSeq2Seq::RnnSeq2Seq(const RnnConfig& config, Rng& rng) : config_(config) {
  config.check();
  encoder_ = RnnEncoder(config, rng);
  start_ = RnnStart(config, rng);
  decoder_ = RnnDecoder(config, rng);
}

RnnDecoder::Source RnnSeq2Seq::read(const Tokens& sources) const {
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

Column RnnSeq2Seq::encode(const Batch& inputs) const {
  const Tokens sources = inputs.tokens("source");
  return {encoder_.rows(sources), sources.packing};
}

Forced RnnSeq2Seq::force(const Batch& inputs, const Tokens& written) const {
  const Tokens sources = inputs.tokens("source");
  if (sources.count() != written.count()) {
    throw ShapeError("rnn: {} sources but {} targets", sources.count(), written.count());
  }
  if (config_.walks()) return force_by_steps(sources, written);
  const RnnDecoder::Source source = read(sources);
  const Tensor x = dropout(decoder_.embedding(written.ids), config_.embedding_dropout);
  const RnnDecoder::Rows rows = decoder_(x, written.packing, source);
  return {decoder_.logits(decoder_.last(rows, x))};
}

// By time step, the longest targets first, so that the sequences of a step are the first ones of
// the step before. Only what depends on that step is done there.
Forced RnnSeq2Seq::force_by_steps(const Tokens& sources, const Tokens& written) const {
  const RecurrentSchedule schedule(written.packing);
  const std::vector<size_t> order(schedule.sequences.begin(), schedule.sequences.end());
  const RnnDecoder::Source source = read(pick_sequences(sources, order));
  const Tensor x =
      dropout(decoder_.embedding(ids_of(written.ids, schedule.rows)), config_.embedding_dropout);
  RnnDecoder::Walk walk = decoder_.walk(source, x);
  WalkRecorder recorder(schedule.sequences);
  std::vector<RnnDecoder::Rows> steps;
  for (const RecurrentSchedule::Step& step : schedule.steps) {
    walk.keep_first(step.rows);
    const RnnAttention::Rows rows{
        Packing::even(step.rows, 1),
        std::vector<int32_t>(step.rows, static_cast<int32_t>(steps.size()))};
    steps.push_back(decoder_.step({}, rows, source, walk));
  }
  recorder.finish();
  const RnnDecoder::Rows all{together(steps, &RnnDecoder::Rows::h),
                             together(steps, &RnnDecoder::Rows::context),
                             together(steps, &RnnDecoder::Rows::attentional)};
  const Tensor last = gather_rows(decoder_.last(all, x), places_of(schedule));
  Forced forced{decoder_.logits(last)};
  const std::vector<Tensor>& losses = walk.attention.coverage_losses;
  if (!losses.empty()) forced.auxiliary.push_back({"coverage", mean(concat(losses, 0))});
  return forced;
}

struct RnnSeq2Seq::Decoding : Generator::State {
  const RnnSeq2Seq& model;
  Hypotheses hypotheses;
  RnnDecoder::Source source;  // of each record; where the decoder starts is in `begun`
  RnnDecoder::Walk walk;
  RnnDecoder::Walk begun;  // as the walk was when each record was admitted
  ReadTokens read;

  explicit Decoding(const RnnSeq2Seq& of) : model(of) {}

  size_t size() const override { return hypotheses.size(); }
  std::vector<int32_t> lengths() const override {
    return {hypotheses.lengths().begin(), hypotheses.lengths().end()};
  }

  void admit(const Batch& inputs) override {
    const NoGrad no_grad;
    const RnnDecoder::Source more = model.read(inputs.tokens("source"));
    const RnnDecoder::Walk fresh = model.decoder_.walk(more, {});
    if (hypotheses.records() == 0) {
      source = more;
    } else if (model.config_.attends()) {
      source.encoded = RnnAttention::join(source.encoded, more.encoded);
    }
    walk.admit(fresh);
    begun.admit(fresh);
    hypotheses.admit(inputs.size());
    read.admit(inputs.size());
  }

  void reorder(std::span<const size_t> parents) override {
    hypotheses.reorder(parents);
    walk.reorder(parents);
    read.reorder(parents);
    const auto kept = hypotheses.retire();
    if (!kept) return;
    begun.reorder(*kept);
    if (!model.config_.attends()) return;
    source.encoded = RnnAttention::pick(source.encoded, *kept);
    for (RnnDecoder::Walk* each : {&walk, &begun}) {
      CoverageState& coverage = each->attention.coverage;
      if (coverage.remembered.defined()) coverage.retire_sources(*kept);
    }
  }

  // A state does not know the one before, so what is left is read once more.
  void rewind(std::span<const int32_t> to) override {
    hypotheses.rewind(to);
    const Tokens again = read.rewind(to);
    hypotheses.rewind(std::vector<int32_t>(to.size(), 0));
    std::vector<size_t> records(hypotheses.size());
    for (size_t i = 0; i < records.size(); ++i) records[i] = hypotheses.record_of(i);
    walk = begun;
    walk.reorder(records);
    model.advance(*this, again);
  }
};

std::unique_ptr<Generator::State> RnnSeq2Seq::start() const {
  return std::make_unique<Decoding>(*this);
}

Tensor RnnSeq2Seq::step(State& state, const Tokens& tokens, StepRows which) const {
  check_step(state, tokens);
  const Tensor last = advance(dynamic_cast<Decoding&>(state), tokens);
  const NoGrad no_grad;
  return decoder_.logits(wanted_rows(last, tokens.packing, which));
}

// Token by token. Those that have no more wait for the others.
Tensor RnnSeq2Seq::advance(Decoding& decoding, const Tokens& tokens) const {
  const NoGrad no_grad;
  Hypotheses& hypotheses = decoding.hypotheses;
  const Tensor x = decoder_.embedding(tokens.ids);
  std::vector<Tensor> made;
  std::vector<int32_t> places(tokens.packing.rows());  // among the rows of `made`
  for (size_t t = 0, done = 0; t < tokens.packing.longest(); ++t) {
    std::vector<size_t> live;
    std::vector<int32_t> rows, reads(hypotheses.size(), 0);
    RnnAttention::Rows at;
    for (size_t i = 0; i < hypotheses.size(); ++i) {
      if (t >= tokens.packing.length(i)) continue;
      live.push_back(i);
      reads[i] = 1;
      rows.push_back(static_cast<int32_t>(tokens.packing.begin(i) + t));
      at.earlier.push_back(hypotheses.lengths()[i]);
      places[tokens.packing.begin(i) + t] = static_cast<int32_t>(done++);
    }
    at.by_record = hypotheses.by_record(Packing(reads));
    const Tensor inputs = gather_rows(x, Tensor::ids(rows, {rows.size()}));
    if (live.size() == hypotheses.size()) {
      made.push_back(
          decoder_.last(decoder_.step(inputs, at, decoding.source, decoding.walk), inputs));
    } else {
      RnnDecoder::Walk some = decoding.walk;
      some.reorder(live);
      made.push_back(decoder_.last(decoder_.step(inputs, at, decoding.source, some), inputs));
      decoding.walk.put(live, some);
    }
    hypotheses.advance(Packing(reads));
  }
  decoding.read.add(tokens);
  if (made.size() == 1) return made.front();
  if (made.empty()) return Tensor::zeros({0, config_.last_width()});
  return gather_rows(concat(made, 0), Tensor::ids(places, {places.size()}));
}

Signature RnnSeq2Seq::signature() const {
  Signature signature{
      {{.name = "source", .framing = {.end = true}}, {.name = "target", .written = true}}, {}};
  if (config_.attends()) signature.layers = {{decoder_.attention.name, "target", "source"}};
  return signature;
}

void RnnSeq2Seq::visit(Visitor& v) {
  v("encoder", encoder_);
  v("start", start_);
  v("decoder", decoder_);
}

}  // namespace attend
