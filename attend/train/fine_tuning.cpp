#include "attend/train/fine_tuning.h"

#include <algorithm>

#include "attend/base/error.h"

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

}  // namespace

FineTuning start_from_base(RunConfig& config, GivenSettings& given) {
  const BaseModel base(config.init_from);
  const ModelConfig& model = base.model().config;
  if (!given.any_of("model")) {
    config.model = model;
    given.add("model.kind");
  }
  if (config.init_vocabulary == VocabularyTransfer::kSame) take_tokens(config, given, base);
  const RunConfig before = trained_config({base.root()});
  return {config.init_from.string(), model.kind.name,
          before.optimizer.rate / (config.lora.rank > 0 ? 2 : 10), before.data.context};
}

}  // namespace attend
