#include "attend/models/encoder_config.h"

namespace attend {

std::unique_ptr<SequenceEncoder> make_encoder(const EncoderConfig& config, size_t vocabulary,
                                              Rng& rng) {
  AnyConfig settings = config.settings;
  const std::string size = std::to_string(vocabulary);
  for (const Field& field : fields_of(settings).fields) {
    const bool own = field.path.find('.') == std::string::npos;
    if (own && field.path.ends_with("_vocabulary")) field.set(std::vector{size});
  }
  return model_kind(config.kind.name).make_encoder(settings, rng);
}

}  // namespace attend
