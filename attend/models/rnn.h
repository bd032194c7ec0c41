// Recurrent encoder-decoders: with one fixed vector between them (Cho et al., 2014; Sutskever et
// al., 2014), or with attention (Bahdanau et al., 2015; Luong et al., 2015).
#pragma once

#include "attend/models/generator.h"
#include "attend/models/rnn_decoder.h"

namespace attend {

// A bidirectional encoder, or one that reads forwards.
struct RnnEncoder {
  RnnConfig config;
  Embedding embedding;
  Recurrent layers;

  RnnEncoder() = default;
  RnnEncoder(const RnnConfig& config, Rng& rng);
  Recurrent::Output operator()(const Tokens& sources) const;

  Tensor rows(const Tokens& sources) const { return (*this)(sources).output; }
  size_t width() const { return config.context_width(); }
  void visit(Visitor& v);
};

// From the encoder's final states to the decoder's first. Where there is nothing to learn it hands
// them over.
struct RnnStart {
  RnnConfig config;
  std::vector<Linear> h, c;  // one for each layer of the decoder; c of an LSTM

  RnnStart() = default;
  RnnStart(const RnnConfig& config, Rng& rng);
  Recurrent::States operator()(const Recurrent::States& final) const;
  void visit(Visitor& v);
};

class RnnSeq2Seq : public Seq2Seq {
 public:
  RnnSeq2Seq(const RnnConfig& config, Rng& rng);

  size_t vocabulary() const override { return config_.target_vocabulary; }
  std::unique_ptr<State> start(const Tokens& sources) const override;
  Tensor step(State& state, std::span<const int32_t> tokens) const override;
  Tensor logits(const Tokens& sources, const Tokens& inputs) const override {
    return teach(sources, inputs).logits;
  }
  void visit(Visitor& v) override;
  std::vector<AttentionLayer> attention_layers() const override;
  Taught teach(const Tokens& sources, const Tokens& inputs) const override;

  const RnnConfig& config() const { return config_; }

 private:
  struct Decoding;
  RnnDecoder::Source encode(const Tokens& sources) const;
  Taught walk(const Tokens& sources, const Tokens& inputs) const;

  RnnConfig config_;
  RnnEncoder encoder_;
  RnnStart start_;
  RnnDecoder decoder_;
};

}  // namespace attend
