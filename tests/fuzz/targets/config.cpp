// config.json, alignment.json and the like: JSON becomes a config, and a config JSON.
#include "attend/io/config.h"

#include "tests/fuzz/small_models.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"

namespace attend::fuzz {

void take_config(std::string_view bytes) {
  peek(bytes, "transformer.width", "config.json");
  ModelConfig config;
  read_json(config, bytes, "config.json");
  ModelConfig again;
  read_json(again, to_json(config), "written");
  require(to_json(config) == to_json(again), "what is written reads back as the same");
}

std::vector<std::string> config_seeds() {
  std::vector<std::string> seeds = {
      "{}",
      R"({"kind": "rnn", "rnn": {"hidden": 4, "dropout": 1e-3}})",
      R"({"transformer": {"width": 1.5}, "transformer": {"widht": [1, {"a": null}]}})",
      "{\"preset\": \"\\u00e4\\ud83d\\ude00\", \"kind\": null, \"label\": {\"heads\": -1}}",
  };
  for (const TextModel& model : small_models()) seeds.push_back(to_json(model.config));
  return seeds;
}

}  // namespace attend::fuzz
