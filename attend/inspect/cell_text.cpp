// The arithmetic of a cell as JSON, and as lines for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "attend/inspect/cell.h"
#include "attend/inspect/text_width.h"
#include "attend/io/json_text.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostDimensions = 12, kWidestBar = 18, kWidestToken = 16;

Json numbers(const std::vector<float>& values) {
  Json all = Json::array();
  for (const float value : values) all.push_back(shortest(value));
  return all;
}

Json number_or_null(std::optional<float> value) { return value ? Json(shortest(*value)) : Json(); }

// Four decimals, or two digits of what is smaller than they can say.
std::string number(float value) {
  const bool tiny = value != 0.0f && std::abs(value) < 0.0005f;
  return tiny ? fmt::format("{:.1e}", value) : fmt::format("{:.4f}", value);
}

// In exactly so many columns, on the left or on the right of them.
std::string left(std::string_view text, size_t columns) {
  const std::string shown = cut_to(text, columns);
  return isolated(shown) + std::string(columns - std::min(columns, columns_of(shown)), ' ');
}
std::string right(std::string_view text, size_t columns) {
  const size_t used = columns_of(text);
  return std::string(columns - std::min(columns, used), ' ') + std::string(text);
}

std::string token_at(const std::string& text, size_t index) {
  return fmt::format("{} ({})", isolated(cut_to(visible(text), kWidestToken)), index);
}

std::string bar(float part, size_t widest, std::string_view mark) {
  const auto count = static_cast<size_t>(
      std::lround(std::clamp(std::abs(part), 0.0f, 1.0f) * static_cast<float>(widest)));
  std::string all;
  for (size_t i = 0; i < count; ++i) all += mark;
  return all;
}

class CellLines {
 public:
  CellLines(const AttentionCell& cell, size_t columns)
      : cell_(cell), columns_(std::max<size_t>(columns, 40)) {}

  std::string all() {
    const CellPlace& place = cell_.place;
    add(fmt::format("{}, head {}", place.layer, place.head));
    add(fmt::format("{} looks at {}: weight {}", token_at(cell_.query, place.query),
                    token_at(cell_.key, place.key), number(cell_.weight)));
    add("");
    dimensions();
    add("");
    chain();
    add("");
    output();
    return text_;
  }

 private:
  void add(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    text_ += cut_to(line, columns_) + '\n';
  }

  // The largest products, and how much the others add up to.
  void dimensions() {
    if (cell_.k.empty()) {
      add("The score does not read keys: it depends on the query and the key's position.");
      return;
    }
    std::vector<size_t> order(cell_.products.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](size_t d) { return std::abs(cell_.products[d]); });
    const float most = std::abs(cell_.products[order.front()]);
    const size_t shown = std::min(order.size(), kMostDimensions);
    const bool has_term = !cell_.term.empty(), has_vector = !cell_.vector.empty();
    add(fmt::format("dimension         q         k{}{}   product", has_term ? "      term" : "",
                    has_vector ? "         v" : ""));
    for (const size_t d : std::span(order).first(shown)) {
      std::string line = fmt::format("{:9}{:10.4f}{:10.4f}", d, cell_.q[d], cell_.k[d]);
      if (has_term) line += fmt::format("{:10.4f}", cell_.term[d]);
      if (has_vector) line += fmt::format("{:10.4f}", cell_.vector[d]);
      line += fmt::format("{:10.4f}  ", cell_.products[d]);
      const bool negative = cell_.products[d] < 0;
      add(line + bar(most > 0 ? cell_.products[d] / most : 0, kWidestBar, negative ? "░" : "█"));
    }
    if (shown == order.size()) return;
    double rest = 0;
    for (const size_t d : std::span(order).subspan(shown)) rest += double{cell_.products[d]};
    const size_t extra = (has_term ? 10 : 0) + (has_vector ? 10 : 0);
    add(fmt::format("{} more{}{:10.4f}", right(fmt::format("{}", order.size() - shown), 4),
                    std::string(20 + extra, ' '), rest));
  }

  void chain() {
    for (const CellStep& step : cell_.steps) {
      std::string name = step.name;
      if (step.operand) {
        const bool softmax = &step != &cell_.steps.front() && cell_.log_sum_exp == step.operand &&
                             name == cell_.weighting;
        name += softmax ? fmt::format(" (log-sum-exp {})", number(*step.operand))
                        : " " + number(*step.operand);
      }
      std::string line =
          left(name, 34) + right(std::isinf(step.value) ? "−∞" : number(step.value), 10);
      if (step.name == "mask") line += "  " + cell_.masked;
      add(line);
    }
    if (cell_.sink) add("A sink of score " + number(*cell_.sink) + " takes a part of the softmax.");
  }

  void output() {
    add(fmt::format("What the head adds up for {}, the longest first:",
                    token_at(cell_.query, cell_.place.query)));
    add(left("key", kWidestToken + 6) + "    weight     |w × v|    share");
    for (const CellContribution& one : cell_.contributions) {
      const double percent = std::round(1000 * double{one.share}) / 10 + 0.0;  // never -0
      add(fmt::format("{}{:>10}{:>12}{:7.1f} %  {}",
                      left(token_at(one.text, one.key), kWidestToken + 6), number(one.weight),
                      number(one.length), percent,
                      bar(one.share, kWidestBar, one.share < 0 ? "░" : "█")));
    }
  }

  const AttentionCell& cell_;
  size_t columns_;
  std::string text_;
};

}  // namespace

std::string cell_json(const AttentionCell& cell) {
  Json steps = Json::array(), contributions = Json::array();
  for (const CellStep& step : cell.steps) {
    steps.push_back({{"name", step.name},
                     {"operand", number_or_null(step.operand)},
                     {"value", shortest(step.value)}});
  }
  for (const CellContribution& one : cell.contributions) {
    contributions.push_back({{"key", one.key},
                             {"text", one.text},
                             {"weight", shortest(one.weight)},
                             {"length", shortest(one.length)},
                             {"share", shortest(one.share)}});
  }
  return json_text({{"layer", cell.place.layer},
                    {"head", cell.place.head},
                    {"query", {{"index", cell.place.query}, {"text", cell.query}}},
                    {"key", {{"index", cell.place.key}, {"text", cell.key}}},
                    {"score", cell.score},
                    {"weighting", cell.weighting},
                    {"q", numbers(cell.q)},
                    {"k", numbers(cell.k)},
                    {"term", numbers(cell.term)},
                    {"vector", numbers(cell.vector)},
                    {"products", numbers(cell.products)},
                    {"steps", steps},
                    {"masked", cell.masked},
                    {"scores", numbers(cell.scores)},
                    {"weights", numbers(cell.weights)},
                    {"largest", shortest(cell.largest)},
                    {"log_sum_exp", number_or_null(cell.log_sum_exp)},
                    {"sink", number_or_null(cell.sink)},
                    {"weight", shortest(cell.weight)},
                    {"v", numbers(cell.v)},
                    {"weighted", numbers(cell.weighted)},
                    {"output", numbers(cell.output)},
                    {"contributions", contributions}});
}

std::string cell_text(const AttentionCell& cell, size_t columns) {
  return CellLines(cell, columns).all();
}

}  // namespace attend
