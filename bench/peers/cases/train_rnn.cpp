// A training step of Bahdanau's model with LSTM cells.
#include "attend/models/rnn.h"
#include "bench/peers/training.h"

namespace attend::peers {
namespace {

Case train_rnn_case(const Inputs& in) {
  RnnConfig c;
  c.source_vocabulary = c.target_vocabulary = static_cast<size_t>(in.number("vocabulary"));
  c.cell = Cell::kLstm;
  c.embedding = c.hidden = static_cast<size_t>(in.number("width"));
  c.embedding_dropout = c.output_dropout = in.number("dropout");
  Rng rng(1);
  return training_case(RnnSeq2Seq(c, rng), in);
}

const Kind train_rnn_kind("train_rnn", train_rnn_case);

}  // namespace
}  // namespace attend::peers
