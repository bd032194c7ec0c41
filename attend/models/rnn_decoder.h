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

  // What there is to write from, one row or sequence a source.
  struct Source {
    RnnAttention::Source encoded;
    Tensor context;           // the fixed one [sources, context_width], where there is no attention
    Recurrent::States start;  // of each layer
  };

  // What the output layer is computed from, by rows.
  struct Rows {
    Tensor h, context;   // [rows, hidden], [rows, context_width]
    Tensor attentional;  // [rows, last_width], in Luong's form
  };
  // All rows of `inputs` [rows, embedding] at once. Not where config.walks().
  Rows operator()(const Tensor& inputs, const Packing& packing, const Source& source) const;

  // What goes from step to step, a row for each sequence that is being written.
  struct Walk {
    std::vector<UnrolledCell> cells;
    UnrolledLinear attentional;
    RnnAttention::Walk attention;
    Recurrent::States states;
    Tensor fed;  // the fixed context, or the attentional vector of the step before; or undefined

    void keep_first(size_t count);
    void reorder(std::span<const size_t> parents);
    // The sequences of another join behind these; only without gradients.
    void admit(const Walk& more);
    // Sequence which[i] becomes what sequence i of `part` is.
    void put(std::span<const size_t> which, const Walk& part);
  };
  // The embeddings of all rows by step [rows, embedding], where they are known; else undefined, and
  // without gradients.
  Walk walk(const Source& source, const Tensor& known) const;
  // inputs [sequences, embedding] where not known.
  Rows step(const Tensor& inputs, const RnnAttention::Rows& rows, const Source& source,
            Walk& walk) const;

  // What the output layer sees [rows, last_width]; its logits [rows, vocabulary].
  Tensor last(const Rows& rows, const Tensor& inputs) const;
  Tensor logits(const Tensor& last) const;

  void visit(Visitor& v);
};

}  // namespace attend
