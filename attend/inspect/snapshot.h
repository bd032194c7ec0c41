// Maps of a few sentences, kept as a model learns: MODEL/looks/step-N.safetensors has for sentence
// S its ids, "S.source" (with its end) and "S.target", and the weights of each layer,
// "S.decoder.0.cross" [heads, queries, keys].
#pragma once

#include "attend/inspect/reading.h"
#include "attend/io/safetensors.h"

namespace attend {

// Replaces the file of that step, whole.
void write_snapshot(const ModelDirectory& directory, int64_t step, const TextModel& model,
                    std::span<const Reading> sentences);

std::vector<int64_t> snapshot_steps(const ModelDirectory& directory);  // that are there, in order

class Snapshot {
 public:
  // Throws IoError where there is none of that step, FormatError where it is damaged.
  Snapshot(const ModelDirectory& directory, int64_t step);

  size_t sentences() const { return sentences_; }
  bool is_of_same(const Snapshot& other) const;  // sentences and what was to be written
  Reading reading(size_t sentence) const;
  // FormatError, which names the file, where ids are not of the model's vocabularies.
  void check_ids(const TextModel& model) const;
  // ConfigError where it has no such sentence, layer or head; FormatError where what is there is no
  // map of that sentence.
  Tensor map(size_t sentence, std::string_view layer, HeadChoice head) const;

 private:
  SafetensorsFile file_;
  size_t sentences_ = 0;
};

}  // namespace attend
