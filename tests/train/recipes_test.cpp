// The settings of the recipes: every field they name is there, and none of them is an old one.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "attend/io/config.h"
#include "attend/train/run_config.h"

namespace attend {
namespace {

// Those of a recipe itself: the models it trained lie in folders below.
std::vector<std::filesystem::path> settings_of_recipes() {
  std::vector<std::filesystem::path> files;
  for (const auto& recipe : std::filesystem::directory_iterator(ATTEND_RECIPES)) {
    if (!recipe.is_directory()) continue;
    for (const auto& entry : std::filesystem::directory_iterator(recipe)) {
      if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    }
  }
  return files;
}

TEST(Recipes, HaveSettingsThatCanBeRead) {
  const auto files = settings_of_recipes();
  EXPECT_GT(files.size(), 10u);
  for (const auto& file : files) {
    SCOPED_TRACE(file);
    RunConfig config;
    if (const auto preset = peek(config_text(file), "model.preset", file.string())) {
      config.model = ModelConfig::of_preset(*preset);
    }
    std::string said;
    EXPECT_NO_THROW(
        read_run_config(config, file, [&said](const std::string& line) { said += line; }));
    EXPECT_EQ(said, "");
  }
}

}  // namespace
}  // namespace attend
