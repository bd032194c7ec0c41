// Weights of a stranger: the header, then every tensor of it.
#include "attend/io/safetensors.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"

namespace attend::fuzz {
namespace {

constexpr size_t kMostValues = 1 << 16;  // read of one tensor: the file itself is small

std::string written(std::span<const NamedTensor> tensors, const Metadata& metadata = {}) {
  const Scratch scratch;
  write_safetensors(scratch.path() / "seed", tensors, metadata);
  return contents(scratch.path() / "seed");
}

// What another reader of JSON finds in a header that was accepted.
void check_header(const SafetensorsFile& file, std::string_view text) {
  const auto header = nlohmann::json::parse(text, nullptr, false);
  require(header.is_object(), "a header is a JSON object");
  const size_t others = header.contains("__metadata__") ? 1 : 0;
  require(file.entries().size() + others == header.size(), "all that is in the header is listed");
  for (const SafetensorsFile::Entry& entry : file.entries()) {
    require(header.contains(entry.name), "a name is as in the header");
    const auto& tensor = header[entry.name];
    require(tensor["dtype"] == entry.dtype, "a type is as in the header");
    require(tensor["data_offsets"][0] == entry.begin, "a place is as in the header");
    require(tensor["shape"].size() == entry.shape.rank(), "a shape is as in the header");
    for (size_t i = 0; i < entry.shape.rank(); ++i) {
      require(tensor["shape"][i] == entry.shape[static_cast<int>(i)], "an extent is, too");
    }
  }
  for (const auto& [key, text_of_it] : file.metadata()) {
    require(header["__metadata__"].value(key, "") == text_of_it, "so is the metadata");
  }
}

}  // namespace

void take_safetensors(std::string_view bytes) {
  static const Scratch scratch;
  const SafetensorsFile file(scratch.write("model.safetensors", bytes));
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  check_header(file, bytes.substr(sizeof length, length));
  for (const SafetensorsFile::Entry& entry : file.entries()) {
    require(entry.begin + entry.bytes <= bytes.size(), "a tensor lies within its file");
    require(file.find(entry.name) != nullptr, "what is listed is found");
    require(entry.shape.size() <= kMostValues, "a tensor is no larger than its file");
    file.read(entry);
  }
  const NamedTensor expected[] = {{"a", Tensor::zeros({2, 3})}, {"b", Tensor::zeros({4})}};
  load_weights(file, expected);
}

std::vector<std::string> safetensors_seeds() {
  const NamedTensor two[] = {{"a", Tensor::of({1, 2, 3, 4, 5, 6}, {2, 3})},
                             {"b", Tensor::of({1, 2, 3, 4}, {4})}};
  const int32_t ids[] = {1, 2, 3};
  const NamedTensor mixed[] = {{"ids", Tensor::ids(ids, {3})}, {"none", Tensor::zeros({0, 5})}};
  const std::string half = R"({"h":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},)"
                           R"("g":{"dtype":"BF16","shape":[1,2,1,1,1],"data_offsets":[4,8]},)"
                           R"("u":{"dtype":"U8","shape":[],"data_offsets":[8,9]}})";
  const auto whole = [](const std::string& header, const std::string& data = "") {
    const uint64_t length = header.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
  };
  const auto tensor = [&](const std::string& inner) {
    return whole("{\"x\":{" + inner + "}}", "12345678");
  };
  return {
      written(two),
      written(mixed, {{"made by", "hand"}}),
      whole(half, "123456789"),
      whole(R"( { "\u00e4\ud83d\ude00\n\"" : {"shape":[], "data_offsets":[0, 1],"dtype":"U8"} } )",
            "1"),
      whole("{\"ä猫\":{\"dtype\":\"I8\",\"shape\":[0],\"data_offsets\":[0,0]},"
            "\"__metadata__\":{\"ä\":\"\\t\"}}"),
      whole(R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},)"
            R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
            "12"),
      tensor(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"),
      tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"),
      tensor(R"("dtype":"F32","shape":[4611686018427387904,2],"data_offsets":[0,0])"),
      tensor(R"("dtype":"F32","shape":[1,1,1,1,1,1],"data_offsets":[0,4])"),
      tensor(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"),
      tensor(R"("dtype":"F32","shape":[2.0e-1],"data_offsets":[0,8])"),
      tensor(R"("dtype":"F33","shape":true)"),
      tensor(R"("dtype":null)"),
      tensor(R"("shape":[18446744073709551616])"),
      tensor(R"("shape":["\ud800"])"),
      tensor("\"dtype\":\"\xFF\""),
      whole("[]"),
      whole("3"),
      whole(R"({"__metadata__":{"k":1}})"),
      whole(R"({"__metadata__":{"k":"1","k":"1"}})"),
      whole("{}", "data"),
      whole("{\"" + std::string(513, 'n') + "\":0}")};
}

}  // namespace attend::fuzz
