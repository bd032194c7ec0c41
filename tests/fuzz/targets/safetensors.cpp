// Weights of a stranger: the header, then every tensor of it.
#include "attend/io/safetensors.h"

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

}  // namespace

void take_safetensors(std::string_view bytes) {
  static const Scratch scratch;
  const SafetensorsFile file(scratch.write("model.safetensors", bytes));
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
  std::string types(8, '\0');
  types[0] = static_cast<char>(half.size());
  types[1] = static_cast<char>(half.size() >> 8);
  return {written(two), written(mixed, {{"made by", "hand"}}), types + half + "123456789"};
}

}  // namespace attend::fuzz
