// Vocabularies of BERT and GPT-2. Of the latter, the pieces come first, then a NUL and the merges.
#include "attend/text/import.h"

#include <fmt/format.h>

#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"
#include "tests/fuzz/use_tokenizer.h"

namespace attend::fuzz {

void take_import(std::string_view bytes) {
  const size_t end = bytes.find('\0');
  std::vector<ImportedFile> files = {{"vocab", std::string(bytes.substr(0, end))}};
  if (end != bytes.npos) files.push_back({"merges", std::string(bytes.substr(end + 1))});
  const auto tokenizer = import_tokenizer(files, {});
  use(*tokenizer);
  if (tokenizer->kind() != TokenizerKind::kByteBpe) return;
  for (const std::string& line : sample_lines()) {
    require(tokenizer->decode(tokenizer->encode(line)) == line, "bytes lose nothing");
  }
}

std::vector<std::string> import_seeds() {
  std::string pieces;
  int id = 0, other = 0x100;
  const auto add = [&](const std::string& piece) {
    pieces += fmt::format("{}\"{}\": {}", id == 0 ? "{" : ", ", piece, id);
    ++id;
  };
  for (int byte = 0; byte < 256; ++byte) {
    const bool itself = (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
    add(fmt::format("\\u{:04x}", itself ? byte : other++));
  }
  for (const char* piece : {"th", "the", "\\u0120the", "\\u00c3\\u00a4", "<pad>"}) add(piece);
  using std::string_literals::operator""s;
  const std::string bert = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\n##s\ndog\n##ä\nStra\n";
  const std::string merges = "\0#version: 0.2\nt h\nth e\n\u0120 the\n\u00c3 \u00a4\n"s;
  return {
      bert, "[UNK]\r\n[CLS]\r\n[SEP]\r\na\r\n", pieces + ", \"<|endoftext|>\": 261}" + merges,
      pieces + ", \"<s>\": 261, \"</s>\": 262, \"<mask>\": 263, \"\\ud83d\\ude00\": 264}" + merges,
      "{ \"a\" :\t0 }" + merges};
}

}  // namespace attend::fuzz
