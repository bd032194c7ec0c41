// An encoder inside another model: its kind, and the settings of that kind.
#pragma once

#include <memory>

#include "attend/models/model_config.h"

namespace attend {

// A kind of encoder and its settings.
struct EncoderConfig : KindConfig<encoder_kind_names> {
  EncoderConfig() : KindConfig("transformer") {}
  explicit EncoderConfig(std::string_view kind_name) : KindConfig(kind_name) {}
};

// Makes it for a vocabulary of so many tokens. It is made from the settings of a whole model,
// whatever that reads and writes: what they say of vocabularies is not used.
std::unique_ptr<SequenceEncoder> make_encoder(const EncoderConfig& config, size_t vocabulary,
                                              Rng& rng);

}  // namespace attend
