#include "attend/models/rnn_config.h"

#include "attend/base/names.h"

namespace attend {
namespace {

constexpr Named<RnnForm> kForms[] = {{RnnForm::kBahdanau, "bahdanau"}, {RnnForm::kLuong, "luong"}};
constexpr Named<RnnReach> kReaches[] = {
    {RnnReach::kGlobal, "global"}, {RnnReach::kLocalM, "local-m"}, {RnnReach::kLocalP, "local-p"}};
constexpr Named<RnnBridge> kBridges[] = {
    {RnnBridge::kTanh, "tanh"}, {RnnBridge::kStates, "states"}, {RnnBridge::kZero, "zero"}};
constexpr Named<DeepOutput> kDeepOutputs[] = {{DeepOutput::kMaxout, "maxout"},
                                              {DeepOutput::kTanh, "tanh"}};

void check_sizes(const RnnConfig& c) {
  if (c.source_vocabulary == 0 || c.target_vocabulary == 0) {
    throw ConfigError("rnn: vocabularies of {} and {} tokens; both must be known",
                      c.source_vocabulary, c.target_vocabulary);
  }
  if (c.bridge == RnnBridge::kStates && c.encoder_layers != c.decoder_layers) {
    throw ConfigError(
        "rnn: bridge 'states' needs as many encoder layers ({}) as decoder layers ({}); or use "
        "bridge 'tanh'",
        c.encoder_layers, c.decoder_layers);
  }
  if (c.tied && c.last_width() != c.embedding) {
    throw ConfigError(
        "rnn: tied embeddings of width {} cannot be the output layer of width {}; set "
        "output_width to {}",
        c.embedding, c.last_width(), c.embedding);
  }
  for (const float chance :
       {c.embedding_dropout, c.layer_dropout, c.output_dropout, c.recurrent_dropout}) {
    if (!(chance >= 0.0f && chance < 1.0f)) {
      throw ConfigError("rnn: a dropout of {} is not within [0, 1)", chance);
    }
  }
}

void check_attention(const RnnConfig& c) {
  const std::string_view name = c.attends() ? name_of(*c.attention) : "none";
  if (!c.attends() && (c.luong() || c.coverage || c.reach != RnnReach::kGlobal)) {
    throw ConfigError(
        "rnn: attention 'none' has no form 'luong', coverage or reach; use form 'bahdanau' and "
        "reach 'global', or choose an attention");
  }
  if (c.input_feeding && !c.luong()) {
    throw ConfigError(
        "rnn: input_feeding is a part of form 'luong'; in form 'bahdanau' the context enters the "
        "cell already");
  }
  if (!c.attends()) return;
  const ScoreTraits& traits = traits_of(*c.attention);
  if (!traits.learned && c.context_width() != c.hidden) {
    throw ConfigError(
        "rnn: attention '{}' compares a state of width {} with the encoder's of width {}; use "
        "'general', or an encoder in one direction",
        name, c.hidden, c.context_width());
  }
  if (!traits.reads_keys && c.reach == RnnReach::kLocalP) {
    throw ConfigError("rnn: attention '{}' does not read keys, so it has no reach 'local-p'", name);
  }
  if (c.coverage && (c.attention != Score::kAdditive || c.reach != RnnReach::kGlobal)) {
    throw ConfigError(
        "rnn: coverage goes with attention 'additive' and reach 'global', not '{}' "
        "and '{}'",
        name, name_of(c.reach));
  }
}

}  // namespace

std::string_view name_of(RnnForm form) { return name_from_value(kForms, form); }
std::string_view name_of(RnnReach reach) { return name_from_value(kReaches, reach); }
std::string_view name_of(RnnBridge bridge) { return name_from_value(kBridges, bridge); }
std::string_view name_of(DeepOutput output) { return name_from_value(kDeepOutputs, output); }

RnnConfig RnnConfig::luong_preset() {
  RnnConfig c;
  c.cell = Cell::kLstm;
  c.encoder_layers = c.decoder_layers = 2;
  c.bidirectional = false;
  c.attention = Score::kGeneral;
  c.form = RnnForm::kLuong;
  c.input_feeding = true;
  c.bridge = RnnBridge::kStates;
  return c;
}

RnnConfig RnnConfig::vanilla_preset() {
  RnnConfig c;
  c.bidirectional = false;
  c.attention = std::nullopt;
  return c;
}

void RnnConfig::check() const {
  check_ranges(*this, "rnn");
  check_sizes(*this);
  check_attention(*this);
}

}  // namespace attend
