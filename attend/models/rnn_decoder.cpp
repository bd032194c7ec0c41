#include "attend/models/rnn_decoder.h"

#include <numeric>
#include <utility>

#include "attend/ops/activations.h"
#include "attend/ops/dropout.h"
#include "attend/ops/maxout.h"
#include "attend/ops/sequences.h"
#include "attend/ops/shape.h"

namespace attend {
namespace {

// Side by side, where both are defined.
Tensor beside(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() ? a : b;
  return concat({a, b}, -1);
}

Tensor pick(const Tensor& x, const Tensor& rows) { return x.defined() ? gather_rows(x, rows) : x; }

}  // namespace

RnnDecoder::RnnDecoder(const RnnConfig& c, Rng& rng)
    : config(c),
      embedding(c.target_vocabulary, c.embedding, rng),
      layers({.cell = c.cell,
              .input = c.embedding + c.fed_width(),
              .hidden = c.hidden,
              .layers = c.decoder_layers,
              .dropout = c.layer_dropout,
              .recurrent_dropout = c.recurrent_dropout},
             rng) {
  if (c.attends()) attention = RnnAttention(c, "decoder.attention", rng);
  const size_t both = c.hidden + c.context_width();
  if (c.luong()) {
    attentional = Linear(both, c.last_width(), rng, {.bias = false});
  } else {
    const size_t pieces = c.deep_output == DeepOutput::kMaxout ? 2 : 1;
    deep = Linear(both + c.embedding, pieces * c.last_width(), rng);
  }
  if (!c.tied) output = Linear(c.last_width(), c.target_vocabulary, rng);
}

RnnDecoder::Rows RnnDecoder::operator()(const Tensor& inputs, const Packing& packing,
                                        const Source& source) const {
  Rows rows;
  if (!config.attends()) rows.context = spread_rows(source.context, packing);
  rows.h = layers(beside(inputs, rows.context), packing, source.start).output;
  if (!config.attends()) return rows;
  rows.context = attention(rows.h, packing, source.encoded);
  rows.attentional = attentional(concat({rows.context, rows.h}, -1), Activation::kTanh);
  return rows;
}

RnnDecoder::Walk RnnDecoder::walk(const Source& source, const Tensor& known) const {
  const size_t rows = known.defined() ? known.rows() : 0;
  const size_t sequences = source.start.front().h.rows();
  Walk walk;
  walk.states = source.start;
  for (size_t layer = 0; layer < layers.weights.size(); ++layer) {
    walk.cells.emplace_back(layers.weights[layer],
                            UnrolledCellOptions{.cell = config.cell,
                                                .rows = rows,
                                                .known = layer == 0 ? known : Tensor(),
                                                .mask = dropout_mask(sequences, config.hidden,
                                                                     config.recurrent_dropout)});
  }
  if (config.attends()) walk.attention = attention.walk(source.encoded, rows);
  if (config.luong()) walk.attentional = UnrolledLinear(attentional.weight.matrix(), {}, rows);
  if (!config.attends()) walk.fed = source.context;
  if (config.input_feeding) walk.fed = Tensor::zeros({sequences, config.last_width()});
  return walk;
}

RnnDecoder::Rows RnnDecoder::step(const Tensor& inputs, const RnnAttention::Rows& at,
                                  const Source& source, Walk& walk) const {
  const auto look = [&](const Tensor& h) {
    return attention.step(h, at, source.encoded, walk.attention);
  };
  Rows rows;
  if (!config.luong()) {
    rows.context = config.attends() ? look(walk.states.back().h) : walk.fed;
  }
  Tensor x = beside(inputs, config.luong() ? walk.fed : rows.context);
  for (size_t layer = 0; layer < walk.cells.size(); ++layer) {
    if (layer > 0) x = dropout(walk.states[layer - 1].h, config.layer_dropout);
    walk.states[layer] = walk.cells[layer].step(x, walk.states[layer]);
  }
  rows.h = walk.states.back().h;
  if (!config.luong()) return rows;
  rows.context = look(rows.h);
  rows.attentional = tanh(walk.attentional(concat({rows.context, rows.h}, -1)));
  if (config.input_feeding) walk.fed = rows.attentional;
  return rows;
}

Tensor RnnDecoder::last(const Rows& rows, const Tensor& inputs) const {
  if (config.luong()) return rows.attentional;
  const Tensor all = concat({rows.h, inputs, rows.context}, -1);
  return config.deep_output == DeepOutput::kMaxout ? maxout(deep(all))
                                                   : deep(all, Activation::kTanh);
}

Tensor RnnDecoder::logits(const Tensor& x) const {
  const Tensor dropped = dropout(x, config.output_dropout);
  return config.tied ? embedding.tied_output()(dropped) : output(dropped);
}

void RnnDecoder::Walk::keep_first(size_t count) {
  const auto first = [count](Tensor& x) {
    if (x.defined() && x.rows() > count) x = x.slice_rows(0, count);
  };
  for (RecurrentState& state : states) first(state.h), first(state.c);
  first(fed);
}

void RnnDecoder::Walk::reorder(std::span<const size_t> parents) {
  const Tensor rows =
      Tensor::ids(std::vector<int32_t>(parents.begin(), parents.end()), {parents.size()});
  for (RecurrentState& state : states) state = {pick(state.h, rows), pick(state.c, rows)};
  fed = pick(fed, rows);
  if (attention.coverage.remembered.defined()) attention.coverage.reorder(parents);
}

void RnnDecoder::Walk::admit(const Walk& more) {
  if (states.empty()) {
    *this = more;
    return;
  }
  const auto join = [](Tensor& x, const Tensor& rows) {
    if (rows.defined()) x = concat({x, rows}, 0);
  };
  for (size_t i = 0; i < states.size(); ++i) {
    join(states[i].h, more.states[i].h);
    join(states[i].c, more.states[i].c);
  }
  join(fed, more.fed);
  if (attention.coverage.remembered.defined()) attention.coverage.admit(more.attention.coverage);
}

void RnnDecoder::Walk::put(std::span<const size_t> which, const Walk& part) {
  const size_t count = states.front().h.rows();
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = 0; i < which.size(); ++i) order[which[i]] = count + i;
  // Both have all sources; of what joins, only sequences are new.
  CoverageState& covered = attention.coverage;
  if (covered.remembered.defined()) {
    std::vector<size_t> sources = covered.alignment.sources;
    const CoverageState& more = part.attention.coverage;
    sources.insert(sources.end(), more.alignment.sources.begin(), more.alignment.sources.end());
    covered.alignment = Alignment(covered.alignment.keys, std::move(sources));
    covered.remembered = concat({covered.remembered, more.remembered}, 0);
    covered.steps.insert(covered.steps.end(), more.steps.begin(), more.steps.end());
  }
  Walk joined = part;
  joined.attention.coverage = {};
  const CoverageState kept = std::exchange(covered, CoverageState());
  admit(joined);
  covered = kept;
  reorder(order);
}

void RnnDecoder::visit(Visitor& v) {
  v("embedding", embedding);
  v("layers", layers);
  v("attention", attention);
  v("attentional", attentional);
  v("deep", deep);
  v("output", output);
}

}  // namespace attend
