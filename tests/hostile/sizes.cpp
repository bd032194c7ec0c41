// Configs that ask for sizes beyond any machine, or beyond what their own weights have.
#include <fmt/format.h>

#include "attend/io/config.h"
#include "attend/models/text_model.h"
#include "tests/decode/text_model.h"
#include "tests/hostile/case.h"

namespace attend::hostile {
namespace {

void load(const Path& directory) { TextModel::load(directory); }

// Refused by the config alone; by what the config and the weights or the tokenizer say together.
const Reader kInfo{
    .file = "config.json", .in_model = true, .open = load, .arguments = {"info", "@"}};
const Reader kWithWeights{.file = "config.json",
                          .in_model = true,
                          .open = load,
                          .arguments = {"translate", "@", "--input", "@/empty.txt"},
                          .named = "model.safetensors"};

const Reader kWithTokenizer{.file = "config.json",
                            .in_model = true,
                            .open = load,
                            .arguments = {"translate", "@", "--input", "@/empty.txt"}};

// The config of the model that lies beside it, with one setting of its transformer changed.
std::string config_with(const std::string& key, const std::string& value) {
  const TextModel model = small_text_model(TokenizerKind::kCharacter, {"abcdefgh ij"});
  std::string text = to_json(model.config);
  const std::string start = "\"" + key + "\": ";
  const size_t begin = text.find(start, text.find("\"transformer\": {")) + start.size();
  return text.replace(begin, text.find_first_of(",\n", begin) - begin, value);
}

Case size_case(const std::string& key, const std::string& value) {
  return {fmt::format("size-{}-{}", key, value), &kInfo, [=] { return config_with(key, value); },
          fmt::format("'transformer.{}' should be a whole number from", key)};
}

Case weights_case(const std::string& key, const std::string& value) {
  return {fmt::format("size-{}-{}", key, value), &kWithWeights,
          [=] { return config_with(key, value); }, "does not fit the model"};
}

}  // namespace

std::vector<Case> size_cases() {
  return {
      size_case("window", "1073741823"),
      size_case("window", "2147483647"),
      size_case("width", "4611686018427387904"),
      size_case("width", "0"),
      size_case("width", "18446744073709551616"),
      size_case("width", "-1"),
      size_case("heads", "1000000000"),
      size_case("feed_forward", "4611686018427387904"),
      size_case("encoder_layers", "1000000000"),
      size_case("decoder_layers", "1000000000"),
      size_case("max_length", "4611686018427387904"),
      size_case("max_length", "10000000"),
      size_case("source_vocabulary", "1000000000000"),
      weights_case("width", "16384"),
      weights_case("feed_forward", "262144"),
      weights_case("encoder_layers", "512"),
      {"size-source_vocabulary-16000000", &kWithTokenizer,
       [] { return config_with("source_vocabulary", "16000000"); }, "the tokenizer has 14;"},
  };
}

}  // namespace attend::hostile
