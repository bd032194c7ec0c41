#include "attend/models/registry.h"

#include <fmt/ranges.h>

#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/models/bert.h"
#include "attend/models/causal_conv.h"
#include "attend/models/conv.h"
#include "attend/models/decoder_only.h"
#include "attend/models/elmo.h"
#include "attend/models/gpt.h"
#include "attend/models/label.h"
#include "attend/models/lstm.h"
#include "attend/models/lstmn.h"
#include "attend/models/masked.h"
#include "attend/models/regression.h"
#include "attend/models/rnn.h"
#include "attend/models/tagger.h"
#include "attend/models/transformer.h"
#include "attend/models/word2vec.h"

namespace attend {

std::span<const ModelKind> model_kinds() {
  static const std::vector<ModelKind> all = {
      transformer_kind(), rnn_kind(),        conv_kind(),        gpt_kind(),
      lstm_kind(),        lstmn_kind(),      causal_conv_kind(), decoder_only_kind(),
      label_kind(),       bert_kind(),       masked_kind(),      elmo_kind(),
      tagger_kind(),      regression_kind(), word2vec_kind(),
  };
  return all;
}

const ModelKind& model_kind(std::string_view name) {
  for (const ModelKind& kind : model_kinds()) {
    if (kind.name == name) return kind;
  }
  throw ConfigError("unknown kind of model '{}'; there are: {}", shown_name(name),
                    fmt::join(model_kind_names(), ", "));
}

std::vector<std::string> model_kind_names() {
  std::vector<std::string> names;
  for (const ModelKind& kind : model_kinds()) names.emplace_back(kind.name);
  return names;
}

std::vector<std::string> encoder_kind_names() {
  std::vector<std::string> names;
  for (const ModelKind& kind : model_kinds()) {
    if (kind.make_encoder != nullptr) names.emplace_back(kind.name);
  }
  return names;
}

std::vector<std::string> language_model_names() {
  std::vector<std::string> names;
  for (const ModelKind& kind : model_kinds()) {
    if (kind.is_language_model) names.emplace_back(kind.name);
  }
  return names;
}

std::string preset_names() {
  std::string names;
  for (const ModelKind& kind : model_kinds()) {
    for (const ModelPreset& preset : kind.presets) {
      if (!names.empty()) names += ", ";
      names += preset.name;
    }
  }
  return names;
}

}  // namespace attend
