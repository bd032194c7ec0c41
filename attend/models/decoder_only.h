// A language model that translates: the source is its prompt and the target its continuation. There
// is one sequence, one vocabulary and no encoder (Liu et al., 2018; Raffel et al., 2020).
#pragma once

#include <memory>

#include "attend/base/limits.h"
#include "attend/models/model_config.h"

namespace attend {

// A kind of language model and its settings.
struct LanguageModelConfig : KindConfig<language_model_names> {
  LanguageModelConfig() : KindConfig("gpt") {}
  explicit LanguageModelConfig(std::string_view kind_name) : KindConfig(kind_name) {}
};

struct DecoderOnlyConfig {
  size_t target_vocabulary = 0;
  LanguageModelConfig language_model;

  template <typename V>
  void fields(V& v) {
    v("target_vocabulary", target_vocabulary,
      "tokens of source and target, which share them; set from their tokenizer",
      limits::kVocabulary);
    v("language_model", language_model, "what reads the source and writes the target");
  }
};

// Wraps any language model and adds no parameters. It reads `<s> source <s> target`: the start of
// the target marks the end rows of the source.
class DecoderOnly : public Model, public Generator, public Encoder {
 public:
  DecoderOnly(const DecoderOnlyConfig& config, Rng& rng);

  void visit(Visitor& v) override { model_->visit(v); }
  Signature signature() const override;
  void pack() override { model_->pack(); }
  const Generator* generator() const override { return this; }
  const Encoder* encoder() const override { return model_->encoder() == nullptr ? nullptr : this; }
  SequenceEncoder* shared_encoder() override { return model_->shared_encoder(); }

  size_t vocabulary() const override { return inner().vocabulary(); }
  using Generator::start, Generator::step;
  std::unique_ptr<State> start() const override;
  Tensor step(State& state, const Tokens& tokens, StepRows rows) const override;
  Forced force(const Batch& inputs, const Tokens& written) const override;
  std::optional<Tensor> logits_of_rows(const Tensor& rows) const override {
    return inner().logits_of_rows(rows);
  }

  size_t width() const override { return model_->encoder()->width(); }
  Column encode(const Batch& inputs) const override;  // of the source

  const Model& language_model() const { return *model_; }  // the model inside

 private:
  struct Writing;
  const Generator& inner() const { return *model_->generator(); }

  std::unique_ptr<Model> model_;
};

ModelKind decoder_only_kind();

}  // namespace attend
