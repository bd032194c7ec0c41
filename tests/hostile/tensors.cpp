// Safetensors: weights, the tensors of a checkpoint, maps that were stored during training.
#include <fmt/format.h>

#include <cstdint>

#include "attend/inspect/snapshot.h"
#include "attend/io/safetensors.h"
#include "attend/models/text_model.h"
#include "tests/hostile/case.h"

namespace attend::hostile {
namespace {

const Reader kWeights{.file = "model.safetensors",
                      .in_model = true,
                      .open = [](const Path& directory) { TextModel::load(directory); },
                      .arguments = {"translate", "@", "--input", "@/empty.txt"}};
const Reader kTraining{.file = "training.safetensors", .open = [](const Path& directory) {
                         const SafetensorsFile file(directory / "training.safetensors");
                         for (const auto& entry : file.entries()) file.read(entry);
                       }};
const Reader kMap{
    .file = "looks/step-1.safetensors", .in_model = true, .open = [](const Path& directory) {
      const TextModel model = TextModel::load(directory);
      const Snapshot snapshot({directory}, 1);
      snapshot.trace(model, 0);
      snapshot.map(0, "decoder.0.cross", {});
    }};

std::string file_of(const std::string& header, const std::string& data = "") {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
}

std::string announcing(uint64_t length, const std::string& rest = "") {
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + rest;
}

std::string entry(const std::string& name, const std::string& shape, uint64_t begin, uint64_t end,
                  const std::string& dtype = "F32") {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", name, dtype,
                     shape, begin, end);
}

std::string many_entries(size_t count) {
  std::string header = "{";
  for (size_t i = 0; i < count; ++i)
    header += (i == 0 ? "" : ",") + entry(fmt::format("t{}", i), "0", 0, 0);
  return header + "}";
}

std::string quoted(std::string_view name, size_t times) { return repeated(name, times); }

// A stored map beside the ids of a sentence.
std::string map_file(const std::string& ids, const std::string& map, const std::string& data) {
  return file_of("{" + ids + "," + map + "}", data);
}

std::string ids_of(const std::vector<int32_t>& ids) {
  return std::string(reinterpret_cast<const char*>(ids.data()), 4 * ids.size());
}

const std::string kIds =
    entry("0.source", "3", 0, 12, "I32") + "," + entry("0.target", "2", 12, 20, "I32");
const std::string kCross = "0.decoder.0.cross";
// The same by the names of today.
const std::string kNamedIds =
    entry("0.ids.source", "3", 0, 12, "I32") + "," + entry("0.ids.target", "2", 12, 20, "I32");

std::vector<Case> weights_cases() {
  return {
      {"weights-empty", &kWeights, [] { return ""; }, "0 bytes are too few"},
      {"weights-header-2-to-63", &kWeights, [] { return announcing(uint64_t{1} << 63, "{}"); },
       "announces a header of 9223372036854775808 bytes"},
      {"weights-header-18-mb", &kWeights, [] { return file_of(many_entries(260'000)); },
       "bytes is too long; at most 4194304"},
      {"weights-header-of-spaces", &kWeights, [] { return file_of(std::string(5 << 20, ' ')); },
       "bytes is too long; at most 4194304"},
      {"weights-header-sparse", &kWeights, [] { return announcing(9'000'000'000); },
       "a header of 9000000000 bytes is too long", 10'000'000'000},
      {"weights-many-tensors", &kWeights, [] { return file_of(many_entries(33'000)); },
       "more than 32768 tensors"},
      {"weights-of-another-model", &kWeights, [] { return file_of(many_entries(32'000)); },
       "does not fit the model. missing: "},
      {"weights-long-name", &kWeights,
       [] { return file_of("{" + entry(std::string(100'000, 'n'), "0", 0, 0) + "}"); },
       "'" + std::string(60, 'n') + "...' is a name of 100000 bytes; at most 512"},
      {"weights-name-of-4-mb", &kWeights,
       [] { return file_of("{" + entry(std::string(4'000'000, 'n'), "0", 0, 0) + "}"); },
       "a name, text or list in the header is over 1048576 bytes"},
      {"weights-much-metadata", &kWeights,
       [] {
         std::string notes;
         for (int i = 0; i < 200'000; ++i) notes += fmt::format("\"{}\":\"\",", i);
         return file_of("{\"__metadata__\":{" + notes + "\"x\":\"\"}}");
       },
       "has over 1024 entries"},
      {"weights-deep", &kWeights, [] { return file_of(std::string(1'000'000, '[')); },
       "the header should describe tensors by name, not have a list"},
      {"weights-deep-objects", &kWeights, [] { return file_of(quoted("{\"a\":", 30'000)); },
       "'a' should not have an object"},
      {"weights-deeper-objects", &kWeights, [] { return file_of(quoted("{\"a\":", 800'000)); },
       "more than 32768 tensors"},
      {"weights-long-dtype", &kWeights,
       [] { return file_of("{" + entry("a", "0", 0, 0, std::string(1'000'000, 'F')) + "}"); },
       "'a' has the unknown dtype '" + std::string(60, 'F') + "...'"},
      {"weights-long-shape", &kWeights,
       [] { return file_of("{" + entry("a", "1" + quoted(",1", 500'000), 0, 4) + "}"); },
       "'a' has a longer shape than 5"},
      {"weights-overflowing-shape", &kWeights,
       [] { return file_of("{" + entry("a", "4611686018427387904,4,4", 0, 0) + "}"); },
       "'a' is larger than any memory"},
      {"weights-empty-overflowing-shape", &kWeights,
       [] { return file_of("{" + entry("a", "0,4611686018427387904,4", 0, 0) + "}"); },
       "'a' is larger than any memory"},
      {"weights-past-the-end", &kWeights,
       [] { return file_of("{" + entry("a", "1000000000", 0, 4'000'000'000) + "}", "1234"); },
       "'a' lies at 0 to 4000000000 of 4 bytes"},
      {"weights-end-before-begin", &kWeights,
       [] { return file_of("{" + entry("a", "1", 8, 4) + "}", "12345678"); }, "'a' lies at 8 to 4"},
      {"weights-overlap", &kWeights,
       [] {
         return file_of("{" + entry("a", "2", 0, 8) + "," + entry("b", "1", 4, 8) + "}",
                        "12345678");
       },
       "'b' overlaps another tensor"},
      {"weights-hole", &kWeights,
       [] { return file_of("{" + entry("a", "1", 4, 8) + "}", "12345678"); },
       "bytes 0 to 4 of the data belong to no tensor"},
      {"weights-twice", &kWeights,
       [] {
         return file_of("{" + entry("a", "1", 0, 4) + "," + entry("a", "1", 4, 8) + "}",
                        "12345678");
       },
       "'a' is there twice"},
      {"weights-negative-offset", &kWeights,
       [] { return file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}})"); },
       "'a' should not have a negative number"},
      {"weights-fraction", &kWeights,
       [] { return file_of(R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})"); },
       "'a' should not have a fraction"},
      {"weights-escape-in-name", &kWeights,
       [] { return file_of("{" + entry("\\u001b]0;x\\u0007", "1", 0, 4) + "}", "1234"); },
       R"(\x1b]0;x\x07 [1])"},
      {"weights-escape-twice", &kWeights,
       [] {
         return file_of(
             "{" + entry("\\u009b1", "1", 0, 4) + "," + entry("\\u009b1", "1", 4, 8) + "}",
             "12345678");
       },
       R"('\u009b1' is there twice)"},
      {"weights-not-json", &kWeights, [] { return file_of("{\x1b[2J}"); }, "not JSON at byte"},
      {"training-integers", &kTraining,
       [] { return file_of("{" + entry("a", "1", 0, 8, "I64") + "}", "12345678"); },
       "'a' is of dtype I64"},
      {"training-header-18-mb", &kTraining, [] { return file_of(many_entries(260'000)); },
       "bytes is too long; at most 4194304"},
      {"training-cut-off", &kTraining, [] { return announcing(100, "{}"); },
       "announces a header of 100 bytes but has 10 in all"},
  };
}

std::vector<Case> map_cases() {
  const std::string ids = ids_of({3, 4, 2, 3, 4});
  return {
      {"map-of-no-rows", &kMap,
       [=] { return map_file(kIds, entry(kCross, "1000000000000,0,5", 20, 20), ids); },
       "is no map but F32 [1000000000000, 0, 5]"},
      {"map-of-no-columns", &kMap,
       [=] { return map_file(kIds, entry(kCross, "1000000000000,5,0", 20, 20), ids); },
       "is no map but F32"},
      {"map-of-no-heads", &kMap,
       [=] { return map_file(kIds, entry(kCross, "0,3,3", 20, 20), ids); }, "is no map but F32"},
      {"map-of-many-heads", &kMap,
       [=] {
         return map_file(kIds, entry(kCross, "1000000,1,1", 20, 4'000'020),
                         ids + std::string(4'000'000, '\0'));
       },
       "is no map but F32 [1000000, 1, 1]"},
      {"map-larger-than-the-sentence", &kMap,
       [=] {
         return map_file(kIds, entry(kCross, "1,1000,1000", 20, 4'000'020),
                         ids + std::string(4'000'000, '\0'));
       },
       "is no map but F32 [1, 1000, 1000]"},
      {"map-of-integers", &kMap,
       [=] { return map_file(kIds, entry(kCross, "1,1,1", 20, 24, "I32"), ids + "1234"); },
       "is no map but I32"},
      {"map-that-is-a-matrix", &kMap,
       [=] { return map_file(kIds, entry(kCross, "1,1", 20, 24), ids + "1234"); },
       "is no map but F32 [1, 1]"},
      {"map-id-past-the-vocabulary", &kMap,
       [=] {
         return map_file(kIds, entry(kCross, "1,1,1", 20, 24),
                         ids_of({3, 1'000'000, 2, 3, 4}) + "1234");
       },
       "id 1000000 in a vocabulary of 14"},
      {"map-negative-id", &kMap,
       [=] {
         return map_file(kIds, entry(kCross, "1,1,1", 20, 24), ids_of({3, 4, 2, -7, 4}) + "1234");
       },
       "id -7 in a vocabulary of 14"},
      {"map-ids-of-floats", &kMap,
       [=] {
         return map_file(
             entry("0.source", "3", 0, 12) + "," + entry("0.target", "2", 12, 20, "I32"),
             entry(kCross, "1,1,1", 20, 24), ids + "1234");
       },
       "0.source has no ids"},
      {"map-ids-of-no-width", &kMap,
       [=] {
         return map_file(entry("0.source", "1000000000000,0", 0, 0, "I32") + "," +
                             entry("0.target", "2", 0, 8, "I32"),
                         entry(kCross, "1,1,1", 8, 12), ids_of({3, 4}) + "1234");
       },
       "0.source has no ids"},
      {"map-named-id-past-the-vocabulary", &kMap,
       [=] {
         return map_file(kNamedIds, entry(kCross, "1,1,1", 20, 24),
                         ids_of({3, 4, 1'000'000, 3, 4}) + "1234");
       },
       "id 1000000 in a vocabulary of 14"},
      {"map-named-larger-than-the-sentence", &kMap,
       [=] {
         return map_file(kNamedIds, entry(kCross, "1,1000,1000", 20, 4'000'020),
                         ids + std::string(4'000'000, '\0'));
       },
       "is no map but F32 [1, 1000, 1000]"},
      {"map-named-ids-of-floats", &kMap,
       [=] {
         return map_file(
             entry("0.ids.source", "3", 0, 12) + "," + entry("0.ids.target", "2", 12, 20, "I32"),
             entry(kCross, "1,1,1", 20, 24), ids + "1234");
       },
       "0.ids.source has no ids"},
      {"map-of-another-model", &kMap,
       [=] {
         return map_file(entry("0.ids.source", "3", 0, 12, "I32") + "," +
                             entry("0.ids.text", "2", 12, 20, "I32"),
                         entry(kCross, "1,1,1", 20, 24), ids + "1234");
       },
       "sentence 0 has no 'target'"},
      {"map-without-targets", &kMap,
       [=] { return file_of("{" + entry("0.source", "3", 0, 12, "I32") + "}", ids.substr(0, 12)); },
       "0.target has no ids"},
  };
}

}  // namespace

std::vector<Case> tensor_cases() {
  std::vector<Case> all = weights_cases();
  for (const Case& one : map_cases()) all.push_back(one);
  return all;
}

}  // namespace attend::hostile
