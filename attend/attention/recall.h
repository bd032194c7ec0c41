// Additive attention over the steps of a recurrent layer, in place: nothing is copied or projected
// again. lstmn.h is built on it.
#pragma once

#include <string>
#include <vector>

#include "attend/attention/intervention.h"
#include "attend/tensor/tensor.h"

namespace attend {

// What is kept of one step, a row for each sequence.
struct PastStep {
  Tensor key;   // [sequences, attention]
  Tensor h, c;  // [sequences, hidden]
};

// The result of recall().
struct Recalled {
  Tensor mixture;          // [sequences, 2 hidden]: of h, then of c
  Tensor weights, scores;  // [sequences, steps], off the tape
  Tensor query = {};       // q, off the tape, for inspection
};

// For the first q.rows() sequences, over all steps i, with q [sequences, attention]:
//   mixture = sum_i softmax(vector.tanh(q + key_i))_i (h_i, c_i).
Recalled recall(const Tensor& q, const Tensor& vector, const std::vector<PastStep>& past);

// The same if an intervention changes scores or weights of the layer. Composed of ops, which is
// slower.
Recalled recall(const Tensor& q, const Tensor& vector, const std::vector<PastStep>& past,
                const Intervention& intervention, const std::string& layer);

}  // namespace attend
