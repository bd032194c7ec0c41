// The hypotheses that a search is writing, and what they may write next. Not for use outside
// decode/.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "attend/decode/search.h"

namespace attend {

// What a model expects after some rows, and the likeliest tokens of each.
struct NextTokens {
  Tensor logits;                         // [rows, vocabulary]
  size_t k;                              // likeliest tokens of each row
  std::vector<int32_t> ids;              // [rows, k], the likeliest first; -1: no more
  std::vector<float> log_probabilities;  // [rows, k]

  NextTokens(Tensor rows, size_t count);

  bool any(size_t row) const;                              // false: nothing has a probability
  float log_probability(size_t row, int32_t token) const;  // where there is any
};

// A record that joins a search.
struct SearchRequest {
  SearchConfig config = {};
  std::vector<int32_t> prefix = {};
  size_t line = 0;
  TokenSequences banned = {};
};

// The live hypotheses of one record: [begin, end).
struct LiveRange {
  size_t begin, end;
};

class Frontier {
 public:
  // Uses what the runtime has for all records; both must outlive it.
  Frontier(const Generator& model, const SearchRuntime& runtime);

  // Records join behind the others, each with one hypothesis; they are numbered in the order in
  // which they join. May be called at any time but between step() and advance().
  void admit(const Batch& inputs, std::vector<SearchRequest> requests);

  bool empty() const { return live_.empty(); }
  std::span<const Live> live() const { return live_; }  // those of one record side by side
  std::vector<LiveRange> by_record() const;
  const SpecialTokens& special() const { return runtime_.special; }

  // Of records with a live hypothesis.
  const SearchRequest& request(size_t record) const { return records_.at(record).request; }
  size_t limit(size_t record) const { return records_.at(record).limit; }  // longest hypothesis
  // What a prefix leaves no choice about.
  std::optional<int32_t> forced(const Live& live) const;
  // Whether the record has not branched yet.
  bool at_first_choice(const Live& live) const;

  // One step of the model: what may follow each live hypothesis, -inf for what must not, and the k
  // likeliest. Hypotheses that have just joined read their prefix, all at once.
  NextTokens step(size_t k);

  // Takes these tokens as the next live hypotheses; they are in the order of their records. Those
  // that end, or are as long as they may be, come back finished instead; a record without any is
  // retired.
  struct Finished {
    size_t record;
    Hypothesis hypothesis;
  };
  std::vector<Finished> advance(std::span<const Candidate> chosen);

  void retire(size_t record);  // forgets the hypotheses of a record

 private:
  struct Record {
    SearchRequest request;
    size_t limit;
    size_t at_once;  // tokens of the prefix that are read with the start
  };

  size_t limit_of(const SearchConfig& config, size_t read) const;
  size_t read_at_once(const SearchRequest& request, size_t limit) const;
  Tokens next_to_read() const;
  void take_prefixes(const Tensor& logits, const Tokens& read);
  void forbid(const Live& live, std::span<float> row) const;
  void keep_rows(std::span<const size_t> ranks);
  void finish(const Live& live, Hypothesis& hypothesis, bool ended) const;

  const Generator& model_;
  const SearchRuntime& runtime_;
  std::unique_ptr<Generator::State> state_;
  std::map<size_t, Record> records_;  // that have a live hypothesis
  size_t admitted_ = 0;
  std::vector<Live> live_;
  std::vector<size_t> parents_;  // hypotheses of the state that they continue
};

}  // namespace attend
