// `attend tokenizer`: train one or import it, and go between text and its pieces.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <unordered_map>

#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/data/bytes.h"
#include "attend/models/text_model.h"
#include "attend/text/import.h"
#include "attend/train/run_config.h"
#include "cli/commands.h"
#include "cli/config_flags.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/text_input.h"

namespace attend::cli {
namespace {

constexpr size_t kWindow = 1024;  // lines

struct TokenizerTrainOptions {
  std::vector<std::filesystem::path> files = {"-"};
  std::filesystem::path out;
  ConfigFlags flags;
};

struct TokenizerImportOptions {
  std::vector<std::filesystem::path> files;
  std::filesystem::path out;
  bool lowercase = false, cased = false;
};

struct CodeOptions {
  std::filesystem::path tokenizer, input = "-";
  std::string column;  // empty: the model's first
  bool ids = false;
};

int run_train(const TokenizerTrainOptions& options) {
  TokenizerConfig config;
  options.flags.apply(config);
  std::unique_ptr<LineReader> reader;
  bool all_read = false;
  auto file = options.files.begin();
  const auto next_line = [&]() -> std::optional<std::string_view> {
    while (true) {
      if (reader && reader->next()) return reader->line();
      all_read = file == options.files.end();
      if (all_read) return std::nullopt;
      reader = std::make_unique<LineReader>(*file++);
    }
  };
  const auto tokenizer = [&] {
    try {
      return train_tokenizer(config, next_line);
    } catch (const DataError& error) {
      if (!all_read) throw;  // an error of reading names its file
      throw DataError("{}: {}", reader->name(), error.what());
    }
  }();
  tokenizer->save(options.out);
  fmt::print(stderr, "{}: {} tokens, {}\n", options.out.string(), tokenizer->size(),
             name_of(tokenizer->kind()));
  return 0;
}

// Of a vocabulary, also .gz.
ImportedFile read_imported(const std::filesystem::path& path) {
  const std::unique_ptr<ByteSource> bytes = open_bytes(path);
  ImportedFile file{path.string(), ""};
  std::vector<char> buffer(size_t{1} << 16);
  while (const size_t size = bytes->read(buffer)) {
    file.content.append(buffer.data(), size);
    if (file.content.size() <= kMostImportedBytes) continue;
    throw FormatError("{}: a vocabulary has {} bytes at most", file.name, kMostImportedBytes);
  }
  return file;
}

int run_import(const TokenizerImportOptions& options) {
  std::vector<ImportedFile> files;
  for (const std::filesystem::path& file : options.files) {
    files.push_back(read_imported(file));
  }
  ImportOptions reading;
  if (options.lowercase || options.cased) reading.lowercase = options.lowercase;
  const auto tokenizer = import_tokenizer(files, reading);
  std::filesystem::path out = options.out;
  if (std::filesystem::is_directory(out)) out = ModelDirectory{out}.tokenizer();
  tokenizer->save(out);
  const bool lowers = tokenizer->pieces("A") == tokenizer->pieces("a");  // also where unknown
  fmt::print(stderr, "{}: {} tokens, {}, {}\n", out.string(), tokenizer->size(),
             name_of(tokenizer->kind()), lowers ? "lower-cased" : "cased");
  return 0;
}

std::shared_ptr<const Tokenizer> open_tokenizer(const CodeOptions& options) {
  if (!std::filesystem::is_directory(options.tokenizer)) return load_tokenizer(options.tokenizer);
  const ModelDirectory directory{options.tokenizer};
  const Signature signature = signature_of(load_model_config(directory));
  const Tokenizers found = load_tokenizers(directory, signature);
  const std::string column = options.column.empty() ? signature.columns.front().name
                                                    : signature.column(options.column).name;
  const auto wanted = found.find(column);
  if (wanted != found.end()) return wanted->second;
  throw IoError("{}: no tokenizer of {} in it; give a tokenizer's file, or a model directory",
                options.tokenizer.string(), column);
}

// Each line through `code`, which gets its place as well.
template <typename Code>
int run_lines(const std::filesystem::path& input, const Code& code) {
  LineReader reader = open_text(input);
  for (size_t done = 0;;) {
    const std::vector<std::string> lines = read_window(reader, kWindow);
    if (lines.empty()) return 0;
    for (const std::string& line : lines) {
      fmt::print("{}\n", output_text(code(line, fmt::format("{}:{}", reader.name(), ++done))));
    }
    std::fflush(stdout);
  }
}

int run_encode(const CodeOptions& options) {
  const auto tokenizer = open_tokenizer(options);
  return run_lines(options.input, [&](const std::string& line, const std::string&) {
    const std::vector<int32_t> ids = tokenizer->encode(line);
    if (options.ids) return fmt::format("{}", fmt::join(ids, " "));
    std::vector<std::string> pieces(ids.size());
    std::ranges::transform(ids, pieces.begin(), [&](int32_t id) { return tokenizer->piece(id); });
    return fmt::format("{}", fmt::join(pieces, " "));
  });
}

// Ids of the words of a line, each found by `find`; it gives none for what it does not know.
template <typename Find>
std::vector<int32_t> ids_of(std::string_view line, const Find& find, const std::string& place) {
  std::vector<int32_t> ids;
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(line.size(), word.size() + 1));
    if (word.empty()) continue;
    const std::optional<int32_t> id = find(word);
    if (!id) {
      throw DataError(
          "{}: the tokenizer has no '{}'; was this encoded with another tokenizer, or without "
          "--ids?",
          place, shown_name(word));
    }
    ids.push_back(*id);
  }
  return ids;
}

int run_decode(const CodeOptions& options) {
  const auto tokenizer = open_tokenizer(options);
  std::unordered_map<std::string, int32_t> known;
  for (int32_t id = 0; static_cast<size_t>(id) < tokenizer->size(); ++id) {
    known.emplace(options.ids ? std::to_string(id) : tokenizer->piece(id), id);
  }
  const auto find = [&](std::string_view word) -> std::optional<int32_t> {
    const auto found = known.find(std::string(word));
    if (found == known.end()) return std::nullopt;
    return found->second;
  };
  return run_lines(options.input, [&](const std::string& line, const std::string& place) {
    return tokenizer->decode(ids_of(line, find, place));
  });
}

CLI::App* add_train_parser(CLI::App& parent, TokenizerTrainOptions& options) {
  CLI::App* parser = parent.add_subcommand("train", "Make a tokenizer from text");
  parser->add_option("files", options.files, "text files, also .gz (default: standard input)")
      ->type_name("FILE");
  parser->add_option("--out", options.out, "file to write")->required()->type_name("FILE");
  options.flags.add(*parser, TokenizerConfig());
  show_in_help(*parser, {"--kind", "--vocabulary", "--lowercase", "--mask", "--byte-fallback"});
  parser->footer(
      "Examples:\n"
      "  attend tokenizer train train.de train.en --kind bpe --vocabulary 8000 --out bpe.model\n"
      "  attend tokenizer train reviews.txt --kind wordpiece --lowercase --mask --out "
      "pieces.model\n"
      "  zcat words.gz | attend tokenizer train --kind character --out characters.txt");
  return parser;
}

CLI::App* add_import_parser(CLI::App& parent, TokenizerImportOptions& options) {
  CLI::App* parser =
      parent.add_subcommand("import", "Make a tokenizer of BERT's or GPT-2's vocabulary");
  parser
      ->add_option("files", options.files,
                   "vocab.txt; or encoder.json and vocab.bpe (vocab.json and merges.txt); also .gz")
      ->required()
      ->expected(1, 2)
      ->type_name("FILE");
  parser->add_option("--out", options.out, "file to write; of a directory, its tokenizer.model")
      ->required()
      ->type_name("PATH");
  CLI::Option* lowercase = parser->add_flag(
      "--lowercase", options.lowercase,
      "lower-case the text first, and for vocab.txt strip accents (default for a vocab.txt "
      "without letters A to Z)");
  parser->add_flag("--cased", options.cased, "keep capital letters and accents")
      ->excludes(lowercase);
  parser->footer(
      "Examples:\n"
      "  attend tokenizer import vocab.txt --out bert.model\n"
      "  attend tokenizer import encoder.json vocab.bpe --out my-model\n"
      "The ids stay as they are in the files. With a directory, `attend train --out` of that\n"
      "directory uses the tokenizer instead of training one.");
  return parser;
}

CLI::App* add_code_parser(CLI::App* parser, CodeOptions& options, const std::string& ids) {
  parser
      ->add_option("tokenizer", options.tokenizer,
                   "a tokenizer's file, or the model directory that has it")
      ->required()
      ->type_name("FILE");
  parser->add_option("--input", options.input, "file, also .gz (default: standard input)")
      ->type_name("FILE");
  parser
      ->add_option("--column,--side", options.column,
                   "column of a model: source, target, text or label (default: its first)")
      ->type_name("NAME");
  parser->add_flag("--ids", options.ids, ids);
  return parser;
}

}  // namespace

Command add_tokenizer(CLI::App& app) {
  CLI::App* parser =
      app.add_subcommand("tokenizer", "Train or import a tokenizer, encode and decode text");
  require_subcommand(*parser);
  auto train = std::make_shared<TokenizerTrainOptions>();
  auto encode = std::make_shared<CodeOptions>(), decode = std::make_shared<CodeOptions>();
  const CLI::App* train_parser = add_train_parser(*parser, *train);
  auto importing = std::make_shared<TokenizerImportOptions>();
  const CLI::App* import_parser = add_import_parser(*parser, *importing);
  CLI::App* encode_parser =
      add_code_parser(parser->add_subcommand("encode", "Write text as pieces"), *encode,
                      "numbers instead of pieces");
  encode_parser->footer(
      "Examples:\n"
      "  echo 'a house' | attend tokenizer encode bpe.model\n"
      "  attend tokenizer encode model --column target --ids --input test.en");
  CLI::App* decode_parser =
      add_code_parser(parser->add_subcommand("decode", "Write pieces as text"), *decode,
                      "the input has numbers instead of pieces");
  decode_parser->footer(
      "Example:\n"
      "  attend tokenizer encode model --ids < text | attend tokenizer decode model --ids\n"
      "Pieces are separated by spaces; special ones, such as <unk>, are left out.");
  parser->footer("See `attend tokenizer train --help`, and the help of the others.");
  return {parser, [=] {
            if (train_parser->parsed()) return run_train(*train);
            if (import_parser->parsed()) return run_import(*importing);
            return encode_parser->parsed() ? run_encode(*encode) : run_decode(*decode);
          }};
}

}  // namespace attend::cli
