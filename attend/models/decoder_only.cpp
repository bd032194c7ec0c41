#include "attend/models/decoder_only.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/io/config.h"
#include "attend/models/gpt.h"

namespace attend {
namespace {

constexpr const char* kSource = "source";
constexpr const char* kTarget = "target";

// As large as the preset tiny, which has an encoder.
DecoderOnlyConfig small() {
  GptConfig gpt;
  gpt.width = 256, gpt.layers = 6, gpt.heads = 8;
  gpt.positions = PositionScheme::kRotary;
  gpt.bidirectional_prefix = true;
  DecoderOnlyConfig config;
  config.language_model.settings = AnyConfig(gpt);
  return config;
}

std::unique_ptr<AnyConfig> around(std::string_view kind, const AnyConfig& settings) {
  if (!model_kind(kind).is_language_model) return nullptr;
  DecoderOnlyConfig config;
  config.language_model = LanguageModelConfig(kind);
  config.language_model.settings = settings;
  return std::make_unique<AnyConfig>(config);
}

std::unique_ptr<InnerModel> inner(const AnyConfig& settings) {
  const LanguageModelConfig& model = settings.as<DecoderOnlyConfig>().language_model;
  return std::make_unique<InnerModel>(InnerModel{model.kind.name, model.settings});
}

std::vector<int32_t> lengths_of(const Packing& packing) {
  std::vector<int32_t> lengths;
  for (size_t i = 0; i < packing.count(); ++i) {
    lengths.push_back(static_cast<int32_t>(packing.length(i)));
  }
  return lengths;
}

}  // namespace

ModelKind decoder_only_kind() {
  ModelKind kind = kind_of<DecoderOnly, DecoderOnlyConfig>(
      "decoder_only", "a language model that reads a source and goes on with its target",
      {{"decoder-only", "6 layers, 256 wide, rotary positions, a source that sees all of itself",
        [] { return AnyConfig(small()); }}});
  kind.around = around;
  kind.inner = inner;
  return kind;
}

DecoderOnly::DecoderOnly(const DecoderOnlyConfig& config, Rng& rng) {
  check_ranges(config, "decoder_only");
  AnyConfig settings = config.language_model.settings;
  set_flag(settings, "text_vocabulary", std::to_string(config.target_vocabulary));
  model_ = model_kind(config.language_model.kind.name).make(settings, rng);
}

Signature DecoderOnly::signature() const {
  Signature signature = model_->signature();
  const ColumnSpec text = signature.columns.front();
  std::optional<size_t> each;  // at least a start and a token are the other's
  if (text.positions) each = *text.positions - std::min<size_t>(*text.positions, 2);
  signature.columns = {{.name = kSource, .framing = {.start = true}, .positions = each},
                       {.name = kTarget, .written = true, .positions = each}};
  signature.joined = {.name = text.name, .positions = text.positions};
  return signature;
}

Forced DecoderOnly::force(const Batch& inputs, const Tokens& written) const {
  const Tokens source = inputs.tokens(kSource);
  TokenLines joined;
  for (size_t i = 0; i < written.count(); ++i) {
    std::vector<int32_t> line(source.sequence(i).begin(), source.sequence(i).end());
    line.insert(line.end(), written.sequence(i).begin(), written.sequence(i).end());
    joined.add(line);
  }
  const Tokens all = joined.tokens();
  const std::optional<size_t> positions = model_->signature().columns.front().positions;
  if (positions && all.packing.longest() > *positions) {
    throw DataError(
        "source and target have {} tokens together, but the model has positions for {}; use "
        "shorter texts",
        all.packing.longest(), *positions);
  }
  return inner().force(prefixed_inputs(lengths_of(source.packing)), all);
}

Column DecoderOnly::encode(const Batch& inputs) const {
  const Tokens source = inputs.tokens(kSource);
  Batch text = prefixed_inputs(lengths_of(source.packing));
  text.add(model_->signature().columns.front().name, source);
  return model_->encoder()->encode(text);
}

// A source is read together with the first tokens after it: a step in which others go on with one.
struct DecoderOnly::Writing : Generator::State {
  struct Source {
    std::shared_ptr<const std::vector<int32_t>> ids;
    bool is_read = false;

    int32_t length() const { return is_read ? static_cast<int32_t>(ids->size()) : 0; }
  };
  std::unique_ptr<Generator::State> inner;
  std::vector<Source> sources;  // of each hypothesis

  explicit Writing(std::unique_ptr<Generator::State> state) : inner(std::move(state)) {}

  size_t size() const override { return sources.size(); }
  void admit(const Batch& inputs) override {
    const Tokens source = inputs.tokens(kSource);
    inner->admit(prefixed_inputs(lengths_of(source.packing)));
    for (size_t i = 0; i < source.count(); ++i) {
      const auto ids = source.sequence(i);
      sources.push_back({std::make_shared<const std::vector<int32_t>>(ids.begin(), ids.end())});
    }
  }
  void reorder(std::span<const size_t> parents) override {
    inner->reorder(parents);
    std::vector<Source> kept;
    for (const size_t parent : parents) kept.push_back(sources[parent]);
    sources = std::move(kept);
  }
  void rewind(std::span<const int32_t> lengths) override {
    if (lengths.size() != size()) {
      throw DataError("rewind: {} lengths for {} hypotheses", lengths.size(), size());
    }
    std::vector<int32_t> all(lengths.begin(), lengths.end());
    for (size_t i = 0; i < size(); ++i) {
      if (all[i] < 0) throw DataError("rewind: hypothesis {} cannot have read {}", i, all[i]);
      all[i] += sources[i].length();
    }
    inner->rewind(all);
  }
  std::vector<int32_t> lengths() const override {
    std::vector<int32_t> read = inner->lengths();
    for (size_t i = 0; i < size(); ++i) read[i] -= sources[i].length();
    return read;
  }

  // What each hypothesis reads, its source first where it has not read it yet.
  Tokens with_sources(const Tokens& tokens) {
    TokenLines lines;
    for (size_t i = 0; i < size(); ++i) {
      std::vector<int32_t> line;
      if (!std::exchange(sources[i].is_read, true)) line = *sources[i].ids;
      const auto own = tokens.sequence(i);
      line.insert(line.end(), own.begin(), own.end());
      lines.add(line);
    }
    return lines.tokens();
  }
};

std::unique_ptr<Generator::State> DecoderOnly::start() const {
  return std::make_unique<Writing>(inner().start());
}

Tensor DecoderOnly::step(State& state, const Tokens& tokens, StepRows rows) const {
  check_step(state, tokens);
  auto& writing = dynamic_cast<Writing&>(state);
  const Tokens read = writing.with_sources(tokens);
  Tensor logits = inner().step(*writing.inner, read, rows);
  if (rows == StepRows::kLast) return logits;
  std::vector<int32_t> before = lengths_of(read.packing);
  for (size_t i = 0; i < before.size(); ++i) {
    before[i] -= static_cast<int32_t>(tokens.packing.length(i));
  }
  return rows_after_prefixes(logits, read.packing, prefixed_inputs(before));
}

}  // namespace attend
