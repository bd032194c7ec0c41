#include "attend/text/sentencepiece.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <exception>
#include <unordered_map>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/base/printable.h"
#include "attend/base/utf8.h"
#include "attend/text/lower_case.h"
#include "attend/text/vocabulary.h"

namespace attend {
namespace {

// The library ends text at NUL in some places and not in others.
std::string without_nul(std::string_view line) {
  std::string text(line);
  std::erase(text, '\0');
  return text;
}

class SentencePieceTokenizer : public Tokenizer {
 public:
  SentencePieceTokenizer(TokenizerKind kind, std::string model, const std::string& name)
      : kind_(kind), model_(std::move(model)) {
    const auto status = processor_.LoadFromSerializedProto(without_self_test(model_));
    if (!status.ok()) {
      throw FormatError("{}: {}; train the tokenizer again or copy the file again", name,
                        shown_name(status.error_message()));
    }
    if (processor_.unk_id() != kUnknown || processor_.bos_id() != kStart ||
        processor_.eos_id() != kEnd) {
      throw FormatError(
          "{}: <unk>, <s> and </s> have the ids {}, {} and {}, and must have {}, {} and {}; train "
          "it with SentencePiece's defaults",
          name, processor_.unk_id(), processor_.bos_id(), processor_.eos_id(), kUnknown, kStart,
          kEnd);
    }
    const bool mask = size() > kMask && processor_.IsControl(kMask) &&
                      processor_.IdToPiece(kMask) == kSpecialPieces[kMask];
    traits_.mask = mask;
    while (is_sentinel(traits_.first_piece(), traits_.sentinels)) ++traits_.sentinels;
  }

  TokenizerKind kind() const override { return kind_; }
  size_t size() const override { return static_cast<size_t>(processor_.GetPieceSize()); }
  SpecialTokens special() const override { return traits_.special(); }
  int32_t first_piece() const override { return traits_.first_piece(); }

  std::vector<int32_t> encode(std::string_view line) const override {
    std::vector<int32_t> ids;
    require(processor_.Encode(without_nul(line), &ids));
    return ids;
  }

  std::string decode(std::span<const int32_t> ids) const override {
    std::vector<int32_t> text_ids;
    text_ids.reserve(ids.size());
    for (const int32_t id : ids) {
      check(id);
      if (id >= first_piece()) text_ids.push_back(id);
    }
    std::string text;
    require(processor_.Decode(text_ids, &text));
    return text;
  }

  std::string piece(int32_t id) const override {
    check(id);
    return processor_.IdToPiece(id);
  }

  std::vector<std::string> pieces(std::string_view line) const override {
    std::vector<std::string> all;  // SentencePiece gives the text of what is unknown
    require(processor_.Encode(without_nul(line), &all));
    const std::vector<int32_t> ids = encode(line);
    for (size_t i = 0; i < all.size(); ++i) {
      if (ids[i] == kUnknown) all[i] = unknown_piece(all[i]);
    }
    return all;
  }

  std::string serialized() const override { return model_; }

 private:
  bool is_sentinel(int32_t id, int32_t number) const {
    return number < kMostSentinels && static_cast<size_t>(id) < size() &&
           processor_.IsControl(id) && processor_.IdToPiece(id) == sentinel_piece(number);
  }
  static void require(const sentencepiece::util::Status& status) {
    if (!status.ok()) throw DataError("tokenizer: {}", status.error_message());
  }

  TokenizerKind kind_;
  std::string model_;
  sentencepiece::SentencePieceProcessor processor_;
  VocabularyTraits traits_;
};

// Hands lines to SentencePiece, which wants valid text.
class Sentences : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(const LineSource& lines) : lines_(lines) { Next(); }

  bool done() const override { return done_; }
  const std::string& value() const override { return line_; }
  sentencepiece::util::Status status() const override { return {}; }
  void Next() override {
    const auto line = lines_();
    done_ = !line.has_value();
    if (done_) return;
    size_t replaced = 0;
    line_ = valid_utf8(*line) ? std::string(*line) : repair_utf8(*line, replaced);
    any_ = any_ || line_.find_first_not_of(" \t\r\n") != line_.npos;
  }
  bool any() const { return any_; }

 private:
  const LineSource& lines_;
  std::string line_;
  bool done_ = false, any_ = false;
};

// Lines longer than this are not learnt from: SentencePiece aborts on words of 65536 characters.
constexpr size_t kLongestSentence = 16384;

// Rules in SentencePiece's form, code points in hexadecimal, that write text in lower case and any
// space as ' '. Its own nmt_nfkc_cf folds case: it writes ß as ss, which no reader wants back.
std::string lower_case_rules() {
  std::string rules;
  for (const char32_t space : std::u32string_view(U"\t\u00A0\u2009\u202F\u3000")) {
    rules += fmt::format("{:X}\t20\n", uint32_t{space});
  }
  constexpr char32_t kLastWithCase = 0x1FFFF;
  for (char32_t c = 'A'; c <= kLastWithCase; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    append_utf8(text, c);
    const char32_t lower = first_code_point(lower_case(text)).value;
    if (lower != c) rules += fmt::format("{:X}\t{:X}\n", uint32_t{c}, uint32_t{lower});
  }
  return rules;
}

VocabularyTraits traits_of(const TokenizerConfig& config) {
  return {config.lowercase, config.mask, static_cast<int32_t>(config.sentinels)};
}

std::unordered_map<std::string, std::string> trainer_flags(const TokenizerConfig& config) {
  const auto flag = [](bool on) { return on ? "true" : "false"; };
  std::unordered_map<std::string, std::string> flags = {
      {"model_type", std::string(name_of(config.kind))},
      {"vocab_size", std::to_string(config.vocabulary)},
      {"hard_vocab_limit", "false"},  // a small text gives what it can
      {"character_coverage", fmt::format("{}", config.character_coverage)},
      {"byte_fallback", flag(config.byte_fallback)},
      {"normalization_rule_name", "nmt_nfkc"},
      {"input_sentence_size", std::to_string(config.sample)},
      {"max_sentence_length", std::to_string(kLongestSentence)},
      {"unk_id", std::to_string(kUnknown)},
      {"bos_id", std::to_string(kStart)},
      {"eos_id", std::to_string(kEnd)},
      {"pad_id", "-1"},
      // Work is dealt out to this many threads and summed in their order, so that the model depends
      // on the number: it is the same on any machine.
      {"num_threads", "16"},
      {"minloglevel", "4"},
  };
  const VocabularyTraits traits = traits_of(config);
  std::string& control = flags["control_symbols"];
  for (int32_t id = kSpecialTokens; id < traits.first_piece(); ++id) {
    control += (control.empty() ? "" : ",") + traits.special_piece(id);
  }
  if (control.empty()) flags.erase("control_symbols");
  if (config.lossless) {
    flags["normalization_rule_name"] = "identity";
    flags["remove_extra_whitespaces"] = "false";
    flags["add_dummy_prefix"] = "false";  // lines of one text are encoded one by one
    flags["user_defined_symbols"] = "\n";
  }
  return flags;
}

// SentencePiece's words for what went wrong, as "size ... 5 vs 16", begin with a line of its source
// and name flags of its own.
[[noreturn]] void fail_training(const TokenizerConfig& config, std::string message) {
  if (const size_t at = message.find("smaller than required_chars. "); at != message.npos) {
    const std::string numbers = message.substr(at);
    const size_t least = std::stoul(numbers.substr(numbers.find(" vs ") + 4));
    throw ConfigError(
        "tokenizer: {} with a vocabulary of {}: the text alone has {} characters and special "
        "tokens; set the vocabulary to {} or more (attend train: --vocabulary.vocabulary), or "
        "lower character_coverage",
        name_of(config.kind), config.vocabulary, least, least);
  }
  if (const size_t at = message.find("Vocabulary size too high"); at != message.npos) {
    const std::string rest = message.substr(at);
    const size_t most = std::stoul(rest.substr(rest.find("<= ") + 3));
    throw ConfigError(
        "tokenizer: {} with a vocabulary of {}: the text gives {} at most; set the vocabulary to "
        "that or less (attend train: --vocabulary.vocabulary)",
        name_of(config.kind), config.vocabulary, most);
  }
  if (const size_t end = message.rfind("] "); end != message.npos) message.erase(0, end + 2);
  throw ConfigError("tokenizer: {} with a vocabulary of {} cannot be trained: {}",
                    name_of(config.kind), config.vocabulary,
                    message.empty() ? "SentencePiece does not say why" : message);
}

}  // namespace

std::shared_ptr<const Tokenizer> parse_sentencepiece(std::string_view model,
                                                     const std::string& name) {
  const TokenizerKind kind = check_sentencepiece_model(model, name);
  try {
    return std::make_shared<SentencePieceTokenizer>(kind, std::string(model), name);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw FormatError("{}: {}; train the tokenizer again or copy the file again", name,
                      shown_name(error.what()));
  }
}

std::shared_ptr<const Tokenizer> train_sentencepiece(const TokenizerConfig& config,
                                                     const LineSource& lines) {
  if (config.vocabulary <= static_cast<size_t>(traits_of(config).first_piece())) {
    throw ConfigError("tokenizer: {} needs a vocabulary larger than {}", name_of(config.kind),
                      config.vocabulary);
  }
  if (!(config.character_coverage > 0.9 && config.character_coverage <= 1)) {
    throw ConfigError("tokenizer: character_coverage is {}; it must be above 0.9 and at most 1",
                      config.character_coverage);
  }
  sentencepiece::SetRandomGeneratorSeed(1);  // draws the sample of lines
  Sentences sentences(lines);
  auto flags = trainer_flags(config);
  std::optional<TemporaryDirectory> rules;  // SentencePiece reads them from a file only
  if (config.lowercase) {
    rules.emplace();
    const std::filesystem::path file = rules->path() / "lower_case.tsv";
    replace_file(file, lower_case_rules());
    flags["normalization_rule_tsv"] = file.string();
  }
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(flags, &sentences, &model);
  if (!sentences.any()) throw DataError("tokenizer: there is no text to take a vocabulary from");
  if (!status.ok()) fail_training(config, status.error_message());
  return parse_sentencepiece(model, "the trained tokenizer");
}

}  // namespace attend
