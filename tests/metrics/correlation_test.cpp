#include "attend/metrics/correlation.h"

#include <cmath>
#include <limits>
#include <vector>

#include "attend/base/error.h"
#include "attend/metrics/scores.h"
#include "tests/metrics/label_fixtures.h"

namespace attend {
namespace {

using Numbers = std::vector<double>;

TEST(Correlation, AgreesWithScipy) {
  size_t compared = 0;
  const nlohmann::json all = label_fixtures();
  for (const nlohmann::json& one : all["numbers"]) {
    SCOPED_TRACE(one.dump().substr(0, 200));
    const NumberPairs pairs{one["predicted"], one["gold"]};
    for (const NumberMetric& metric : number_metrics()) {
      expect_close(metric.measure(pairs), one[metric.name]);
    }
    ++compared;
  }
  EXPECT_GE(compared, 10u);
}

TEST(Correlation, OfTooLittleIsZero) {
  for (const NumberMetric& metric : number_metrics()) {
    EXPECT_EQ(metric.measure({}), 0) << metric.name;
    EXPECT_EQ(metric.measure({{3}, {3}}), 0) << metric.name;
  }
  // 0.1 three times has a mean that is not 0.1.
  const Numbers same = {0.1, 0.1, 0.1}, other = {1, 2, 4};
  EXPECT_EQ(pearson_correlation(same, other), 0);
  EXPECT_EQ(pearson_correlation(other, same), 0);
  EXPECT_EQ(spearman_correlation(same, other), 0);
}

TEST(Correlation, OfALineIsOne) {
  const Numbers x = {1, 2, 3, 7}, falling = {-1e300, -2e300, -3e300, -7e300},
                curve = {1, 1e9, 1e10, 1e300};
  EXPECT_NEAR(pearson_correlation(x, falling), -1, 1e-15);
  EXPECT_EQ(spearman_correlation(x, curve), 1);
  EXPECT_LT(pearson_correlation(x, curve), 1);
}

TEST(Correlation, OfNanIsNan) {
  const Numbers x = {1, std::numeric_limits<double>::quiet_NaN(), 3}, y = {1, 2, 3};
  EXPECT_TRUE(std::isnan(pearson_correlation(x, y)));
  EXPECT_TRUE(std::isnan(pearson_correlation(y, x)));
  EXPECT_TRUE(std::isnan(spearman_correlation(x, y)));
  EXPECT_TRUE(std::isnan(mean_squared_error(x, y)));
}

TEST(Correlation, NeedsPairs) {
  const Numbers x = {1, 2}, y = {1, 2, 3};
  EXPECT_THROW(pearson_correlation(x, y), DataError);
  EXPECT_THROW(spearman_correlation(x, y), DataError);
  EXPECT_THROW(mean_squared_error(x, y), DataError);
}

}  // namespace
}  // namespace attend
