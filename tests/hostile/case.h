// Files that a stranger made to do harm, each with what must be said of it. The test opens every
// one in a process of its own; measure.py gives those that a command reads to a release build.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace attend::hostile {

using Path = std::filesystem::path;

// What is done with a file, in a directory that has it and all it needs beside it.
struct Reader {
  std::string file;       // its name in the directory
  bool in_model = false;  // the rest is a model, small and whole
  void (*open)(const Path& directory);
  std::vector<std::string> arguments = {};  // of the command; "@" is the directory
  std::string named = "";                   // in messages; the file where it is empty
};

// What a message about the file must have in it.
std::string name_in_messages(const Reader& reader);

struct Case {
  std::string name;  // also that of its directory
  const Reader* reader;
  std::function<std::string()> content;
  // What the message must have beside the name of the file. Empty: nothing is wrong, and reading it
  // ends well.
  std::string expected;
  size_t sparse_size = 0;  // the file is made so long, with nothing in it
};

// One table a kind of file.
std::vector<Case> document_cases();
std::vector<Case> size_cases();
std::vector<Case> log_cases();
std::vector<Case> tensor_cases();
std::vector<Case> vocabulary_cases();
std::vector<Case> sentencepiece_cases();
std::vector<Case> data_cases();

std::vector<Case> all_cases();

// Writes the directory of one.
void write_case(const Case& one, const Path& directory);

// `text` so many times.
std::string repeated(std::string_view text, size_t times);

}  // namespace attend::hostile
