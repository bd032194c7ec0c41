#include "attend/train/token_chooser.h"

#include <fmt/format.h>

#include <algorithm>

namespace attend {

std::string TokenChooser::choose() {
  VocabularyConfig& vocabulary = config_.vocabulary;
  if (!free("vocabulary.kind")) {
    choose_size(0);
    return "";
  }
  const bool pairs = text_.pairs && free("vocabulary.target_kind");
  // Where both sides are read as one sequence, or share their words, they have one vocabulary.
  const bool joined = given_.any_of("model") && signature_of(fitted(config_).model).joined;
  std::vector<VocabularyChoice> found;
  // Pairs of lines are profiled as one text.
  for (size_t i = 0; i < std::min(task_.columns.size(), profile_.columns.size()); ++i) {
    if (task_.columns[i].kind == ColumnKind::kTokens) found.push_back(choice_for(i));
  }
  if (pairs && !joined && has_labels(profile_, 1)) {
    found[1] = {TokenizerKind::kLine, 0,
                fmt::format("only {} different ones; --text and --label would train a classifier",
                            profile_.columns[1].distinct_lines)};
  }
  if (pairs && found[0].kind != found[1].kind &&
      (joined || (is_subwords(found[0].kind) && found[1].kind == TokenizerKind::kCharacter) ||
       (is_subwords(found[1].kind) && found[0].kind == TokenizerKind::kCharacter))) {
    found[0] =
        found[1] = {TokenizerKind::kCharacter, 0,
                    found[0].kind == TokenizerKind::kCharacter ? found[0].reason : found[1].reason};
  }
  vocabulary.tokenizer.kind = found[0].kind;
  choose_size(found[0].vocabulary);
  if (pairs && found[0].kind != found[1].kind) vocabulary.target_kind = found[1].kind;
  if (pairs && !vocabulary.target_kind && free("vocabulary.joint") && !joined) {
    vocabulary.joint = profile_.shared_characters > 0.5;
  }
  return chosen_text(found, pairs);
}

VocabularyChoice TokenChooser::choice_for(size_t column) const {
  if (text_.book) return tokens_of_book(profile_, characters(column));
  const double text = text_.pairs ? characters(0) + characters(1) : characters(column);
  return tokens_of(profile_, column, text);
}

void TokenChooser::choose_size(size_t chosen) {
  TokenizerConfig& tokenizer = config_.vocabulary.tokenizer;
  if (!free("vocabulary.vocabulary") || !is_subwords(tokenizer.kind)) return;
  const double text =
      text_.pairs && config_.vocabulary.joint ? characters(0) + characters(1) : characters(0);
  tokenizer.vocabulary = chosen > 0 ? chosen : fitting_vocabulary(text, profile_.columns[0]);
  constexpr size_t kBytes = 256;  // are always in it
  if (tokenizer.kind == TokenizerKind::kByteBpe) tokenizer.vocabulary += kBytes;
}

std::string TokenChooser::kind_text(TokenizerKind kind) const {
  if (is_subwords(kind)) {
    return fmt::format("{} subwords", config_.vocabulary.tokenizer.vocabulary);
  }
  return kind == TokenizerKind::kLine ? "whole lines" : std::string(name_of(kind)) + "s";
}

std::string TokenChooser::chosen_text(const std::vector<VocabularyChoice>& found,
                                      bool pairs) const {
  const auto text = [this](const VocabularyChoice& choice, std::string_view of) {
    return fmt::format("{}{} ({})", kind_text(choice.kind), of, choice.reason);
  };
  if (pairs && config_.vocabulary.target_kind) {
    return fmt::format("tokens: {}, {}. Flags: --vocabulary.kind, --vocabulary.target-kind",
                       text(found[0], " for the source"), text(found[1], " for the target"));
  }
  const std::string_view sides = !pairs                     ? ""
                                 : config_.vocabulary.joint ? ", shared by source and target"
                                                            : ", source and target apart";
  return fmt::format("tokens: {}{}. Flags: --vocabulary.kind{}", text(found[0], ""), sides,
                     is_subwords(found[0].kind) ? ", --vocabulary.vocabulary" : "");
}

double TokenChooser::in_column(size_t column) const {
  const ColumnProfile& text = profile_.columns[column];
  switch (kind_of(column)) {
    case TokenizerKind::kLine:
      return static_cast<double>(profile_.records);
    case TokenizerKind::kWord:
      return profile_.all(text.words);
    case TokenizerKind::kBpe:
    case TokenizerKind::kUnigram:
    case TokenizerKind::kWordpiece:
    case TokenizerKind::kByteBpe:
      return characters(column) / characters_of_subword(config_.vocabulary.tokenizer.vocabulary);
    case TokenizerKind::kCharacter:
    case TokenizerKind::kByte:
      break;
  }
  return characters(column);
}

TokenizerKind TokenChooser::kind_of(size_t column) const {
  const VocabularyConfig& vocabulary = config_.vocabulary;
  return column == 1 ? vocabulary.target_kind.value_or(vocabulary.tokenizer.kind)
                     : vocabulary.tokenizer.kind;
}

}  // namespace attend
