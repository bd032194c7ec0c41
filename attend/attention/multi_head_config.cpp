// What a multi-head layer may be.
#include "attend/attention/multi_head.h"
#include "attend/base/error.h"
#include "attend/base/names.h"

namespace attend {
namespace {

constexpr Named<Positions> kPositions[] = {{Positions::kNone, "none"},
                                           {Positions::kAlibi, "alibi"},
                                           {Positions::kT5, "t5"},
                                           {Positions::kShaw, "shaw"},
                                           {Positions::kRotary, "rotary"}};

// What the traits of the score rule out.
void check_score(const MultiHeadConfig& c) {
  const ScoreTraits& traits = traits_of(c.score);
  if (!traits.grouped && c.kv_heads != c.heads) {
    throw ConfigError(
        "multi-head attention: score {} needs a key head for each of {} heads, but there are {}; "
        "leave kv_heads out, or use {}",
        name_of(c.score), c.heads, c.kv_heads, scores_where(&ScoreTraits::grouped));
  }
  if (!traits.reads_keys && (c.longest_keys == 0 || c.qk_norm)) {
    throw ConfigError(
        "multi-head attention: score {} scores positions and reads no keys, but longest_keys is {} "
        "and qk_norm {}; set longest_keys to the longest sequence of keys, and leave qk_norm out",
        name_of(c.score), c.longest_keys, c.qk_norm);
  }
  if (c.positions == Positions::kRotary && !traits.rotary) {
    throw ConfigError(
        "multi-head attention: rotary positions turn queries and keys, but score {} does not "
        "depend on the angle between them; use {}, or other positions",
        name_of(c.score), scores_where(&ScoreTraits::rotary));
  }
  if (c.positions == Positions::kShaw && !traits.product) {
    throw ConfigError(
        "multi-head attention: Shaw's vectors are part of a product, but the score is {}; use {}, "
        "or other positions",
        name_of(c.score), scores_where(&ScoreTraits::product));
  }
}

void check_rotary(const MultiHeadConfig& c) {
  const size_t rotated = rotated_columns(c.rotary, c.head_width);
  if (rotated % 2 != 0 || rotated > c.head_width) {
    throw ConfigError(
        "multi-head attention: rotary positions turn pairs of columns, but {} of {} columns of a "
        "head cannot be paired; choose an even number",
        rotated, c.head_width);
  }
  rotary_frequencies(c.rotary, c.head_width);  // throws for a scaling that does not fit
}

}  // namespace

std::string_view name_of(Positions positions) { return name_from_value(kPositions, positions); }

MultiHeadConfig resolved(MultiHeadConfig c) {
  if (c.width == 0 || c.heads == 0) {
    throw ConfigError("multi-head attention: width {} and heads {} must be at least 1", c.width,
                      c.heads);
  }
  if (c.kv_heads == 0) c.kv_heads = c.heads;
  if (c.heads % c.kv_heads != 0) {
    throw ConfigError(
        "multi-head attention: {} heads cannot share {} key heads evenly; kv_heads divides heads",
        c.heads, c.kv_heads);
  }
  if (c.head_width == 0) {
    if (c.width % c.heads != 0) {
      throw ConfigError(
          "multi-head attention: {} heads do not divide width {}; choose another "
          "number, or give head_width",
          c.heads, c.width);
    }
    c.head_width = c.width / c.heads;
  }
  if (c.value_width == 0) c.value_width = c.head_width;
  if (c.source_width == 0) c.source_width = c.width;
  if (c.strictly_causal) c.causal = true;
  check_score(c);
  if (c.positions == Positions::kRotary) check_rotary(c);
  if (c.window && *c.window < 0) {
    throw ConfigError("multi-head attention: a window of {} keys; 0 or more", *c.window);
  }
  return c;
}

}  // namespace attend
