// `attend bench MODEL`, and how `attend bench` takes time.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

namespace attend::cli {

// Times of as many runs as fit into `budget` seconds, five at least, sorted; the first run is not
// counted.
std::vector<double> bench_times(double budget, const std::function<void()>& run);

// Prints how fast a model reads or writes text here, and how fast it trains where its directory has
// the training text. Returns the exit code.
int bench_model(const std::filesystem::path& directory, double budget, bool json);

}  // namespace attend::cli
