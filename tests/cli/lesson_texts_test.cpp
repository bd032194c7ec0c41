// The texts that lessons are taught with are what they claim to be.
#include "cli/lesson_texts.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <sstream>

namespace attend::cli {
namespace {

struct Pair {
  std::string source, target;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<Pair> pairs_of(const std::string& text) {
  std::vector<Pair> pairs;
  for (const std::string& line : lines_of(text)) {
    const size_t tab = line.find('\t');
    EXPECT_NE(tab, line.npos) << line;
    pairs.push_back({line.substr(0, tab), line.substr(tab + 1)});
    EXPECT_EQ(pairs.back().target.find('\t'), std::string::npos) << line;
  }
  return pairs;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

TEST(LessonTexts, AreTheSameEachTime) {
  for (const auto text : {dates_text, backwards_text, short_backwards_text, colours_text,
                          animals_text, sentences_text, senses_text}) {
    EXPECT_EQ(text(), text());
    EXPECT_GT(lines_of(text()).size(), 5000u);
  }
}

TEST(LessonTexts, DatesHaveTheirDayAndYear) {
  std::set<std::string> months;
  size_t leap_days = 0;
  for (const auto& [spelled, iso] : pairs_of(dates_text())) {
    ASSERT_EQ(iso.size(), 10u) << iso;
    const int year = std::stoi(iso.substr(0, 4)), month = std::stoi(iso.substr(5, 2));
    const int day = std::stoi(iso.substr(8, 2));
    EXPECT_TRUE(1970 <= year && year <= 2069 && 1 <= month && month <= 12) << iso;
    const bool leap = year % 4 == 0;  // 2000 is one
    const std::array<int, 12> days = {31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    EXPECT_TRUE(1 <= day && day <= days.at(static_cast<size_t>(month - 1))) << iso;
    leap_days += month == 2 && day == 29 ? 1 : 0;
    EXPECT_NE(spelled.find(iso.substr(2, 2)), std::string::npos) << spelled << " " << iso;
    EXPECT_NE(spelled.find(std::to_string(day)), std::string::npos) << spelled << " " << iso;
    months.insert(iso.substr(5, 2));
  }
  EXPECT_EQ(months.size(), 12u);
  EXPECT_GT(leap_days, 0u);
}

// Known days: 24 December 1999 was a Friday.
TEST(LessonTexts, DaysOfTheWeekAreRight) {
  const std::map<std::string, std::string> known = {{"1999-12-24", "Friday"},
                                                    {"2000-02-29", "Tuesday"},
                                                    {"1970-01-01", "Thursday"},
                                                    {"2026-05-03", "Sunday"}};
  std::set<std::string> weekdays;
  for (const auto& [spelled, iso] : pairs_of(dates_text())) {
    if (!std::isupper(static_cast<unsigned char>(spelled[0]))) continue;
    const size_t comma = spelled.find("day, ");
    if (comma == std::string::npos) continue;
    weekdays.insert(spelled.substr(0, comma + 3));
    if (const auto found = known.find(iso); found != known.end()) {
      EXPECT_TRUE(spelled.starts_with(found->second)) << spelled;
    }
  }
  EXPECT_EQ(weekdays.size(), 7u);
}

TEST(LessonTexts, LettersStandBackwards) {
  for (const auto& [text, longest] :
       {std::pair{backwards_text(), 20u}, {short_backwards_text(), 12u}}) {
    std::set<size_t> lengths;
    for (const auto& [source, target] : pairs_of(text)) {
      EXPECT_EQ(std::string(source.rbegin(), source.rend()), target);
      lengths.insert(source.size());
    }
    EXPECT_EQ(lengths.size(), longest);
    EXPECT_EQ(*lengths.rbegin(), longest);
  }
}

TEST(LessonTexts, TheAnswerIsTheValueOfTheKey) {
  for (const auto& [source, target] : pairs_of(colours_text())) {
    const std::vector<std::string> words = words_of(source);
    size_t found = 0;
    for (size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] == words.back() + "=" + target) ++found;
      EXPECT_FALSE(words[i].starts_with(words.back() + "=") &&
                   words[i] != words.back() + "=" + target)
          << source;
    }
    EXPECT_EQ(found, 1u) << source << " " << target;
  }
}

// Greedy search takes "the", but the likeliest sentence begins with "a".
TEST(LessonTexts, TheLikelierFirstWordLeadsToLessLikelySentences) {
  std::map<std::string, std::map<std::string, size_t>> targets;
  for (const auto& [source, target] : pairs_of(animals_text())) ++targets[source][target];
  EXPECT_EQ(targets.size(), 32u);
  for (const auto& [source, counts] : targets) {
    size_t the = 0, most_the = 0, a = 0;
    for (const auto& [target, count] : counts) {
      if (target.starts_with("the ")) {
        the += count;
        most_the = std::max(most_the, count);
      } else {
        a += count;
      }
    }
    EXPECT_GT(the, a) << source;
    EXPECT_GT(a, most_the) << source;
  }
}

// The bank alone tells nothing; what else is said tells all.
TEST(LessonTexts, WhatIsSaidOfABankTellsItsSense) {
  std::map<std::string, std::set<std::string>> senses;  // of each clue
  std::map<std::string, size_t> banks;                  // of each sense
  size_t clue_first = 0;
  for (const auto& [text, sense] : pairs_of(senses_text())) {
    const size_t after = text.find("after ");
    ASSERT_NE(after, text.npos) << text;
    const std::vector<std::string> words = words_of(text.substr(after));
    senses[words[1] + " " + words[3]].insert(sense);
    banks[sense] += text.find("the bank") != text.npos ? 1 : 0;
    clue_first += after == 0 ? 1 : 0;
    EXPECT_FALSE(text.find("the shore") != text.npos && sense == "money") << text;
    EXPECT_FALSE(text.find("the office") != text.npos && sense == "nature") << text;
  }
  EXPECT_EQ(senses.size(), 16u);
  for (const auto& [clue, found] : senses) EXPECT_EQ(found.size(), 1u) << clue;
  EXPECT_GT(banks["nature"], 1500u);
  EXPECT_GT(banks["money"], 1500u);
  EXPECT_GT(clue_first, 2500u);
}

TEST(LessonTexts, VerbsAgreeWithTheirSubjects) {
  const std::set<std::string> singular = {"sleeps", "waits", "shines", "moves", "is", "was"};
  const std::set<std::string> plural = {"sleep", "wait", "shine", "move", "are", "were"};
  const std::set<std::string> adjectives = {"old", "small", "red", "quiet", "young"};
  size_t misled = 0;  // the noun before the verb has the other number
  for (const std::string& line : lines_of(sentences_text())) {
    const std::vector<std::string> words = words_of(line);
    ASSERT_EQ(words.front(), "the");
    ASSERT_EQ(words.back(), ".");
    const std::string& subject = words[adjectives.contains(words[1]) ? 2 : 1];
    const auto is_plural = [](const std::string& noun) {
      return noun == "children" || noun.ends_with("s");
    };
    for (size_t i = 1; i < words.size(); ++i) {
      if (!singular.contains(words[i]) && !plural.contains(words[i])) continue;
      EXPECT_EQ(plural.contains(words[i]), is_plural(subject)) << line;
      misled += is_plural(words[i - 1]) != is_plural(subject) ? 1 : 0;
      break;
    }
  }
  EXPECT_GT(misled, 1000u);
}

}  // namespace
}  // namespace attend::cli
