// Maps of a few sentences, kept as a model learns: MODEL/looks/step-N.safetensors has for sentence
// S the ids of each sequence, without start and end, "S.ids.NAME", and the weights of each layer,
// "S.decoder.0.cross" [heads, queries, keys].
//
// Files of earlier versions are read as well: they have "S.source" with its end, and "S.target"
// without.
#pragma once

#include "attend/inspect/attention_maps.h"
#include "attend/io/model_directory.h"
#include "attend/io/safetensors.h"

namespace attend {

// Replaces the file of that step, whole.
void write_snapshot(const ModelDirectory& directory, int64_t step, const TextModel& model,
                    std::span<const Trace> sentences);

std::vector<int64_t> snapshot_steps(const ModelDirectory& directory);  // that are there, in order

class Snapshot {
 public:
  // Throws IoError where there is none of that step, FormatError where it is damaged.
  Snapshot(const ModelDirectory& directory, int64_t step);

  size_t sentences() const { return sentences_; }
  bool is_of_same(const Snapshot& other) const;  // sentences and what was to be written
  // What the model of the directory read and was to write. Throws FormatError, which names the
  // file, where it lacks a sequence of the model or ids are not of its vocabularies.
  Trace trace(const TextModel& model, size_t sentence) const;
  // ConfigError where it has no such sentence, layer or head; FormatError where what is there is no
  // map of that sentence.
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
