// Configs of models and of runs, the state and the manifest of a checkpoint, the best alignment.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "attend/io/checkpoint.h"
#include "attend/io/config.h"
#include "attend/models/adapter.h"
#include "attend/models/text_model.h"
#include "attend/train/run_config.h"
#include "attend/train/trainer.h"
#include "tests/hostile/case.h"

namespace attend::hostile {
namespace {

const Reader kConfig{.file = "config.json",
                     .in_model = true,
                     .open = [](const Path& directory) { TextModel::load(directory); },
                     .arguments = {"info", "@"}};
const Reader kAlignment{.file = "alignment.json",
                        .in_model = true,
                        .open = [](const Path& directory) { TextModel::load(directory); },
                        .arguments = {"translate", "@", "--input", "@/empty.txt"}};
const Reader kAdapter{.file = "adapter.json",
                      .open = [](const Path& directory) { load_adapter_description({directory}); }};
const Reader kRun{.file = "run.yaml",
                  .open =
                      [](const Path& directory) {
                        RunConfig config;
                        read_config(config, directory / "run.yaml");
                      },
                  .arguments = {"train", "@/run.yaml", "--dry-run"}};
const Reader kState{.file = "state.json", .open = [](const Path& directory) {
                      TrainingState state;
                      read_config(state, directory / "state.json");
                    }};
const Reader kManifest{.file = "step-1/manifest.json",
                       .open = [](const Path& directory) { latest_checkpoint(directory); },
                       .named = "step-1"};

std::string repeat(std::string_view text, size_t times) { return repeated(text, times); }

// A list of `width` aliases of the level before, `levels` times; the first is `first`.
std::string alias_bomb(const std::string& first, size_t width, size_t levels) {
  std::string text = fmt::format("a0: &a0 {}\n", first);
  for (size_t i = 1; i <= levels; ++i) {
    text += fmt::format("a{0}: &a{0} [{1}*a{2}]\n", i,
                        repeat(fmt::format("*a{}, ", i - 1), width - 1), i - 1);
  }
  return text;
}

std::vector<Case> config_cases() {
  return {
      {"config-empty", &kConfig, [] { return ""; }, "not JSON: it is empty"},
      {"config-cut-off", &kConfig, [] { return "{\"kind\": \"transf"; }, "not JSON: it is cut off"},
      {"config-2-mb", &kConfig, [] { return "{\"kind\": \"" + std::string(2 << 20, 'a') + "\"}"; },
       "2097164 bytes are too many; at most 1048576"},
      {"config-deep-lists", &kConfig, [] { return std::string(500'000, '['); },
       "JSON nested too deeply; at most 64 levels"},
      {"config-deep-objects", &kConfig, [] { return repeat("{\"a\":", 100'000); },
       "JSON nested too deeply; at most 64 levels"},
      {"config-many-values", &kConfig, [] { return "[" + repeat("[],", 300'000) + "[]]"; },
       "too many values; at most 8192"},
      {"config-many-keys", &kConfig, [] { return "{" + repeat("\"a\":1,", 150'000) + "\"b\":1}"; },
       "too many values; at most 8192"},
      {"config-long-key", &kConfig, [] { return "{\"" + std::string(1'000'000, 'k') + "\":1}"; },
       "unknown key '" + std::string(60, 'k') + "...'"},
      {"config-long-value", &kConfig,
       [] { return "{\"kind\":\"" + std::string(1'000'000, 'v') + "\"}"; },
       fmt::format("'kind' should be one of {}, not '{}...'", fmt::join(model_kind_names(), ", "),
                   std::string(60, 'v'))},
      {"config-escape-in-key", &kConfig, [] { return R"({"\u001b]0;gotcha\u0007":1})"; },
       R"(unknown key '\x1b]0;gotcha\x07')"},
      {"config-direction-in-key", &kConfig, [] { return R"({"\u202ekind":1})"; },
       R"(unknown key '\u202ekind')"},
      {"config-escape-in-value", &kConfig, [] { return R"({"kind":"\u001b[2J"})"; },
       R"(not '\x1b[2J')"},
      {"config-escape-where-it-breaks", &kConfig, [] { return "{\"kind\": \x1b[31m}"; },
       R"(not JSON at line 1, near ')"},
      {"config-twice", &kConfig, [] { return R"({"kind":"rnn","kind":"rnn"})"; },
       "'kind' is set twice"},
      {"config-number-past-doubles", &kConfig,
       [] { return R"({"transformer":{"dropout":1e999}})"; }, "not JSON at line 1"},
      {"config-not-utf-8", &kConfig, [] { return "{\"kind\":\"\xff\xfe\"}"; },
       "not JSON at line 1"},
      {"config-a-list", &kConfig, [] { return "[1, 2]"; },
       "expected settings by name, not ['1', '2']"},
      {"config-zeros", &kConfig, [] { return std::string(1 << 19, '\0'); }, "not JSON at line 1"},
      {"config-10-gb", &kConfig, [] { return ""; },
       "10000000000 bytes are too many; at most 1048576", 10'000'000'000},
      {"alignment-long-layer", &kAlignment, [] { return "{\"layer\":" + repeat("[", 100) + "}"; },
       "JSON nested too deeply"},
      {"alignment-unknown-key", &kAlignment, [] { return "{\"\\u009bA\":1}"; },
       R"(unknown key '\u009bA')"},
      {"alignment-huge-head", &kAlignment, [] { return "{\"head\":1e300}"; }, "'head' should be"},
  };
}

std::vector<Case> run_cases() {
  return {
      {"yaml-alias-bomb-of-text", &kRun, [] { return alias_bomb(std::string(5000, 'x'), 25, 1); },
       "its aliases stand for too much text; at most 65536 bytes"},
      {"yaml-alias-bomb-of-lists", &kRun, [] { return alias_bomb("[x, x, x, x]", 10, 20); },
       "too many values; at most 8192"},
      {"yaml-alias-bomb-260-kb", &kRun,
       [] { return alias_bomb(std::string(130'000, 'x'), 30'000, 1); },
       "bytes are too many; at most 65536"},
      {"yaml-alias-of-itself", &kRun, [] { return "a: &a [*a]\n"; },
       "run.yaml:1: an alias stands for what it is part of"},
      {"yaml-alias-of-nothing", &kRun, [] { return "a: *b\n"; }, "run.yaml:1: not YAML"},
      {"yaml-alias-grows-deep", &kRun, [] { return alias_bomb("[x]", 1, 80); },
       "YAML nested too deeply; at most 64 levels"},
      {"yaml-anchors-within-anchors", &kRun,
       [] {
         std::string text;
         for (int i = 0; i < 60; ++i) text += fmt::format("&a{} [", i);
         return "a: " + text + repeat("x, ", 1000) + "x" + std::string(60, ']') + "\n";
       },
       "too many values; at most 8192"},
      {"yaml-deep-lists", &kRun, [] { return std::string(60'000, '['); }, "too many values"},
      {"yaml-deep-maps", &kRun, [] { return std::string(60'000, '{'); }, "too many values"},
      {"yaml-deep-within-lines", &kRun, [] { return std::string(8000, '['); }, "YAML"},
      {"yaml-deep-dashes", &kRun, [] { return repeat("- ", 30'000); }, "YAML nested too deeply"},
      {"yaml-deep-question-marks", &kRun, [] { return repeat("? ", 30'000); },
       "YAML nested too deeply"},
      {"yaml-deep-by-indent", &kRun,
       [] {
         std::string text;
         for (size_t i = 0; i < 300; ++i) text += std::string(i, ' ') + "a:\n";
         return text;
       },
       "YAML nested too deeply"},
      {"yaml-long-list", &kRun, [] { return "data: [" + repeat("a,", 30'000) + "a]\n"; },
       "too many values; at most 8192"},
      {"yaml-many-keys", &kRun,
       [] {
         std::string text;
         for (int i = 0; i < 6000; ++i) text += fmt::format("k{}: 1\n", i);
         return text;
       },
       "too many values; at most 8192"},
      {"yaml-long-key", &kRun, [] { return std::string(1000, 'k') + ": 1\n"; },
       "run.yaml:1: unknown key '" + std::string(60, 'k') + "...'"},
      {"yaml-list-as-key", &kRun, [] { return "? [a, b]\n: 1\n"; },
       "run.yaml:1: a key must be a plain word"},
      {"yaml-escape-in-key", &kRun, [] { return "\"\\e[2J\": 1\n"; }, R"(unknown key '\x1b[2J')"},
      {"yaml-5-mb", &kRun, [] { return repeat("# padding\n", 500'000); },
       "5000000 bytes are too many; at most 65536"},
      {"yaml-10-gb", &kRun, [] { return ""; }, "10000000000 bytes are too many; at most 65536",
       10'000'000'000},
      {"yaml-tags", &kRun, [] { return repeat("!a ", 20'000); }, "run.yaml:1: not YAML"},
      {"yaml-escape-in-anchor", &kRun, [] { return "a: *\x1b[31m\n"; }, "run.yaml:1: not YAML"},
  };
}

std::vector<Case> checkpoint_cases() {
  return {
      {"state-deep", &kState, [] { return repeat("[", 10'000); }, "JSON nested too deeply"},
      {"state-negative-step", &kState, [] { return R"({"step":-1e400})"; }, "not JSON"},
      {"state-step-of-text", &kState, [] { return R"({"step":"7"})"; }, "'step' should be"},
      {"manifest-deep", &kManifest, [] { return repeat("{\"files\":", 5000); },
       "step-1 is damaged (manifest.json is damaged)"},
      {"manifest-many-values", &kManifest,
       [] { return "{\"files\":[" + repeat("[],", 300'000) + "[]]}"; },
       "step-1 is damaged (manifest.json is damaged)"},
      {"manifest-leads-outside", &kManifest,
       [] { return R"({"files":{"../../etc/passwd":{"bytes":1,"crc32":"0"}}})"; },
       "'../../etc/passwd' is not a file name"},
      {"manifest-escape-in-name", &kManifest,
       [] { return R"({"files":{"\u001b[2J":{"bytes":1,"crc32":"0"}}})"; },
       R"(\x1b[2J is missing)"},
      {"manifest-negative-size", &kManifest,
       [] { return R"({"files":{"manifest.json":{"bytes":"x","crc32":"0"}}})"; },
       "step-1 is damaged (manifest.json is damaged)"},
      {"manifest-of-nothing", &kManifest, [] { return "7"; },
       "step-1 is damaged (manifest.json is damaged)"},
  };
}

}  // namespace

std::vector<Case> adapter_cases() {
  return {
      {"adapter-empty", &kAdapter, [] { return ""; }, "not JSON: it is empty"},
      {"adapter-deep-lists", &kAdapter, [] { return std::string(500'000, '['); },
       "JSON nested too deeply; at most 64 levels"},
      {"adapter-later-format", &kAdapter, [] { return R"({"format":2})"; }, "a later version"},
      {"adapter-huge-rank", &kAdapter, [] { return R"({"lora":{"rank":1e300}})"; },
       "'lora.rank' should be"},
      {"adapter-rank-past-any-width", &kAdapter, [] { return R"({"lora":{"rank":99999999}})"; },
       "'lora.rank' should be"},
      {"adapter-many-names", &kAdapter,
       [] { return "{\"trained\":[" + repeat("\"a\",", 100'000) + "\"a\"]}"; },
       "too many values; at most 8192"},
      {"adapter-unknown-key", &kAdapter, [] { return "{\"\\u009bA\":1}"; }, "unknown key"},
  };
}

std::vector<Case> document_cases() {
  std::vector<Case> all = config_cases();
  for (const auto& table : {run_cases(), checkpoint_cases(), adapter_cases()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

}  // namespace attend::hostile
