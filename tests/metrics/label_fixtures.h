// What scikit-learn, scipy and seqeval say (make_label_fixtures.py), read for the tests of this
// folder.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace attend {

inline nlohmann::json label_fixtures() {
  std::ifstream file(ATTEND_LABEL_FIXTURES);
  return nlohmann::json::parse(file);
}

// Within rounding: those tools add up in another order.
inline void expect_close(double value, const nlohmann::json& expected) {
  EXPECT_NEAR(value, expected.get<double>(),
              1e-9 * std::max(1.0, std::abs(expected.get<double>())));
}

}  // namespace attend
