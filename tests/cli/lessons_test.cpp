// Lessons can be trained as they stand, and are trained once.
#include "cli/lessons.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "attend/base/files.h"
#include "attend/models/text_model.h"
#include "cli/lesson_models.h"
#include "tests/errors.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

TEST(Lessons, HaveWhatThePageShows) {
  for (const Lesson& lesson : lessons()) {
    EXPECT_FALSE(lesson.title.empty());
    EXPECT_GT(lesson.text.size(), 100u) << lesson.title;
    EXPECT_GE(lesson.inputs.size(), 3u) << lesson.title;
    EXPECT_FALSE(lesson.models.empty()) << lesson.title;
    EXPECT_TRUE(lesson.state.contains("view")) << lesson.title;
    std::set<std::string_view> shown;
    for (const LessonModel& model : lesson.models) shown.insert(model.shown);
    EXPECT_EQ(shown.size(), lesson.models.size()) << lesson.title;
  }
}

TEST(Lessons, AreFoundByTheirNumbers) {
  size_t before = 0;
  for (const Lesson& each : lessons()) {
    EXPECT_GT(each.number, before);
    before = each.number;
    EXPECT_EQ(&lesson(each.number), &each);
  }
  expect_error<ConfigError>([] { lesson(10); }, "lesson 10 has no model on the page");
}

TEST(Lessons, SettingsAreSound) {
  const TemporaryDirectory temporary;
  std::map<std::string_view, std::string_view> settings;
  for (const Lesson& lesson : lessons()) {
    for (const LessonModel& model : lesson.models) {
      EXPECT_NO_THROW(lesson_config(model, temporary.path()).check()) << model.name;
      const auto [known, is_new] = settings.emplace(model.name, model.settings);
      EXPECT_EQ(known->second, model.settings) << model.name << ": one name, one model";
    }
  }
}

TEST(Lessons, InputsAreMadeOfWhatTheModelsHaveSeen) {
  for (const Lesson& lesson : lessons()) {
    for (const LessonModel& model : lesson.models) {
      const RunConfig config = lesson_config(model, "");
      const bool words = config.vocabulary.tokenizer.kind == TokenizerKind::kWord;
      const std::string text = model.text();
      for (const std::string& input : lesson.inputs) {
        for (size_t begin = 0, end = 0; begin < input.size(); begin = end + (words ? 1 : 0)) {
          end = words ? std::min(input.find(' ', begin), input.size()) : begin + 1;
          EXPECT_NE(text.find(input.substr(begin, end - begin)), text.npos) << input;
        }
      }
    }
  }
}

struct Counts : LessonObserver {
  size_t started = 0, trained = 0, steps = 0;
  std::atomic<bool>* stop = nullptr;

  void on_start(const LessonModel& /*model*/) override { ++started; }
  void on_trained(const LessonModel& /*model*/) override { ++trained; }
  void on_step(const TrainingReport& /*report*/) override {
    ++steps;
    if (stop != nullptr) *stop = true;
  }
};

size_t entries(const fs::path& directory) {
  return static_cast<size_t>(
      std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

TEST(LessonModels, AreTrainedOnceAndAgainWhenTheyHaveChanged) {
  const TemporaryDirectory temporary;
  const LessonModel& model = lessons().front().models.front();
  const std::atomic<bool> stop = false;
  Counts counts;
  const auto first = lesson_model(model, temporary.path(), 2, counts, stop);
  ASSERT_TRUE(first);
  EXPECT_NO_THROW(TextModel::load(*first));
  const auto second = lesson_model(model, temporary.path(), 2, counts, stop);
  EXPECT_EQ(first, second);
  EXPECT_EQ(counts.started, 1u);
  EXPECT_EQ(counts.trained, 1u);
  const auto other = lesson_model(model, temporary.path(), 3, counts, stop);
  ASSERT_TRUE(other);
  EXPECT_NE(first, other);
  EXPECT_EQ(counts.trained, 2u);
  EXPECT_EQ(entries(temporary.path()), 1u);  // what is out of date is removed
}

TEST(LessonModels, AreResumedAfterTheyWereStopped) {
  const TemporaryDirectory temporary;
  const LessonModel& model = lessons().front().models.front();
  std::atomic<bool> stop = false;
  Counts counts;
  counts.stop = &stop;
  EXPECT_FALSE(lesson_model(model, temporary.path(), 4, counts, stop));
  EXPECT_EQ(counts.trained, 0u);
  EXPECT_EQ(counts.steps, 1u);
  stop = false;
  counts.stop = nullptr;
  const auto directory = lesson_model(model, temporary.path(), 4, counts, stop);
  ASSERT_TRUE(directory);
  EXPECT_EQ(counts.trained, 1u);
  EXPECT_LE(counts.steps, 4u);  // the first was not done again
  EXPECT_NO_THROW(TextModel::load(*directory));
}

}  // namespace
}  // namespace attend::cli
