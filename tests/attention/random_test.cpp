// Random problems against the plain twin in double, outputs and gradients: what the walks over
// single features do not combine.
#include <gtest/gtest.h>

#include "tests/attention/against_twin.h"

namespace attend {
namespace {

// Choices that follow from a number.
class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed, 0) {}

  size_t below(size_t bound) { return random_.below(next_++, bound); }
  int64_t between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(below(static_cast<size_t>(most - least + 1)));
  }
  bool chance(double p) { return random_.bernoulli(next_++, p); }
  float uniform(float low, float high) { return low + (high - low) * random_.uniform(next_++); }
  template <typename Range>
  auto of(const Range& choices) {
    return choices[below(std::size(choices))];
  }

 private:
  RandomStream random_;
  uint64_t next_ = 0;
};

Sizes random_sizes(Dice& dice) {
  Sizes sizes{};
  const size_t sequences = 1 + dice.below(3);
  for (size_t s = 0; s < sequences; ++s) {
    sizes.queries.push_back(static_cast<int32_t>(dice.below(5)));
    sizes.keys.push_back(static_cast<int32_t>(dice.below(7)));
  }
  sizes.queries[0] += 1;
  sizes.keys[0] += 1;
  sizes.kv_heads = 1 + dice.below(2);
  sizes.heads = sizes.kv_heads * (1 + dice.below(3));
  sizes.width = 1 + dice.below(4);
  sizes.value_width = 1 + dice.below(4);
  return sizes;
}

PairMask random_pairs(Dice& dice, const Sizes& sizes) {
  const size_t queries = longest(sizes.queries), keys = longest(sizes.keys);
  const Shape shapes[] = {{queries, keys},
                          {sizes.heads, queries, keys},
                          {1, queries + 1, keys + 2},
                          {1, keys},
                          {sizes.heads, queries, 1},
                          {sizes.queries.size(), 1, queries, keys},
                          {sizes.queries.size(), sizes.heads, queries, keys}};
  const Shape shape = dice.of(shapes);
  std::vector<uint8_t> allowed(shape.size());
  for (uint8_t& pair : allowed) pair = dice.chance(0.7);
  return {shape, allowed};
}

void add_random_mask(Point& p, Dice& dice, const Sizes& sizes) {
  AttentionOptions& o = p.call.options;
  const int64_t far[] = {int64_t{1} << 31, int64_t{1} << 32, int64_t{1} << 62, -(int64_t{1} << 31),
                         -(int64_t{1} << 33)};
  o.mask.causal = dice.chance(0.5);
  o.mask.strictly_causal = dice.chance(0.2);
  if (dice.chance(0.3)) {
    const size_t offsets = dice.chance(0.5) ? sizes.queries.size() : 1;
    for (size_t s = 0; s < offsets; ++s) {
      o.mask.q_offset.push_back(dice.chance(0.3) ? dice.of(far) : dice.between(-3, 5));
    }
  }
  if (dice.chance(0.3))
    o.mask.left = dice.chance(0.2) ? std::abs(dice.of(far)) : dice.between(0, 3);
  if (dice.chance(0.3))
    o.mask.right = dice.chance(0.2) ? std::abs(dice.of(far)) : dice.between(0, 3);
  if (o.mask.causal && dice.chance(0.3)) {
    o.mask.prefix.push_back(static_cast<int32_t>(dice.below(4)));
  }
  if (dice.chance(0.3)) o.mask.pairs = random_pairs(dice, sizes);
  if (dice.chance(0.3)) {
    for (const int32_t n : sizes.keys) {
      o.key_lengths.push_back(static_cast<int32_t>(dice.between(0, n)));
    }
  }
  if (dice.chance(0.2)) {
    for (const Feature& mask : masks()) {
      if (mask.name == "documents") mask.apply(p, sizes);
    }
  }
}

void add_random_terms(Point& p, Dice& dice, const Sizes& sizes) {
  AttentionOptions& o = p.call.options;
  const bool far = std::ranges::any_of(  // for a table of distances
      o.mask.q_offset, [](int64_t offset) { return std::abs(offset) > 5; });
  for (size_t i = 0; i < 2; ++i) {
    const Feature& term = terms()[dice.below(terms().size())];
    const bool twice = o.bias.defined() || o.relative.values.defined() || p.call.t5 ||
                       o.shaw.keys.defined() || o.shaw.values.defined() ||
                       o.score_weights.location.defined();
    const bool of_distances =
        term.name == "alibi" || term.name == "bias of distances" || term.name == "t5";
    if (term.fits(o) && !twice && !(far && of_distances)) term.apply(p, sizes);
  }
  if (dice.chance(0.3)) o.softcap = dice.uniform(0.3f, 3.0f);
  if (dice.chance(0.3)) o.scale = dice.uniform(-1.5f, 1.5f);
  if (dice.chance(0.3)) o.temperature = dice.uniform(0.5f, 2.0f);
}

TEST(RandomAttention, IsThatOfTheTwinInDouble) {
  Count count;
  size_t fused = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Dice dice(seed);
    Sizes sizes = random_sizes(dice);
    const Score score = dice.of(all_scores());
    // The cosine of two numbers is a sign; what keeps it finite at 0 then is most of its slope.
    if (score == Score::kCosine) sizes.width += 1;
    // Every other problem may take the fused path.
    const Weighting open[] = {Weighting::kSoftmax, Weighting::kSigmoid, Weighting::kRelu};
    const Weighting weighting = dice.chance(0.5) ? dice.of(open) : dice.of(all_weightings());
    if (!possible(sizes, score)) continue;
    Point point = make_point(sizes, score, weighting);
    add_random_mask(point, dice, sizes);
    add_random_terms(point, dice, sizes);
    SCOPED_TRACE(
        fmt::format("seed {}, score {}, weighting {}", seed, name_of(score), name_of(weighting)));
    fused += expect_equals_twin(point, count);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(fused, 100u);
  EXPECT_LT(20 * count.kinks, count.compared);
}

}  // namespace
}  // namespace attend
