#include "attend/inspect/tsne.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "attend/base/error.h"
#include "attend/base/parallel.h"
#include "attend/base/rng.h"
#include "attend/inspect/pca.h"

namespace attend {
namespace {

constexpr size_t kReducedWidth = 50;
constexpr size_t kLanes = 8;             // of sums, in a fixed order
constexpr size_t kTsneRowsOfThread = 8;  // the grain of loops over points
constexpr size_t kReportEvery = 50;
constexpr double kExaggeration = 12;
constexpr float kLeastProbability = 1e-12f;

double lanes_sum(const std::array<float, kLanes>& lanes) {
  double sum = 0;
  for (const float lane : lanes) sum += double{lane};
  return sum;
}

// All that a point is moved by.
struct Force {
  double attract_x = 0, attract_y = 0, repel_x = 0, repel_y = 0, mass = 0;
};

class Embedding2d {
 public:
  Embedding2d(const Tensor& rows, const TsneConfig& config)
      : count_(rows.rows()),
        stride_((count_ + kLanes - 1) / kLanes * kLanes),
        near_(count_ * stride_),
        x_(stride_),
        y_(stride_),
        forces_(count_) {
    const PrincipalComponents reduced = principal_components(rows, kReducedWidth);
    find_neighbours(reduced.points, config.perplexity);
    start(reduced.points, config.seed);
  }

  // One step down the gradient, with momentum and a gain for each coordinate (Jacobs, 1988).
  void step(double exaggeration, double momentum, double rate) {
    find_forces();
    double mass = 0;
    for (const Force& force : forces_) mass += force.mass;
    for (size_t i = 0; i < count_; ++i) {
      const Force& f = forces_[i];
      const std::array<double, 2> gradient = {4 * (exaggeration * f.attract_x - f.repel_x / mass),
                                              4 * (exaggeration * f.attract_y - f.repel_y / mass)};
      for (size_t axis = 0; axis < 2; ++axis) {
        double& gain = gains_[2 * i + axis];
        double& speed = speeds_[2 * i + axis];
        const bool same_way = (gradient[axis] > 0) == (speed > 0);
        gain = std::max(same_way ? gain * 0.8 : gain + 0.2, 0.01);
        speed = momentum * speed - rate * gain * gradient[axis];
        places_[2 * i + axis] += speed;
      }
    }
    centre();
  }

  // How far the distances of the plane are from those of the vectors, in nats.
  double divergence() {
    find_forces();
    double mass = 0;
    for (const Force& force : forces_) mass += force.mass;
    std::vector<double> sums(count_);
    parallel_for(count_, kTsneRowsOfThread, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        for (size_t j = 0; j < count_; ++j) {
          if (j == i) continue;
          const double dx = double{x_[i]} - double{x_[j]}, dy = double{y_[i]} - double{y_[j]};
          const double p = near_[i * stride_ + j];
          sums[i] += p * std::log(p * mass * (1 + dx * dx + dy * dy));
        }
      }
    });
    double sum = 0;
    for (const double part : sums) sum += part;
    return sum;
  }

  Tensor points() const {
    Tensor points = Tensor::empty({count_, 2});
    std::ranges::transform(places_, points.data(), [](double v) { return static_cast<float>(v); });
    return points;
  }

 private:
  // Joint probabilities: each row's Gaussian as wide as the perplexity asks for, made symmetric.
  void find_neighbours(const Tensor& rows, double perplexity) {
    const size_t width = rows.width();
    const double wanted = std::log(perplexity);
    parallel_for(count_, kTsneRowsOfThread, [&](size_t begin, size_t end) {
      std::vector<double> distances(count_);
      for (size_t i = begin; i < end; ++i) {
        for (size_t j = 0; j < count_; ++j) {
          double sum = 0;
          for (size_t k = 0; k < width; ++k) {
            const double apart =
                double{rows.data()[i * width + k]} - double{rows.data()[j * width + k]};
            sum += apart * apart;
          }
          distances[j] = sum;
        }
        find_width(distances, i, wanted);
      }
    });
    for (size_t i = 0; i < count_; ++i) {
      for (size_t j = 0; j < i; ++j) {
        float &a = near_[i * stride_ + j], &b = near_[j * stride_ + i];
        a = b = std::max((a + b) / static_cast<float>(2 * count_), kLeastProbability);
      }
    }
  }

  // By bisection of the precision; distances are taken from the nearest, which changes nothing.
  void find_width(std::span<const double> distances, size_t own, double wanted) {
    double nearest = std::numeric_limits<double>::infinity();
    for (size_t j = 0; j < count_; ++j) {
      if (j != own) nearest = std::min(nearest, distances[j]);
    }
    float* const row = near_.data() + own * stride_;
    double precision = 1, low = 0, high = std::numeric_limits<double>::infinity();
    for (int attempt = 0; attempt < 100; ++attempt) {
      double sum = 0, weighted = 0;
      for (size_t j = 0; j < count_; ++j) {
        if (j == own) continue;
        const double further = distances[j] - nearest;
        const double weight = std::exp(-precision * further);
        sum += weight;
        weighted += weight * further;
        row[j] = static_cast<float>(weight);
      }
      for (size_t j = 0; j < count_; ++j) row[j] /= static_cast<float>(sum);
      const double entropy = std::log(sum) + precision * weighted / sum;
      if (std::abs(entropy - wanted) < 1e-5) break;
      if (entropy > wanted) {
        low = precision;
        precision = std::isinf(high) ? 2 * precision : (precision + high) / 2;
      } else {
        high = precision;
        precision = (low + precision) / 2;
      }
    }
    row[own] = 0;
  }

  // The first two components, small, and displaced a little so that equal vectors can part.
  void start(const Tensor& rows, uint64_t seed) {
    places_.assign(2 * count_, 0.0);
    speeds_.assign(2 * count_, 0.0);
    gains_.assign(2 * count_, 1.0);
    std::vector<float> displaced(2 * count_);
    fill_normal(displaced, Rng(seed).stream(), 0.0f, 1e-5f);
    double squares = 0;
    for (size_t i = 0; i < count_; ++i) {
      squares += std::pow(double{rows.data()[i * rows.width()]}, 2);
    }
    const double deviation = std::sqrt(squares / static_cast<double>(count_));
    const double scale = deviation > 0 ? 1e-4 / deviation : 0.0;
    for (size_t i = 0; i < count_; ++i) {
      for (size_t axis = 0; axis < 2; ++axis) {
        const double along =
            axis < rows.width() ? double{rows.data()[i * rows.width() + axis]} : 0.0;
        places_[2 * i + axis] = scale * along + double{displaced[2 * i + axis]};
      }
    }
    centre();
  }

  void centre() {
    double x = 0, y = 0;
    for (size_t i = 0; i < count_; ++i) x += places_[2 * i], y += places_[2 * i + 1];
    x /= static_cast<double>(count_), y /= static_cast<double>(count_);
    for (size_t i = 0; i < count_; ++i) {
      places_[2 * i] -= x, places_[2 * i + 1] -= y;
      x_[i] = static_cast<float>(places_[2 * i]);
      y_[i] = static_cast<float>(places_[2 * i + 1]);
    }
    // The rest of the last lanes is so far away that it weighs nothing.
    for (size_t i = count_; i < stride_; ++i) x_[i] = y_[i] = 1e18f;
  }

  void find_forces() {
    parallel_for(count_, kTsneRowsOfThread, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) forces_[i] = force_on(i);
    });
  }

  Force force_on(size_t i) const {
    std::array<float, kLanes> ax{}, ay{}, rx{}, ry{}, mass{};
    const float x = x_[i], y = y_[i];
    const float* const near = near_.data() + i * stride_;
    for (size_t j = 0; j < stride_; j += kLanes) {
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const float dx = x - x_[j + lane], dy = y - y_[j + lane];
        const float closeness = 1.0f / (1.0f + dx * dx + dy * dy);
        const float pull = near[j + lane] * closeness;
        const float push = closeness * closeness;
        ax[lane] += pull * dx;
        ay[lane] += pull * dy;
        rx[lane] += push * dx;
        ry[lane] += push * dy;
        mass[lane] += closeness;
      }
    }
    return {lanes_sum(ax), lanes_sum(ay), lanes_sum(rx), lanes_sum(ry),
            lanes_sum(mass) - 1};  // not the point itself
  }

  size_t count_, stride_;
  std::vector<float> near_;   // (count x stride): joint probabilities
  std::vector<float> x_, y_;  // of the plane, for the loops
  std::vector<Force> forces_;
  std::vector<double> places_, speeds_, gains_;  // (count x 2)
};

}  // namespace

TsnePoints tsne(const Tensor& rows, const TsneConfig& config, const TsneListener& listener) {
  const size_t count = rows.rows();
  if (count < kFewestTsnePoints) {
    throw DataError("t-SNE: {} vectors have too few neighbours; give at least {}, or use PCA",
                    count, kFewestTsnePoints);
  }
  if (count > kMostTsnePoints) {
    throw DataError(
        "t-SNE: {} vectors; at most {} are compared with each other, so give fewer, or "
        "use PCA",
        count, kMostTsnePoints);
  }
  if (!(config.perplexity >= 1) || !std::isfinite(config.perplexity)) {
    throw ConfigError("t-SNE: a perplexity of {}; use 1 or more, such as 30", config.perplexity);
  }
  TsnePoints found;
  found.perplexity = std::min(config.perplexity, static_cast<double>(count - 1) / 3);
  TsneConfig used = config;
  used.perplexity = found.perplexity;
  Embedding2d embedding(rows, used);
  const size_t exaggerated = std::min<size_t>(250, config.iterations / 4);
  const double rate = std::max(static_cast<double>(count) / kExaggeration / 4, 50.0);
  for (size_t i = 0; i < config.iterations; ++i) {
    const bool early = i < exaggerated;
    embedding.step(early ? kExaggeration : 1, early ? 0.5 : 0.8, rate);
    if (!early && (i - exaggerated) % kReportEvery == 0) {
      found.divergences.push_back(embedding.divergence());
    }
    if (listener && !listener(i + 1)) break;
  }
  found.divergences.push_back(embedding.divergence());
  found.points = embedding.points();
  return found;
}

}  // namespace attend
