// attend.yaml and what a user hands to `attend train`.
#include "attend/base/error.h"
#include "attend/io/config.h"
#include "attend/train/run_config.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"

namespace attend::fuzz {

void take_run_yaml(std::string_view bytes) {
  peek(bytes, "model.kind", "run.yaml");
  static const Scratch scratch;
  RunConfig config;
  read_run_config(config, scratch.write("run.yaml", bytes));
  RunConfig again;
  try {
    read_yaml(again, to_yaml(config, true), "written");
  } catch (const Error& error) {
    require(false, fmt::format("what is written can be read, not: {}", error.what()));
  }
  require(same_config(config, again), "what is written reads back as the same");
  RunConfig other;
  read_json(other, to_json(config), "written");
  require(same_config(config, other), "so does what is written as JSON");
  config.check();
}

std::vector<std::string> run_yaml_seeds() {
  RunConfig config;
  config.out = "a model";
  config.data.source = "train.de";
  config.schedule.warmup = 7;
  return {
      to_yaml(config, true),
      "model: {kind: rnn, rnn: {hidden: 12}}\ntraining:\n  steps: 10\n",
      "a: &x [1, 2]\nb: *x\nc: {<<: *x}\n",
      "memory: 4GB\nbatch:\n  tokens: 1e3 # none\n---\nmodel: {}\n",
      "out: \"quoted \\u00e4\\n\"\nsearch: {beam: ~, length_penalty: .inf}\n",
      "out: |\n  text\n  more\ndata: >-\n  folded\n? key\n: value\n",
      "!!map {out: !!str 1, memory: !binary aGk=}\n",
      "looks: {every: 3}\nbatch: {pairs: 2}\ntraining: {accumulation: 4}\n",
      "model: {kind: label, label: {encoder: rnn, target_vocabulary: 5}, rnn: {hidden: 8}}\n",
      "model: {preset: bahdanau, label: {encoder: rnn}, rnn: {hidden: 8}, conv: {width: 9}}\n",
      "model: {label: {encoder: \"rnn\", pooling: mean}, transformer: {}}\n"
      "data: {text: [a, 'b'], source: ~}\n",
      "training: {accumulation: 3}\n",
      "training: {accumulation: 4, shards: 2}\n",
      "a: &x {b: *x}\n",
      "? [1]\n: 2\n",
      "a: \"\\_\"\n",
      "a: 'not closed\n",
      "out: {a: 1}\nsearch: 3\n",
      "out: [1, 2]\n",
      "search:\n",
      std::string("out: a\0b\n", 9),
      "out: \xFF\n",
  };
}

}  // namespace attend::fuzz
