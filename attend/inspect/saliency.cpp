#include "attend/inspect/saliency.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/special_tokens.h"
#include "attend/nn/embedding_tap.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/embedding.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr Named<SaliencyMethod> kMethods[] = {{SaliencyMethod::kGradient, "gradient"},
                                              {SaliencyMethod::kIntegrated, "integrated"}};

bool is_integrated(const SaliencyConfig& config) {
  return config.method == SaliencyMethod::kIntegrated;
}

size_t probes_of_each(const SaliencyConfig& config) {
  return is_integrated(config) ? std::max<size_t>(config.steps, 1) : 1;
}

// Which written token a copy of the reading is for, and how far its vectors are on the way from
// where they begin.
struct Probe {
  size_t token;
  float share;
};

constexpr int32_t kSpecials = kEnd + 1;

// Copies of one sequence, one for each probe, or of as much of its beginning as the probe sees. To
// the model every row is a token of its own: id kSpecials + n is row n, so that rows are known in
// whatever order a model takes them.
struct Copies {
  std::vector<int32_t> ids;  // of the whole sequence
  Packing packing;

  Tokens numbered() const {
    std::vector<int32_t> rows(packing.rows());
    std::iota(rows.begin(), rows.end(), kSpecials);
    return {rows, packing};
  }
  // What the ids of `numbered` stand for, special tokens first.
  Tensor real() const {
    std::vector<int32_t> all(kSpecials);
    std::iota(all.begin(), all.end(), 0);
    for (size_t i = 0; i < packing.count(); ++i) {
      all.insert(all.end(), ids.begin(), ids.begin() + static_cast<ptrdiff_t>(packing.length(i)));
    }
    return Tensor::ids(all, {all.size()});
  }
};

// Vectors of the source, and of the target after them, as what gradients end at. Each copy has gone
// its probe's share of the way: from zeros, or from the vector of the unknown token.
class Leaves : public EmbeddingTap {
 public:
  Leaves(std::span<const Probe> probes, bool from_unknown, const Copies& source,
         const Copies& target)
      : probes_(probes), from_unknown_(from_unknown), sides_{&source, &target} {}

  Tensor embed(const Tensor& ids, const LookUp& look_up) override {
    const Copies& copies = *sides_.at(leaves_.size());
    const Tensor vectors = look_up(copies.real()).detach();
    Tensor leaf = Tensor::of(vectors.to_vector(), vectors.shape());
    Tensor way = Tensor::of(vectors.to_vector(), vectors.shape());
    const size_t width = way.width();
    if (from_unknown_) {
      const float* const begin = vectors.data() + kUnknown * width;
      for (size_t j = 0; j < way.size(); ++j) way.data()[j] -= begin[j % width];
    }
    for (size_t i = 0; i < probes_.size(); ++i) {
      const float rest = 1.0f - probes_[i].share;
      const size_t begin = (kSpecials + copies.packing.begin(i)) * width;
      const size_t end = (kSpecials + copies.packing.end(i)) * width;
      for (size_t j = begin; j < end; ++j) leaf.data()[j] -= rest * way.data()[j];
    }
    ways_.push_back(way);
    leaves_.push_back(leaf.require_grad());
    return gather_rows(leaf, ids);
  }

  // Adds gradient x way, summed over the width, of each token of a probe's copy to the probe's row
  // of `to`.
  void add_products(size_t side, float weight, const Tensor& to) const {
    if (side >= leaves_.size() || !leaves_[side].grad().defined()) return;
    const Tensor gradient = leaves_[side].grad();
    const Packing& packing = sides_.at(side)->packing;
    const size_t width = gradient.width();
    for (size_t i = 0; i < probes_.size(); ++i) {
      for (size_t token = 0; token < packing.length(i); ++token) {
        const size_t begin = (kSpecials + packing.begin(i) + token) * width;
        float sum = 0;
        for (size_t c = begin; c < begin + width; ++c) {
          sum += gradient.data()[c] * ways_[side].data()[c];
        }
        to.data()[probes_[i].token * to.width() + token] += weight * sum;
      }
    }
  }

 private:
  std::span<const Probe> probes_;
  bool from_unknown_;
  std::array<const Copies*, 2> sides_;
  std::vector<Tensor> ways_, leaves_;
};

void run(const TextModel& model, const Reading& reading, std::span<const Probe> probes,
         const SaliencyConfig& config, const Saliency& to) {
  std::vector<int32_t> inputs = reading.target, labels = reading.target;
  inputs.insert(inputs.begin(), kStart);
  labels.push_back(kEnd);
  // What comes after a token has no part in it.
  std::vector<int32_t> lengths(probes.size());
  std::ranges::transform(probes, lengths.begin(),
                         [](const Probe& probe) { return static_cast<int32_t>(probe.token + 1); });
  const Copies source{reading.source, Packing::even(probes.size(), reading.source.size())};
  const Copies target{inputs, Packing(lengths)}, written{labels, target.packing};
  Leaves leaves(probes, is_integrated(config), source, target);
  const Tensor logits = model.model->logits(source.numbered(), target.numbered());
  const Tensor losses = cross_entropy(logits, written.real().slice_rows(kSpecials, logits.rows()),
                                      {.reduction = Reduction::kNone});
  const Tensor chosen = Tensor::zeros(losses.shape());
  for (size_t i = 0; i < probes.size(); ++i) chosen.span()[target.packing.end(i) - 1] = -1.0f;
  backward(losses, chosen);
  const float weight = 1.0f / static_cast<float>(probes_of_each(config));
  leaves.add_products(0, weight, to.source);
  leaves.add_products(1, weight, to.target);
}

// The first of them that go through the model together; one at least.
std::span<const Probe> first_of(std::span<const Probe> probes, size_t source, size_t most_rows) {
  size_t count = 0;
  for (size_t rows = 0; count < probes.size(); ++count) {
    rows += std::max(source, probes[count].token + 1);
    if (rows > most_rows && count > 0) break;
  }
  return probes.first(count);
}

}  // namespace

SaliencyMethod saliency_method_from_name(std::string_view name) {
  return value_from_name(kMethods, "saliency", name);
}

void check_saliency(const Reading& reading, const SaliencyConfig& config) {
  const size_t tokens = reading.target.size() + 1;
  if (tokens * probes_of_each(config) * (reading.source.size() + tokens) > kMostSaliencyRows) {
    throw DataError("saliency: {} source and {} target tokens take too long; use a shorter text{}",
                    reading.source.size(), tokens,
                    is_integrated(config) ? ", or the plain gradient" : "");
  }
}

Saliency saliency(const TextModel& model, const Reading& reading, const SaliencyConfig& config,
                  const SaliencyListener& listener) {
  check_saliency(reading, config);
  const size_t tokens = reading.target.size() + 1;
  const size_t steps = probes_of_each(config);
  std::vector<Probe> probes;
  for (size_t token = 0; token < tokens; ++token) {
    for (size_t step = 0; step < steps; ++step) {
      const float middle = (static_cast<float>(step) + 0.5f) / static_cast<float>(steps);
      probes.push_back({token, is_integrated(config) ? middle : 1.0f});
    }
  }
  Saliency found{Tensor::zeros({tokens, reading.source.size()}), Tensor::zeros({tokens, tokens})};
  for (size_t done = 0; done < probes.size();) {
    const auto some =
        first_of(std::span(probes).subspan(done), reading.source.size(), config.most_rows);
    run(model, reading, some, config, found);
    done += some.size();
    if (listener && !listener(found, done / steps)) break;
  }
  return found;
}

}  // namespace attend
