// What the text of a run is cut into, where nobody set it: a part of choose_settings(). Not for use
// outside train/.
#pragma once

#include <string>
#include <vector>

#include "attend/train/choices.h"
#include "attend/train/token_choice.h"

namespace attend {

class TokenChooser {
 public:
  // What the text is: that of a language model, or a source and a target.
  struct Text {
    bool book = false, pairs = false;
  };
  // All must outlive it.
  TokenChooser(RunConfig& config, const GivenSettings& given, const Task& task,
               const TextProfile& profile, Text text)
      : config_(config), given_(given), task_(task), profile_(profile), text_(text) {}

  // Returns what it chose and why, for a person; nothing where the kind of tokens was set.
  std::string choose();
  // How many tokens a column of the text has, about.
  double in_column(size_t column) const;

 private:
  bool free(std::string_view path) const { return !given_.has(path); }
  double characters(size_t column) const {
    return profile_.all(profile_.columns[column].characters);
  }
  VocabularyChoice choice_for(size_t column) const;
  void choose_size(size_t chosen);
  std::string kind_text(TokenizerKind kind) const;
  std::string chosen_text(const std::vector<VocabularyChoice>& found, bool pairs) const;
  TokenizerKind kind_of(size_t column) const;

  RunConfig& config_;
  const GivenSettings& given_;
  const Task& task_;
  const TextProfile& profile_;
  Text text_;
};

}  // namespace attend
