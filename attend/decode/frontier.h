// The hypotheses that a search is writing, and what they may write next. Not for use outside
// decode/.
#pragma once

#include <memory>
#include <optional>

#include "attend/decode/search.h"

namespace attend {

class Frontier {
 public:
  Frontier(const Generator& model, const Tokens& sources, const SearchConfig& config,
           const Prefixes& prefixes);

  bool empty() const { return live_.empty(); }
  std::span<const Live> live() const { return live_; }

  // One more step of the model: the logits of what may follow each live hypothesis, -inf for what
  // must not.
  Tensor logits();

  // Takes these tokens as the next live hypotheses, in the order of their sources. Those that end,
  // or are as long as they may be, come back finished instead; others are forgotten.
  struct Finished {
    size_t source;
    Hypothesis hypothesis;
  };
  std::vector<Finished> advance(std::span<const Candidate> chosen);

  void drop(const std::vector<bool>& sources);  // forgets the hypotheses of some sources

  size_t limit(size_t source) const;                      // longest hypothesis
  std::optional<int32_t> forced(const Live& live) const;  // by a prefix
  void start_with(std::span<const size_t> counts);        // so many hypotheses for each source

 private:
  void forbid(const Live& live, std::span<float> row) const;
  void keep_places(std::span<const size_t> places);
  void finish(Hypothesis& hypothesis, bool ended) const;

  const Generator& model_;
  const SearchConfig& config_;
  const Prefixes& prefixes_;
  Packing sources_;
  std::unique_ptr<Generator::State> state_;
  std::vector<Live> live_;
  std::vector<int32_t> tokens_;  // to be written in the next step
  std::vector<size_t> parents_;  // rows of the last step that they continue
  size_t rows_ = 0;              // of the last step
};

}  // namespace attend
