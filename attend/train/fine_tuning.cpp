#include "attend/train/fine_tuning.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/train/task.h"

namespace attend {
namespace {

// Those of the base's first text; a setting that says otherwise would be ignored.
void take_tokens(RunConfig& config, GivenSettings& given, const BaseModel& base) {
  const Signature signature = base.model().model->signature();
  const auto text = std::ranges::find(signature.columns, ColumnKind::kTokens, &ColumnSpec::kind);
  if (text == signature.columns.end()) return;
  const Tokenizer& tokenizer = base.model().tokenizer(text->name);
  TokenizerConfig& tokens = config.vocabulary.tokenizer;
  if (given.has("vocabulary.kind") && tokens.kind != tokenizer.kind()) {
    throw ConfigError(
        "train: vocabulary.kind is {}, but {} was trained with {} tokens; leave out "
        "vocabulary.kind, or set init_vocabulary to match, which keeps the vectors of tokens that "
        "both have, or to new",
        name_of(tokens.kind), base.directory().string(), name_of(tokenizer.kind()));
  }
  tokens.kind = tokenizer.kind();
  tokens.vocabulary = tokenizer.size();
  for (const char* path : {"vocabulary.kind", "vocabulary.vocabulary"}) given.add(path);
}

// A model of the base's kind; what it took from its own text is left open.
ModelConfig like_base(const ModelConfig& base) {
  ModelConfig model = base;
  for (const Field& field : fields_of(model.settings).fields) {
    const bool fitted = std::ranges::any_of(tasks(), [&](const auto& task) {
      return std::ranges::count(task->fitted_settings, field.path) > 0;
    });
    if (fitted && field.type->optional) field.set(std::nullopt);
  }
  return model;
}

// Where the kind of model was given, and it is built around an encoder that was not: around the
// base's, with the settings that were given.
void take_encoder(RunConfig& config, const GivenSettings& given, const ModelConfig& base) {
  const ModelKind& kind = model_kind(config.model.kind.name);
  const std::string section = "model." + config.model.kind.name;
  if (kind.around == nullptr || kind.inner == nullptr || given.any_of("model.preset") ||
      given.any_of(section + ".encoder")) {
    return;
  }
  const ModelKind& of_base = model_kind(base.kind.name);
  const auto inside = of_base.inner == nullptr ? nullptr : of_base.inner(base.settings);
  const InnerModel encoder = inside ? *inside : InnerModel{base.kind.name, base.settings};
  const auto settings = kind.around(encoder.kind, encoder.settings);
  if (settings == nullptr) return;
  const FieldList known = fields_of(config.model.settings);
  for (const Field& field : fields_of(*settings).fields) {
    if (!given.any_of(section + "." + field.path)) continue;
    const auto same = std::ranges::find(known.fields, field.path, &Field::path);
    if (same != known.fields.end()) field.set(same->get());
  }
  config.model.settings = *settings;
}

}  // namespace

FineTuning start_from_base(RunConfig& config, GivenSettings& given) {
  const BaseModel base(config.init_from);
  const ModelConfig& model = base.model().config;
  if (!given.any_of("model")) {
    config.model = like_base(model);
    given.add("model.kind");
  } else {
    take_encoder(config, given, model);
  }
  if (config.init_vocabulary == VocabularyTransfer::kSame) take_tokens(config, given, base);
  const RunConfig before = trained_config({base.root()});
  return {config.init_from.string(), model.kind.name,
          before.optimizer.rate / (config.lora.rank > 0 ? 2 : 10), before.data.context};
}

}  // namespace attend
