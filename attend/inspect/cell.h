// The arithmetic of one cell of an attention map: the vectors that are compared, the terms of their
// score, the weight among those of the row, and the head's output.
#pragma once

#include "attend/inspect/attention_maps.h"

namespace attend {

// Which cell; query and key are the row and column of the layer's map, from 0.
struct CellPlace {
  std::string layer;
  size_t head = 0, query = 0, key = 0;

  static CellPlace parse(std::string_view text);  // "decoder.1.cross:3:0:5"; throws ConfigError
};

// A step of the computation from the products to the weight, and the value after it.
struct CellStep {
  std::string name;              // "q · k", "× scale", "+ position bias", "softmax" ...
  std::optional<float> operand;  // what is multiplied or added
  float value = 0.0f;
};

// What a key contributes to the head's output.
struct CellContribution {
  size_t key = 0;
  std::string text;
  float weight = 0.0f;
  float length = 0.0f;  // |weight x value|
  float share = 0.0f;   // of the output, along its direction; shares of all keys add up to 1
};

// A cell with everything it is computed from.
struct AttentionCell {
  CellPlace place;
  std::string query, key;        // their texts
  std::string score, weighting;  // by name
  // By dimension. `term` is what the pair adds to k, and `vector` that of an additive score; both
  // may be empty. k is empty if the score does not read keys. `products` add up to the first step.
  std::vector<float> q, k, term, vector, products;
  std::vector<CellStep> steps;             // the last one is the weight
  std::string masked;                      // why the query does not see the key; empty if it does
  std::vector<float> scores, weights;      // of the row; scores are -infinity where masked
  float largest = 0.0f;                    // the largest score of the row
  std::optional<float> log_sum_exp, sink;  // of a softmax
  float weight = 0.0f;
  std::vector<float> v, weighted;               // the value, and weight x value
  std::vector<float> output;                    // of the head for the query: the sum over keys
  std::vector<CellContribution> contributions;  // longest first
};

// Computes a cell from one pass over the record. Throws ConfigError if there is no such cell, or if
// the layer records no parts.
AttentionCell attention_cell(const TextModel& model, const Trace& trace, const CellPlace& place,
                             size_t contributions = 8);

// The same cell in each head of some layers, from one pass.
struct HeadWeight {
  std::string layer;
  size_t head = 0;
  float weight = 0.0f;
};
std::vector<HeadWeight> cell_of_heads(const TextModel& model, const Trace& trace,
                                      std::span<const AttentionLayer> layers, size_t query,
                                      size_t key);

// A cell as a JSON object, and as a few dozen lines for a terminal of this width.
std::string cell_json(const AttentionCell& cell);
std::string cell_text(const AttentionCell& cell, size_t columns = 80);

}  // namespace attend
