// Attention maps of a few sentences, stored during training. For sentence S,
// MODEL/looks/step-N.safetensors has the ids of each sequence, without start and end, "S.ids.NAME",
// and the weights of each layer, "S.decoder.0.cross" [heads, queries, keys].
//
// Files of earlier versions, which are still read, have "S.source" with its end and "S.target"
// without.
#pragma once

#include "attend/inspect/attention_maps.h"
#include "attend/io/model_directory.h"
#include "attend/io/safetensors.h"

namespace attend {

// Writes the file of a step, atomically.
void write_snapshot(const ModelDirectory& directory, int64_t step, const TextModel& model,
                    std::span<const Trace> sentences);

std::vector<int64_t> snapshot_steps(const ModelDirectory& directory);  // that have a file, in order

// The maps of one step.
class Snapshot {
 public:
  // Throws IoError if there is none for that step, FormatError if it is damaged.
  Snapshot(const ModelDirectory& directory, int64_t step);

  size_t sentences() const { return sentences_; }  // how many
  bool is_of_same(const Snapshot& other) const;    // whether sentences and outputs are the same
  // The trace of a sentence, with the model of the directory. Throws FormatError, which names the
  // file, if a sequence is missing or an id is not in the vocabulary.
  Trace trace(const TextModel& model, size_t sentence) const;
  // A map, [queries, keys]. Throws ConfigError if there is no such sentence, layer or head,
  // FormatError if the stored map does not fit the sentence.
  Tensor map(size_t sentence, std::string_view layer, HeadChoice head) const;

 private:
  struct Column {
    std::string name;
    std::vector<int32_t> ids;
    bool operator==(const Column&) const = default;
  };
  std::vector<Column> columns(size_t sentence) const;

  SafetensorsFile file_;
  bool is_old_;
  size_t sentences_ = 0;
};

}  // namespace attend
