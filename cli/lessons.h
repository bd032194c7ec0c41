// The lessons of docs/course on the page: which models each shows, on what they are trained, and
// what to look at. Not for use outside cli/.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend::cli {

// A model that is trained when a lesson is opened for the first time. Lessons may share one.
struct LessonModel {
  std::string_view name;      // of its directory
  std::string_view shown;     // what the page calls it
  std::string (*text)();      // that it is trained on (lesson_texts.h)
  std::string_view settings;  // of its RunConfig, as YAML; text and directory follow from the rest
};

struct Lesson {
  size_t number;
  std::string_view title;
  std::string_view text;  // what to look at
  std::vector<LessonModel> models;
  std::vector<std::string> inputs;           // the page runs the first
  std::map<std::string, std::string> state;  // of the page when it opens, as its address has it
};

// In their order. A lesson without anything on the page is not among them.
std::span<const Lesson> lessons();
const Lesson& lesson(size_t number);  // throws ConfigError where it is not among them

}  // namespace attend::cli
