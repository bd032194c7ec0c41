// config.json, alignment.json and the like: JSON becomes a config, and a config JSON. What begins
// with two dashes is read as flags of a run instead, one a line: --batch.tokens=8. What begins with
// {"format" describes an adapter.
#include "attend/io/config.h"

#include "attend/base/error.h"
#include "attend/models/adapter.h"
#include "attend/nn/init.h"
#include "attend/train/run_config.h"
#include "tests/fuzz/small_models.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"

namespace attend::fuzz {
namespace {

void take_flags(std::string_view bytes) {
  RunConfig config;
  while (bytes.starts_with("--")) {
    const std::string_view flag = bytes.substr(2, bytes.find('\n') - 2);
    bytes.remove_prefix(std::min(bytes.size(), flag.size() + 3));
    const size_t equals = std::min(flag.find('='), flag.size());
    set_flag(config, flag.substr(0, equals), flag.substr(std::min(equals + 1, flag.size())));
  }
  RunConfig again;
  read_json(again, to_json(config), "written");
  require(same_config(config, again), "what flags set reads back as the same");
}

void take_adapter(std::string_view bytes) {
  AdapterDescription adapter, again;
  read_json(adapter, bytes, "adapter.json");
  read_json(again, to_json(adapter), "written");
  require(same_config(adapter, again), "what is written reads back as the same");
  Rng rng(1);
  for (const TextModel& model : small_models()) {
    if (adapter.lora.rank > 8) break;
    const ShapesOnly no_memory;
    const auto shapes = make_model(model.config, rng);
    try {
      add_low_rank(*shapes, adapter.lora, rng);
      adapter_tensors(*shapes, adapter);
    } catch (const Error&) {
    }
  }
}

}  // namespace

void take_config(std::string_view bytes) {
  if (bytes.starts_with("--")) return take_flags(bytes);
  if (bytes.starts_with("{\"format\"")) return take_adapter(bytes);
  peek(bytes, "transformer.width", "config.json");
  ModelConfig config;
  read_json(config, bytes, "config.json");
  ModelConfig again;
  read_json(again, to_json(config), "written");
  differences(ModelConfig(), config);
  require(to_json(config) == to_json(again), "what is written reads back as the same");
}

std::vector<std::string> config_seeds() {
  std::vector<std::string> seeds = {
      "{}",
      R"({"kind": "rnn", "rnn": {"hidden": 4, "dropout": 1e-3}})",
      R"({"transformer": {"width": 1.5}, "transformer": {"widht": [1, {"a": null}]}})",
      R"({"kind": "label", "label": {"encoder": "rnn", "heads": 2}})",
      R"({"kind": "rnn", "transformer": {"width": 8}})",
      R"({"kind": "rnn", "transformer": {"width": 512}})",
      R"({"kind": "label", "kind": "rnn"})",
      R"({"kind": {"a": 1}, "transformer": []})",
      R"({"transformer": [1, "a", null, true, {}, [], 2, 3, 4, 5]})",
      R"({"transformer": {"dropout": "inf", "tied": 1}})",
      R"({"transformer": {"widths": 1}})",
      R"({"width": 1})",
      R"({"zzzzzzzzzzzz": 1})",
      "[1",
      " ",
      "",
      "{\"kind\": x}",
      "--model.transformer.width=8\n--data.text=a,b\n--batch.tokens=20\n--data.context=none\n",
      "--model.rnn.hidden=4\n",
      "--model.transformer.width=wide",
      "--model.transfomer.width=8",
      R"({"format": 1, "base": "b", "lora": {"rank": 2, "targets": ["*.query"]}})",
      R"({"format": 1, "fingerprint": "0", "lora": {"rank": 2, "targets": ["*"]}, "trained": ["x"]})",
      "{\"preset\": \"\\u00e4\\ud83d\\ude00\", \"kind\": null, \"label\": {\"heads\": -1}}",
  };
  for (const TextModel& model : small_models()) seeds.push_back(to_json(model.config));
  return seeds;
}

}  // namespace attend::fuzz
