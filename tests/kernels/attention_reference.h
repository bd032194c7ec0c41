// Attention as its definition says, one pair of a query and a key at a time, in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "attend/kernels/attention.h"

namespace attend::kernels {

struct AttentionReference {
  const AttentionSpec& spec;
  const AttentionInputs& in;
  std::vector<double> out, lse;  // (q rows, heads value_width), (q rows, heads)
  std::vector<double> dq, dk, dv, dbias, drelative, dsinks, dvector;

  AttentionReference(const AttentionSpec& s, const AttentionInputs& i) : spec(s), in(i) {
    out.resize(spec.q_rows() * spec.heads * spec.value_width);
    lse.resize(spec.q_rows() * spec.heads);
    for_rows([this](const Row& row) { forward(row); });
  }

  void backward(const float* dout, size_t bias_size) {
    dq.resize(spec.q_rows() * spec.heads * spec.width);
    dk.resize(spec.k_rows() * spec.kv_heads * spec.width);
    dv.resize(spec.k_rows() * spec.kv_heads * spec.value_width);
    dbias.resize(bias_size);
    drelative.resize(spec.heads * spec.relative.size);
    dsinks.resize(spec.heads);
    dvector.resize(spec.heads * spec.width);
    for_rows([&](const Row& row) { backward(row, dout); });
  }

  // Weights of one row before dropout, and the scores behind them.
  struct Row {
    size_t sequence, head, query, row;
    std::vector<double> score, capped, weight, factor;
  };
  template <typename Visit>
  void for_rows(const Visit& visit) {
    for (size_t s = 0; s < spec.sequences; ++s) {
      for (size_t h = 0; h < spec.heads; ++h) {
        for (size_t i = 0; i < spec.q_count(s); ++i) visit(weigh(s, h, i));
      }
    }
  }

  const float* key(const Row& row, size_t j) const {
    return in.k.data + (spec.k_begin(row.sequence) + j) * in.k.stride +
           row.head / spec.group() * spec.width;
  }
  const float* value(const Row& row, size_t j) const {
    return in.v.data + (spec.k_begin(row.sequence) + j) * in.v.stride +
           row.head / spec.group() * spec.value_width;
  }
  size_t relative_index(const Row& row, size_t j) const {
    return row.head * spec.relative.size + spec.relative.zero + j -
           static_cast<size_t>(spec.positions[row.row]);
  }

  Row weigh(size_t s, size_t h, size_t i) const {
    const double masked = -std::numeric_limits<double>::infinity();
    const size_t keys = spec.k_count(s);
    Row row{s, h, i, spec.q_begin(s) + i, {}, {}, {}, {}};
    row.score.assign(keys, masked);
    row.capped.assign(keys, 0.0);
    row.weight.assign(keys, 0.0);
    row.factor.assign(keys, 1.0);
    const KeyRange range = spec.ranges[row.row];
    double sum = spec.sinks == nullptr ? 0.0 : std::exp(spec.sinks[h]);
    for (size_t j = 0; j < keys; ++j) {
      const auto at = static_cast<int32_t>(j);
      if (at < range.begin || at >= range.end) continue;
      if (spec.mask.data != nullptr && spec.mask.row(s, h, i)[j] == 0) continue;
      double score = 0.0;
      const float* q = in.q.data + row.row * in.q.stride + h * spec.width;
      for (size_t c = 0; c < spec.width; ++c) {
        score += spec.vector == nullptr
                     ? double{q[c]} * key(row, j)[c]
                     : spec.vector[h * spec.width + c] * std::tanh(double{q[c]} + key(row, j)[c]);
      }
      score *= spec.scale;
      if (spec.softcap != 0.0f) {
        row.capped[j] = std::tanh(score / spec.softcap);
        score = spec.softcap * row.capped[j];
      }
      if (spec.relative.data != nullptr) score += spec.relative.data[relative_index(row, j)];
      if (spec.bias.data != nullptr) score += spec.bias.row(s, h, i)[j];
      row.score[j] = score * spec.inverse_temperature;
      switch (spec.weighting) {
        case FusedWeighting::kSoftmax:
          row.weight[j] = std::exp(row.score[j]);
          break;
        case FusedWeighting::kSigmoid:
          row.weight[j] = 1.0 / (1.0 + std::exp(-row.score[j]));
          break;
        case FusedWeighting::kRelu:
          row.weight[j] = std::max(0.0, row.score[j]);
          break;
      }
      sum += row.weight[j];
    }
    if (spec.weighting == FusedWeighting::kSoftmax) {
      for (double& w : row.weight) w = sum == 0.0 ? 0.0 : w / sum;
    }
    if (spec.dropout.chance > 0.0f) drop(row);
    return row;
  }

  void drop(Row& row) const {
    size_t longest = 0;
    for (size_t s = 0; s < spec.sequences; ++s) longest = std::max(longest, spec.k_count(s));
    const size_t stride = (longest + 127) / 128 * 128;
    std::vector<float> factors(row.factor.size());
    dropout_factors((row.row * spec.heads + row.head) * stride, factors.data(), factors.size(),
                    spec.dropout);
    row.factor.assign(factors.begin(), factors.end());
  }

  void forward(const Row& row) {
    double* o = out.data() + (row.row * spec.heads + row.head) * spec.value_width;
    double sum = spec.sinks == nullptr ? 0.0 : std::exp(spec.sinks[row.head]);
    for (size_t j = 0; j < row.weight.size(); ++j) {
      if (row.score[j] == -std::numeric_limits<double>::infinity()) continue;
      sum += std::exp(row.score[j]);
      for (size_t c = 0; c < spec.value_width; ++c) {
        o[c] += row.weight[j] * row.factor[j] * value(row, j)[c];
      }
    }
    lse[row.row * spec.heads + row.head] = std::log(sum);
  }

  void backward(const Row& row, const float* dout) {
    const size_t keys = row.weight.size();
    const float* dy = dout + (row.row * spec.heads + row.head) * spec.value_width;
    std::vector<double> dweight(keys);
    double dot = 0.0;
    for (size_t j = 0; j < keys; ++j) {
      const size_t place =
          ((spec.k_begin(row.sequence) + j) * spec.kv_heads + row.head / spec.group()) *
          spec.value_width;
      for (size_t c = 0; c < spec.value_width; ++c) {
        dweight[j] += row.factor[j] * dy[c] * value(row, j)[c];
        dv[place + c] += row.weight[j] * row.factor[j] * dy[c];
      }
      dot += row.weight[j] * dweight[j];
    }
    for (size_t j = 0; j < keys; ++j) {
      const double w = row.weight[j];
      if (row.score[j] == -std::numeric_limits<double>::infinity()) continue;
      double ds = w * (dweight[j] - dot);
      if (spec.weighting == FusedWeighting::kSigmoid) ds = w * (1.0 - w) * dweight[j];
      if (spec.weighting == FusedWeighting::kRelu) ds = w > 0.0 ? dweight[j] : 0.0;
      ds *= spec.inverse_temperature;
      if (!dbias.empty()) {
        dbias[static_cast<size_t>(spec.bias.row(row.sequence, row.head, row.query) -
                                  spec.bias.data) +
              j] += ds;
      }
      if (spec.relative.data != nullptr) drelative[relative_index(row, j)] += ds;
      if (spec.softcap != 0.0f) ds *= 1.0 - row.capped[j] * row.capped[j];
      ds *= spec.scale;
      const float* q = in.q.data + row.row * in.q.stride + row.head * spec.width;
      const size_t at_q = (row.row * spec.heads + row.head) * spec.width;
      const size_t at_k =
          ((spec.k_begin(row.sequence) + j) * spec.kv_heads + row.head / spec.group()) * spec.width;
      for (size_t c = 0; c < spec.width; ++c) {
        if (spec.vector == nullptr) {
          dq[at_q + c] += ds * key(row, j)[c];
          dk[at_k + c] += ds * q[c];
          continue;
        }
        const double t = std::tanh(double{q[c]} + key(row, j)[c]);
        const double slope = ds * spec.vector[row.head * spec.width + c] * (1.0 - t * t);
        dq[at_q + c] += slope;
        dk[at_k + c] += slope;
        dvector[row.head * spec.width + c] += ds * t;
      }
    }
    if (spec.sinks != nullptr) {
      const double l = lse[row.row * spec.heads + row.head];
      dsinks[row.head] -= std::exp(spec.sinks[row.head] - l) * dot;
    }
  }
};

}  // namespace attend::kernels
