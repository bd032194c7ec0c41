// How close predicted numbers are to gold ones. The correlations are those of scipy.stats, but 0
// where scipy has NaN: for fewer than two numbers, or where all of a side are the same. A NaN among
// the numbers makes each result NaN.
#pragma once

#include <span>

namespace attend {

// Whether the points lie on a line: the covariance over both standard deviations, -1 to 1.
// DataError if the lengths differ, here and below.
double pearson_correlation(std::span<const double> predicted, std::span<const double> gold);

// Whether one grows with the other: the Pearson correlation of the ranks, where equal numbers share
// the mean of theirs.
double spearman_correlation(std::span<const double> predicted, std::span<const double> gold);

// The mean of squared, and of absolute, differences; 0 without numbers.
double mean_squared_error(std::span<const double> predicted, std::span<const double> gold);
double mean_absolute_error(std::span<const double> predicted, std::span<const double> gold);

}  // namespace attend
