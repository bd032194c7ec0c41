#include "tests/hostile/case.h"

#include <fstream>

#include "attend/io/model_directory.h"
#include "tests/decode/text_model.h"

namespace attend::hostile {
namespace {

void write_model(const Path& directory) {
  const TextModel model = small_text_model(TokenizerKind::kCharacter, {"abcdefgh ij"});
  model.save_description({directory});
  model.save_weights(ModelDirectory{directory}.weights());
}

}  // namespace

std::string name_in_messages(const Reader& reader) {
  return reader.named.empty() ? Path(reader.file).filename().string() : reader.named;
}

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& table : {document_cases(), size_cases(), log_cases(), tensor_cases(),
                            vocabulary_cases(), sentencepiece_cases(), data_cases()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

void write_case(const Case& one, const Path& directory) {
  const Path file = directory / one.reader->file;
  std::filesystem::create_directories(file.parent_path());
  if (one.reader->in_model) write_model(directory);
  std::ofstream(directory / "empty.txt").flush();
  std::ofstream(file, std::ios::binary) << one.content();
  if (one.sparse_size > 0) std::filesystem::resize_file(file, one.sparse_size);
}

std::string repeated(std::string_view text, size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace attend::hostile
