// Looking at attention. While a Recorder is installed in a thread, each attention layer that this
// thread runs hands over what was asked for; outputs do not change by a bit, and nothing is kept or
// computed where nobody asks. Layers and calls without a name share the name "attention": `call`
// tells them apart, in the order in which they ran.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "attend/tensor/tensor.h"

namespace attend {

// The name under which layers without one are recorded.
inline constexpr const char* kUnnamedLayer = "attention";

// What to hand over of a layer.
struct RecordRequest {
  std::vector<size_t> heads = {};                  // all where empty
  std::vector<size_t> sequences = {};              // all where empty
  size_t first_query = 0, query_count = SIZE_MAX;  // counted over all steps of a decoder
  bool weights = true;
  bool scores = false;   // before weighting, -infinity where masked
  bool lse = false;      // log-sum-exp of each row, with its sink; softmax only
  bool entropy = false;  // of each row's weights, in nats
};

// One head of one sequence in one call of a layer.
struct RecordedHead {
  std::string layer;
  size_t call;  // counts the calls of a layer, such as the steps of a decoder
  size_t sequence, head;
  // Element (i, j) is of query first_query + i and key first_key + j of the sequence, counted over
  // all steps of a decoder.
  size_t first_query, first_key;
  Tensor weights = {}, scores = {};  // [queries, keys], or undefined
  Tensor lse = {}, entropy = {};     // [queries], or undefined
};

class Recorder {
 public:
  Recorder();  // installs itself, over the one before
  virtual ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // What is wanted of a layer; nothing if none. By default `request` of all layers.
  virtual std::optional<RecordRequest> wants(const std::string& layer);
  // Takes what was asked for. By default it is added to `heads`.
  virtual void take(RecordedHead head);

  size_t next_call(const std::string& layer);

  RecordRequest request;
  std::vector<RecordedHead> heads;

 private:
  Recorder* before_;
  std::vector<std::pair<std::string, size_t>> calls_;
};

// The innermost one of this thread, or nullptr.
Recorder* current_recorder();

}  // namespace attend
