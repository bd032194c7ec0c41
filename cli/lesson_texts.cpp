#include "cli/lesson_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string_view>

#include "attend/base/rng.h"

namespace attend::cli {
namespace {

// Draws one number after another.
class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed, 0) {}

  size_t below(size_t bound) { return random_.below(place_++, bound); }
  size_t within(size_t least, size_t most) { return least + below(most - least + 1); }
  bool chance(double probability) { return random_.bernoulli(place_++, probability); }
  template <typename T, size_t kSize>
  const T& of(const std::array<T, kSize>& all) {
    return all[below(kSize)];
  }
  void shuffle(std::span<std::string_view> all) {
    for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[below(i)]);
  }

 private:
  RandomStream random_;
  uint64_t place_ = 0;
};

template <typename Line>
std::string lines(size_t count, uint64_t seed, const Line& line) {
  Draw draw(seed);
  std::string text;
  for (size_t i = 0; i < count; ++i) text += line(draw) + "\n";
  return text;
}

struct Date {
  size_t year, month, day;  // from 1
};

constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
constexpr std::array<std::string_view, 7> kWeekdays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};

size_t days_of(size_t year, size_t month) {
  constexpr std::array<size_t, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

// Sakamoto's method.
std::string_view weekday_of(Date date) {
  constexpr std::array<size_t, 12> kShift = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
  const size_t year = date.year - (date.month < 3 ? 1 : 0);
  return kWeekdays[(year + year / 4 - year / 100 + year / 400 + kShift[date.month - 1] + date.day) %
                   7];
}

std::string ordinal(size_t day) {
  const bool teen = day >= 11 && day <= 13;
  const size_t last = day % 10;
  return fmt::format("{}{}", day,
                     teen        ? "th"
                     : last == 1 ? "st"
                     : last == 2 ? "nd"
                     : last == 3 ? "rd"
                                 : "th");
}

std::string in_case(std::string_view text, int (*letter)(int)) {
  std::string changed(text);
  for (char& c : changed) c = static_cast<char>(letter(static_cast<unsigned char>(c)));
  return changed;
}

// As people write it.
std::string spelled(Date date, size_t way) {
  const auto [year, month, day] = date;
  const std::string_view name = kMonths[month - 1], weekday = weekday_of(date);
  switch (way) {
    case 0:
      return fmt::format("{} {} {}", day, name, year);
    case 1:
      return fmt::format("{} {}, {}", name, day, year);
    case 2:
      return fmt::format("the {} of {} {}", ordinal(day), name, year);
    case 3:
      return fmt::format("{}, {} {}, {}", weekday, name, day, year);
    case 4:
      return fmt::format("{:02}.{:02}.{}", day, month, year);
    case 5:
      return fmt::format("{}/{}/{}", month, day, year);
    case 6:
      return fmt::format("{} {} {}", name.substr(0, 3), day, year);
    case 7:
      return fmt::format("{:02}-{}-{:02}", day, name.substr(0, 3), year % 100);
    case 8:
      return fmt::format("{} {} {} {}", weekday.substr(0, 3), day, name.substr(0, 3), year);
    case 9:
      return fmt::format("{} the {}, {}", in_case(name, std::tolower), ordinal(day), year);
    case 10:
      return fmt::format("{}{:02}{:02}", year, month, day);
    default:
      return fmt::format("{} {}, {}", in_case(name, std::toupper), year, ordinal(day));
  }
}

std::string date_pair(Draw& draw) {
  Date date{draw.within(1970, 2069), draw.within(1, 12), 0};
  date.day = draw.within(1, days_of(date.year, date.month));
  return fmt::format("{}\t{}-{:02}-{:02}", spelled(date, draw.below(12)), date.year, date.month,
                     date.day);
}

std::string backwards_pair(Draw& draw, size_t longest) {
  std::string letters(draw.within(1, longest), ' ');
  for (char& letter : letters) letter = static_cast<char>('a' + draw.below(26));
  return letters + "\t" + std::string(letters.rbegin(), letters.rend());
}

std::string colour_pair(Draw& draw) {
  std::array<std::string_view, 8> colours = {"red",   "blue", "green", "black",
                                             "white", "pink", "gold",  "grey"};
  draw.shuffle(colours);
  const size_t count = draw.within(2, 6), asked = draw.below(count);
  std::string text;
  size_t answer = 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t digit = draw.below(10);
    text += fmt::format("{}={} ", colours[i], digit);
    if (i == asked) answer = digit;
  }
  return fmt::format("{}{}\t{}", text, colours[asked], answer);
}

// The likelier first word leads to six ways to go on, each less likely than the other sentence.
std::string animal_pair(Draw& draw) {
  constexpr std::array<std::string_view, 8> kAnimals = {"dog", "cat",  "horse", "bird",
                                                        "fox", "bear", "mouse", "sheep"};
  constexpr std::array<std::string_view, 4> kVerbs = {"sleeps", "runs", "eats", "waits"};
  constexpr std::array<std::string_view, 6> kAdjectives = {"old", "young", "small",
                                                           "big", "brown", "quiet"};
  const std::string_view animal = draw.of(kAnimals), verb = draw.of(kVerbs);
  const std::string_view adjective = draw.of(kAdjectives);
  return draw.chance(0.6) ? fmt::format("{0} {1}\tthe {2} {0} {1}", animal, verb, adjective)
                          : fmt::format("{0} {1}\ta {0} {1}", animal, verb);
}

std::string sentence(Draw& draw) {
  struct Forms {
    std::string_view one, many;
    std::string_view of(bool plural) const { return plural ? many : one; }
  };
  constexpr std::array<Forms, 8> kNouns = {{{"dog", "dogs"},
                                            {"cat", "cats"},
                                            {"bird", "birds"},
                                            {"horse", "horses"},
                                            {"farmer", "farmers"},
                                            {"child", "children"},
                                            {"key", "keys"},
                                            {"boat", "boats"}}};
  constexpr std::array<Forms, 6> kVerbs = {{{"sleeps", "sleep"},
                                            {"waits", "wait"},
                                            {"shines", "shine"},
                                            {"moves", "move"},
                                            {"is here", "are here"},
                                            {"was lost", "were lost"}}};
  constexpr std::array<std::string_view, 5> kAdjectives = {"old", "small", "red", "quiet", "young"};
  constexpr std::array<std::string_view, 4> kPlaces = {"near", "behind", "beside", "under"};
  const bool plural = draw.chance(0.5);
  std::string text = "the ";
  if (draw.chance(0.3)) text += fmt::format("{} ", draw.of(kAdjectives));
  text += draw.of(kNouns).of(plural);
  if (draw.chance(0.6)) {
    const std::string_view place = draw.of(kPlaces);
    const Forms& noun = draw.of(kNouns);
    text += fmt::format(" {} the {}", place, noun.of(draw.chance(0.5)));
  }
  return fmt::format("{} {} .", text, draw.of(kVerbs).of(plural));
}

std::string sense_pair(Draw& draw) {
  constexpr std::array<std::array<std::string_view, 8>, 2> kClues = {
      {{"crossing the river", "feeding the swan", "seeing the swan", "leaving the boat",
        "crossing the stream", "losing the boat", "seeing the river", "feeding the duck"},
       {"signing the loan", "paying the bill", "seeing the bill", "losing the coin",
        "signing the cheque", "paying the rent", "seeing the loan", "leaving the clerk"}}};
  constexpr std::array<std::string_view, 2> kOneSense = {"shore", "office"};
  constexpr std::array<std::string_view, 6> kPersons = {"I", "we", "anna", "tom", "eva", "paul"};
  constexpr std::array<std::string_view, 4> kVerbs = {"arrived at", "met near", "sat behind",
                                                      "left"};
  const size_t sense = draw.below(2);
  const std::string_view place = draw.chance(0.7) ? "bank" : kOneSense[sense];
  const std::string arrival =
      fmt::format("{} {} the {}", draw.of(kPersons), draw.of(kVerbs), place);
  const std::string_view clue = draw.of(kClues[sense]);
  const std::string text = draw.chance(0.5) ? fmt::format("{} after {}", arrival, clue)
                                            : fmt::format("after {} {}", clue, arrival);
  return text + (sense == 0 ? "\tnature" : "\tmoney");
}

}  // namespace

std::string dates_text() { return lines(20'000, 1, date_pair); }
std::string backwards_text() {
  return lines(20'000, 2, [](Draw& draw) { return backwards_pair(draw, 20); });
}
std::string short_backwards_text() {
  return lines(20'000, 3, [](Draw& draw) { return backwards_pair(draw, 12); });
}
std::string colours_text() { return lines(15'000, 4, colour_pair); }
std::string animals_text() { return lines(6'000, 5, animal_pair); }
std::string senses_text() { return lines(6'000, 7, sense_pair); }
std::string sentences_text() { return lines(12'000, 6, sentence); }

}  // namespace attend::cli
