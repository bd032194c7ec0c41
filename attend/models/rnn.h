// Recurrent encoder-decoders: with one fixed vector between them (Cho et al., 2014; Sutskever et
// al., 2014), or with attention (Bahdanau et al., 2015; Luong et al., 2015).
#pragma once

#include "attend/models/registry.h"
#include "attend/models/rnn_decoder.h"

namespace attend {

// The encoder, bidirectional or forwards only.
class RnnEncoder : public SequenceEncoder {
 public:
  RnnConfig config;
  Embedding embedding;
  Recurrent recurrent;

  RnnEncoder() = default;
  RnnEncoder(const RnnConfig& config, Rng& rng);
  // Its outputs and final states.
  Recurrent::Output operator()(const Tokens& sources) const;

  size_t width() const override { return config.context_width(); }
  Tensor rows(const Tokens& tokens) const override { return (*this)(tokens).output; }
  const Embedding& table() const override { return embedding; }
  void visit(Visitor& v) override;
  std::vector<AttentionLayer> layers(const std::string& /*sequence*/) const override { return {}; }
  std::optional<size_t> positions() const override { return std::nullopt; }
  bool first_sees_all() const override { return config.bidirectional; }
};

// The bridge from the encoder's final states to the decoder's first ones. Without parameters it
// passes them on, or gives zeros.
struct RnnStart {
  RnnConfig config;
  std::vector<Linear> h, c;  // one for each layer of the decoder; c for an LSTM

  RnnStart() = default;
  RnnStart(const RnnConfig& config, Rng& rng);
  // The decoder's first states.
  Recurrent::States operator()(const Recurrent::States& final) const;
  void visit(Visitor& v);
};

// The encoder-decoder.
class RnnSeq2Seq : public Model, public Generator, public Encoder {
 public:
  RnnSeq2Seq(const RnnConfig& config, Rng& rng);

  void visit(Visitor& v) override;
  Signature signature() const override;
  const Generator* generator() const override { return this; }
  const Encoder* encoder() const override { return this; }
  SequenceEncoder* shared_encoder() override { return &encoder_; }

  size_t vocabulary() const override { return config_.target_vocabulary; }
  using Generator::start, Generator::step;
  std::unique_ptr<State> start() const override;
  Tensor step(State& state, const Tokens& tokens, StepRows rows) const override;
  Forced force(const Batch& inputs, const Tokens& written) const override;

  size_t width() const override { return encoder_.width(); }
  Column encode(const Batch& inputs) const override;

  const RnnConfig& config() const { return config_; }

 private:
  struct Decoding;
  RnnDecoder::Source read(const Tokens& sources) const;
  Forced force_by_steps(const Tokens& sources, const Tokens& written) const;
  // The input of the output layer, [rows of tokens, last_width].
  Tensor advance(Decoding& decoding, const Tokens& tokens) const;

  RnnConfig config_;
  RnnEncoder encoder_;
  RnnStart start_;
  RnnDecoder decoder_;
};

ModelKind rnn_kind();

}  // namespace attend
