// Models of random weights, saved and opened by an explorer.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attend/base/files.h"
#include "attend/serve/explorer.h"
#include "tests/inspect/traces.h"

namespace attend {

// A request for a run of a text, with whatever else is given.
inline nlohmann::json run_of(const std::string& source, const nlohmann::json& more = {}) {
  nlohmann::json request = {{"texts", {{"source", source}}}};
  request.update(more.is_null() ? nlohmann::json::object() : more);
  return request;
}

class ExplorerTest : public ::testing::Test {
 protected:
  std::filesystem::path saved(const std::string& name, const TextModel& model) {
    const ModelDirectory directory{temporary_.path() / name};
    directory.create();
    model.save_description(directory);
    model.save_weights(directory.weights());
    return directory.root;
  }

  static std::vector<nlohmann::json> events(Explorer& explorer, const nlohmann::json& request) {
    std::vector<nlohmann::json> all;
    explorer.start_run(request.dump(), [&](const std::string& line) {
      all.push_back(nlohmann::json::parse(line));
      return true;
    });
    return all;
  }

  TemporaryDirectory temporary_;
  TextModel model_ = small_transformer_model();
  std::vector<std::filesystem::path> paths_ = {saved("one", model_),
                                               saved("fixed", small_rnn_model("vanilla"))};
  Explorer explorer_{paths_};
};

}  // namespace attend
