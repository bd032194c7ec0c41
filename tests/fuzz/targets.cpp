#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "attend/base/error.h"
#include "attend/base/utf8.h"
#include "attend/io/config.h"
#include "attend/train/run_config.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"

namespace attend::fuzz {
namespace {

constexpr size_t kLongestMessage = 4096;

const Target kTargets[] = {
    {"checkpoint", take_checkpoint, checkpoint_seeds},
    {"config", take_config, config_seeds},
    {"corpus", take_corpus, corpus_seeds},
    {"http", take_http, http_seeds},
    {"import", take_import, import_seeds, 8192},
    {"json", take_json, json_seeds, 1024},
    {"lines", take_lines, lines_seeds},
    {"links", take_links, links_seeds, 512},
    {"log", take_log, log_seeds},
    {"model", take_model, model_seeds, 8192},
    {"page", take_page, page_seeds, 2048},
    {"run_yaml", take_run_yaml, run_yaml_seeds},
    {"safetensors", take_safetensors, safetensors_seeds},
    {"sentencepiece", take_sentencepiece, sentencepiece_seeds, 16384},
    {"stored_map", take_stored_map, stored_map_seeds},
    {"tags", take_tags, tags_seeds, 512},
    {"vocabulary", take_vocabulary, vocabulary_seeds, 8192},
};

bool is_printable(std::string_view text) {
  return valid_utf8(text) && std::ranges::none_of(text, [](unsigned char c) {
           return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
         });
}

}  // namespace

std::span<const Target> targets() { return kTargets; }

const Target* find(std::string_view name) {
  const auto* const found = std::ranges::find(kTargets, name, &Target::name);
  return found == std::end(kTargets) ? nullptr : found;
}

void require(bool holds, std::string_view promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %.*s\n", static_cast<int>(promise.size()), promise.data());
  std::abort();
}

void run(const Target& target, std::string_view bytes) {
  try {
    target.take(bytes);
  } catch (const Error& error) {
    const std::string_view text = error.what();
    if (text.size() <= kLongestMessage && is_printable(text)) return;
    std::fprintf(stderr, "%zu bytes: %.200s\n", text.size(), error.what());
    require(false, "a message is short and can be printed");
  }
}

std::vector<std::string> words() {
  std::set<std::string> all = {"true",
                               "false",
                               "null",
                               "inf",
                               "nan",
                               "1e999",
                               "-1",
                               "9223372036854775807",
                               "18446744073709551615",
                               "2147483647",
                               "1073741823",
                               "F32",
                               "F16",
                               "BF16",
                               "I32",
                               "dtype",
                               "shape",
                               "data_offsets",
                               "__metadata__",
                               "source",
                               "target",
                               "texts",
                               "output",
                               "start",
                               "start_ids",
                               "most",
                               "temperature",
                               "seed",
                               "knocked_out",
                               "layer",
                               "head",
                               "reduction",
                               "attend tokenizer 1 ",
                               "lowercase",
                               "[UNK]",
                               "[CLS]",
                               "[SEP]",
                               "merges ",
                               "special ",
                               "<|endoftext|>",
                               "\\x20",
                               "files",
                               "crc32"};
  for (const Flag& flag : flags_of<RunConfig>()) {
    for (size_t begin = 0; begin <= flag.path.size();) {
      const size_t end = std::min(flag.path.find('.', begin), flag.path.size());
      all.insert(flag.path.substr(begin, end - begin));
      begin = end + 1;
    }
    all.insert(flag.choices.begin(), flag.choices.end());
  }
  return {all.begin(), all.end()};
}

}  // namespace attend::fuzz
