// The hypotheses that a search is writing, and what they may write next. Not for use outside
// decode/.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "attend/decode/penalties.h"
#include "attend/decode/search.h"

namespace attend {

// What a model expects after some rows, under penalties, and the likeliest tokens of each. Tokens
// that must not follow are never among them, but keep their share of the probability.
struct NextTokens {
  // What the model itself expects after a row that penalties have changed.
  struct Unpenalised {
    float log_sum = 0;                  // of the powers of its logits
    std::vector<ChangedLogit> changed;  // in the order of tokens; nothing: no penalty
  };

  Tensor logits;                         // [rows, vocabulary]
  size_t k;                              // likeliest tokens of each row
  std::vector<int32_t> ids;              // [rows, k], the likeliest first; -1: no more
  std::vector<float> log_probabilities;  // [rows, k]
  std::vector<Unpenalised> unpenalised;  // [rows], or nothing where no row has penalties

  // left_out[i]: the log-sum of the powers of logits of row i that were set to -inf, -inf where
  // none was; empty: none in any row.
  NextTokens(Tensor rows, size_t count, std::span<const double> left_out = {});

  bool any(size_t row) const;  // false: nothing has a probability
  bool is_penalised(size_t row) const;
  // Where there is any: with penalties, and without.
  float log_probability(size_t row, int32_t token) const;
  float model_log_probability(size_t row, int32_t token) const;
  float log_sum(size_t row) const;
};

// A record that joins a search.
struct SearchRequest {
  SearchConfig config = {};
  std::vector<int32_t> prefix = {};
  size_t line = 0;
  TokenSequences banned = {};
  size_t slot = 0;  // of its first hypothesis: Live::slot
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
    Candidate by;   // its last
    size_t rolled;  // Live::rolled
  };
  std::vector<Finished> advance(std::span<const Candidate> chosen);

  void retire(size_t record);  // forgets the hypotheses of a record

  // What a hypothesis of a record scores that has this total and this many tokens, its end counted.
  double score(size_t record, double total, size_t length) const;

 private:
  struct Record {
    SearchRequest request;
    size_t limit;
    size_t at_once;   // tokens of the prefix that are read with the start
    size_t unscored;  // tokens of the prefix that a score does not count
  };

  size_t limit_of(const SearchConfig& config, size_t read) const;
  size_t read_at_once(const SearchRequest& request, size_t limit) const;
  void roll();
  Tokens next_to_read() const;
  std::vector<int32_t> first_tokens(const Live& live) const;
  Tensor read_tokens();
  bool scores_a_prefix() const;
  void take_prefixes(const Tensor& all_logits, const Packing& read);
  std::vector<NextTokens::Unpenalised> penalise(const Tensor& logits);
  double forbid(const Live& live, std::span<float> row) const;
  void keep_rows(std::span<const size_t> ranks);

  const Generator& model_;
  const SearchRuntime& runtime_;
  std::unique_ptr<Generator::State> state_;
  std::map<size_t, Record> records_;  // that have a live hypothesis
  size_t admitted_ = 0;
  std::optional<Penaliser> penaliser_;
  std::vector<Live> live_;
  std::vector<size_t> parents_;  // hypotheses of the state that they continue
};

}  // namespace attend
