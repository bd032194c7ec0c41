#include "attend/data/encoded_lines.h"

#include "attend/data/corpus_file.h"

namespace attend {
namespace {

constexpr size_t kLinesAtOnce = 4096;  // lines read at a time, or so many that have this many bytes
constexpr size_t kLineBytesAtOnce = size_t{16} << 20;

}  // namespace

std::vector<EncodedLine> EncodedLines::next() {
  std::vector<TextToEncode> texts;
  std::vector<EncodedLine> lines;
  size_t bytes = 0;
  while (lines.size() < kLinesAtOnce && bytes < kLineBytesAtOnce && reader_.next()) {
    bytes += reader_.text().size();
    lines.push_back({{}, reader_.line(), reader_.begins(), reader_.file_number()});
    std::string_view text = reader_.text();
    if (ends_ == LineEnds::kRemoved) text = text.substr(0, text.find_last_not_of("\r\n") + 1);
    texts.push_back({&encoder_, std::string(text)});
  }
  std::vector<std::vector<int32_t>> ids = encode_all(texts);
  for (size_t i = 0; i < ids.size(); ++i) lines[i].ids = std::move(ids[i]);
  return lines;
}

void add_to(Hash& hash, const DocumentFiles& files, const TextEncoder& encoder) {
  for (const auto& file : files.files) {
    const uint64_t bytes = fingerprint_of_file(file);
    hash.add(bytes_of<uint64_t>({&bytes, 1}));
  }
  hash.add(fmt::format(" {} {} {} ", name_of(files.documents), files.held_out,
                       static_cast<int>(files.part)));
  const SpecialTokens& special = encoder.special;
  const uint64_t parts[] = {files.longest_line,
                            encoder.vocabulary,
                            encoder.fingerprint,
                            static_cast<uint64_t>(special.start),
                            static_cast<uint64_t>(special.end),
                            kCorpusVersion};
  hash.add(bytes_of<uint64_t>(parts));
}

std::string explain_no_documents(const DocumentFiles& files, const CorpusCounts& counts) {
  const std::string file = files.files.front().string();
  if (files.part == TextPart::kHeldOut) {
    return fmt::format(
        "{}: a held-out share of {} leaves no document for validation; hold out more "
        "(data.held_out), or give text for it (data.valid_text)",
        file, files.held_out);
  }
  return fmt::format(
      "{}: no document is left of {}: {} are empty, and {} lines are longer than {} bytes", file,
      counts.read.records + counts.read.empty, counts.left_out_empty(), counts.left_out_too_long(),
      files.longest_line);
}

}  // namespace attend
