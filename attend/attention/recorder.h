// Recording attention. While a Recorder is installed in a thread, each attention layer that the
// thread runs passes on what is requested. Outputs do not change by a bit, and without a Recorder
// nothing is kept or computed. Layers without a name share the name "attention"; `call` tells them
// apart, in the order in which they ran.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attend/attention/scores.h"
#include "attend/attention/weightings.h"
#include "attend/tensor/tensor.h"

namespace attend {

// The name of layers that have none.
inline constexpr const char* kUnnamedLayer = "attention";

// What to record of a layer.
struct RecordRequest {
  std::vector<size_t> heads = {};                  // all where empty
  std::vector<size_t> sequences = {};              // all where empty
  size_t first_query = 0, query_count = SIZE_MAX;  // counted over all steps of a decoder
  bool weights = true;
  bool scores = false;   // before weighting; -infinity where masked
  bool lse = false;      // log-sum-exp of each row, with its sink; softmax only
  bool entropy = false;  // of each row's weights, in nats
  bool parts = false;    // what scores and outputs are made of (HeadParts)
};

// Why a query does not see a key.
enum class MaskedBy : uint8_t {
  kNothing,   // it sees it
  kCausal,    // the key comes after the query, or is at it if strictly causal
  kWindow,    // the key is too far away
  kDocument,  // the key is of another document
  kTable,     // a table of pairs says so
};

// What the scores and the output of a head are computed from. Rows are as they are compared: after
// the layer's projections, norms and rotation. The score of a pair is
//   (softcap(scale x core(q, k + key_terms)) + relative + bias) / temperature,
// its weight the weighting's x factors, and the output the sum of weight x (v + value_terms).
struct HeadParts {
  Score score = Score::kScaledDot;
  ScoreCore core = ScoreCore::kDot;
  Weighting weighting = Weighting::kSoftmax;
  size_t top_k = 0;    // for kTopK
  Tensor q = {};       // [queries, width]; for kPlace [queries, places]
  Tensor k = {};       // [keys, width]; undefined for kPlace
  Tensor v = {};       // [keys, value width]
  Tensor vector = {};  // [width], for kAdditive
  // Vectors of each pair, [queries x keys, width], or undefined: Shaw's, and for kAdditive those of
  // coverage.
  Tensor key_terms = {}, value_terms = {};
  Tensor relative = {}, bias = {};    // [queries, keys], or undefined: of distances, and of pairs
  Tensor factors = {};                // [queries, keys], or undefined
  std::vector<MaskedBy> masked = {};  // (queries x keys), or empty where every query sees all keys
  float scale = 1.0f, softcap = 0.0f, temperature = 1.0f;
  std::optional<float> sink = {};
};

// One head of one sequence in one call of a layer.
struct RecordedHead {
  std::string layer;
  size_t call;  // counts the calls of a layer, such as the steps of a decoder
  size_t sequence, head;
  // Element (i, j) is of query first_query + i and key first_key + j of the sequence, counted over
  // all steps of a decoder.
  size_t first_query, first_key;
  Tensor weights = {}, scores = {};     // [queries, keys], or undefined
  Tensor lse = {}, entropy = {};        // [queries], or undefined
  std::optional<HeadParts> parts = {};  // if requested, and if the layer has such parts
};

// Receives what attention layers compute. While one is installed in a thread, it sees every
// attention layer that the thread runs; results do not change.
class Recorder {
 public:
  Recorder();  // installs itself in this thread, in place of the one before
  virtual ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // What to record of a layer, or nullopt. By default `request`, for all layers.
  virtual std::optional<RecordRequest> wants(const std::string& layer);
  // Receives what was recorded. By default adds it to `heads`.
  virtual void take(RecordedHead head);

  // For layers: the number of this call of the layer, from 0.
  size_t next_call(const std::string& layer);

  RecordRequest request;
  std::vector<RecordedHead> heads;

 private:
  Recorder* before_;
  std::vector<std::pair<std::string, size_t>> calls_;
};

// The recorder that was installed last in this thread, or nullptr.
Recorder* current_recorder();

}  // namespace attend
