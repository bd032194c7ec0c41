// What the reference tools say (make_fixtures.py), read for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace attend {

struct MetricFixtures {
  nlohmann::json all;
  std::vector<std::string> hypotheses;

  MetricFixtures() {
    std::ifstream file(ATTEND_METRIC_FIXTURES);
    all = nlohmann::json::parse(file);
    hypotheses = all["hypotheses"];
  }

  // Calls visit(hypothesis, references) for each line of a corpus.
  template <typename Visit>
  void for_each_line(const std::string& corpus, Visit visit) const {
    const nlohmann::json& lines = all["corpora"][corpus];
    ASSERT_EQ(lines.size(), hypotheses.size());
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::vector<std::string> texts = lines[i];
      visit(hypotheses[i], std::vector<std::string_view>(texts.begin(), texts.end()));
    }
  }
};

// The signature but for the version of the tool.
inline std::string without_version(const std::string& signature) {
  return signature.substr(0, signature.rfind("|version:"));
}

}  // namespace attend
