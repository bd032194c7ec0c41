// A whole model directory, from config.json to what it writes: one file of a good one is replaced.
//
//   byte 0   which of the small models
//   byte 1   which of its files
//   rest     the file; of model.safetensors the header alone, before the data that belongs there;
//            where nothing is left, there is no such file
#include "attend/models/text_model.h"

#include <cstring>

#include "attend/decode/text_generator.h"
#include "attend/decode/translator.h"
#include "attend/io/config.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/small_models.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"

namespace attend::fuzz {
namespace {

// A good model lacks the last ones.
constexpr std::string_view kFiles[] = {"config.json",          "model.safetensors",
                                       "tokenizer.model",      "alignment.json",
                                       "tokenizer.text.model", "tokenizer.target.model"};
constexpr size_t kGoodFiles = 4;

struct Good {
  Scratch scratch;
  std::string files[std::size(kFiles)];
  std::string data;  // of the weights, after their header

  explicit Good(const TextModel& model) {
    save(model, {scratch.path()});
    scratch.write("alignment.json", R"({"layer": "decoder.0.cross", "head": null})");
    for (size_t i = 0; i < kGoodFiles; ++i) files[i] = contents(scratch.path() / kFiles[i]);
    uint64_t header = 0;
    std::memcpy(&header, files[1].data(), sizeof header);
    data = files[1].substr(sizeof header + header);
    files[1] = files[1].substr(sizeof header, header);
  }

  void replace(size_t file, std::string_view bytes) const {
    if (bytes.empty()) {
      std::filesystem::remove(scratch.path() / kFiles[file]);
      return;
    }
    if (file != 1) {
      scratch.write(kFiles[file], bytes);
      return;
    }
    const uint64_t size = bytes.size();
    std::string whole(reinterpret_cast<const char*>(&size), sizeof size);
    whole += bytes;
    scratch.write(kFiles[file], whole + data);
  }
};

const std::vector<std::unique_ptr<Good>>& all_good() {
  static const auto made = [] {
    std::vector<std::unique_ptr<Good>> good;
    for (const TextModel& model : small_models()) good.push_back(std::make_unique<Good>(model));
    return good;
  }();
  return made;
}

void use_model(const std::filesystem::path& root) {
  const TextModel model = TextModel::load(root);
  const Trace trace = given_trace(model, "ab", "c");
  for (const AttentionLayer& layer : model.model->signature().layers) {
    const Tensor map = attention_map(model, trace, layer.name);
    require(map.rows() <= 8 && map.width() <= 8, "a map is as large as what was read");
  }
  const std::string lines[] = {"ab"};
  if (model.model->classifier() != nullptr) {
    const std::vector<int32_t> ids[] = {model.tokenizer("text").encode(lines[0])};
    const Tensor logits = model.classifier().label_logits(model.inputs(ids));
    require(logits.width() == model.classifier().labels(), "each label has a logit");
    model.label(0);
    return;
  }
  if (model.model->signature().columns.size() == 1) {  // it reads what it writes
    const TextGenerator generator(model, {.max_tokens = 4});
    require(generator(lines).size() == 1, "a prompt has a text");
    return;
  }
  const Translator translator({model}, {.search = {.beam = 2, .max_length = 4}});
  require(translator(lines).size() == 1, "a line has a translation");
}

}  // namespace

void take_model(std::string_view bytes) {
  if (bytes.size() < 2) return;
  const Good& good = *all_good()[static_cast<unsigned char>(bytes[0]) % all_good().size()];
  const size_t file = static_cast<unsigned char>(bytes[1]) % std::size(kFiles);
  good.replace(file, bytes.substr(2));
  const auto put_back = [&] { good.replace(file, good.files[file]); };
  try {
    use_model(good.scratch.path());
  } catch (...) {
    put_back();
    throw;
  }
  put_back();
}

std::vector<std::string> model_seeds() {
  std::vector<std::string> seeds;
  for (size_t i = 0; i < all_good().size(); ++i) {
    for (size_t file = 0; file < std::size(kFiles); ++file) {
      seeds.push_back(std::string{static_cast<char>(i), static_cast<char>(file)} +
                      all_good()[i]->files[file]);
    }
  }
  for (size_t file = 0; file < kGoodFiles; ++file) {
    seeds.push_back({'\0', static_cast<char>(file)});
  }
  for (const char file : {'\4', '\5'}) {
    seeds.push_back(std::string{'\5', file} + all_good()[5]->files[2]);
    seeds.push_back(std::string{'\0', file} + all_good()[0]->files[2]);
  }
  // Another tokenizer's vocabulary.
  ModelConfig other = small_transformer_model().config;
  other.set_vocabularies({{"source", 99}, {"target", 99}});
  seeds.push_back(std::string{'\0', '\0'} + to_json(other));
  // A label model as it was written once.
  seeds.push_back(std::string{'\5', '\0'} +
                  R"({"preset": "", "kind": "label", "label": {"encoder": "transformer",)"
                  R"( "heads": 2, "target_vocabulary": 14}, "transformer": {"width": 16,)"
                  R"( "heads": 2, "encoder_layers": 2, "source_vocabulary": 14}})");
  return seeds;
}

}  // namespace attend::fuzz
