// The decoder of a recurrent encoder-decoder.
#pragma once

#include "attend/models/rnn_attention.h"
#include "attend/nn/embedding.h"
#include "attend/nn/recurrent.h"

namespace attend {

struct RnnDecoder {
  RnnConfig config;
  Embedding embedding;
  Recurrent layers;  // the first sees [embedding; context, attentional vector, or nothing]
  RnnAttention attention;
  Linear attentional;  // Luong's form: from [context; state]
  Linear deep;         // Bahdanau's form: from [state; embedding; context]
  Linear output;       // where it is not tied

  RnnDecoder() = default;
  RnnDecoder(const RnnConfig& config, Rng& rng);

  // The sources, one row or sequence for each.
  struct Source {
    RnnAttention::Source encoded;
    Tensor context;           // the fixed one [sources, context_width], if there is no attention
    Recurrent::States start;  // of each layer
  };

  // What the output layer is computed from.
  struct Rows {
    Tensor h, context;   // [rows, hidden], [rows, context_width]
    Tensor attentional;  // [rows, last_width], in Luong's form
  };
  // All rows of `inputs` [rows, embedding] at once, unless config.walks().
  Rows operator()(const Tensor& inputs, const Packing& packing, const Source& source) const;

  // What is kept from step to step, a row for each sequence.
  struct Walk {
    std::vector<UnrolledCell> cells;
    UnrolledLinear attentional;
    RnnAttention::Walk attention;
    Recurrent::States states;
    Tensor fed;  // the fixed context, or the attentional vector of the step before; or undefined

    // Keeps the first sequences; sequence i becomes what sequence parents[i] was.
    void keep_first(size_t count);
    void reorder(std::span<const size_t> parents);
    // Appends the sequences of another walk; only without gradients.
    void admit(const Walk& more);
    // Sequence which[i] becomes sequence i of `part`.
    void put(std::span<const size_t> which, const Walk& part);
  };
  // Before the first step. `known` has the embeddings of all rows by step, [rows, embedding], or is
  // undefined, without gradients.
  Walk walk(const Source& source, const Tensor& known) const;
  // One step; inputs [sequences, embedding] unless they are known.
  Rows step(const Tensor& inputs, const RnnAttention::Rows& rows, const Source& source,
            Walk& walk) const;

  // The input of the output layer [rows, last_width], and its logits [rows, vocabulary].
  Tensor last(const Rows& rows, const Tensor& inputs) const;
  Tensor logits(const Tensor& last) const;

  void visit(Visitor& v);
};

}  // namespace attend
