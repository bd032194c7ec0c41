#include "attend/base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include "attend/base/error.h"
#include "tests/errors.h"
#include "tests/files.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

class Files : public DirectoryTest {
 protected:
  size_t entries() const { return entries(directory_); }
  static size_t entries(const fs::path& directory) {
    return static_cast<size_t>(std::distance(fs::directory_iterator(directory), {}));
  }
  // Runs `action` and expects an IoError whose text names `path`.
  template <typename Action>
  static void expect_io_error(const fs::path& path, const Action& action) {
    try {
      action();
      FAIL() << "no error";
    } catch (const IoError& error) {
      EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
    }
  }
};

TEST_F(Files, AtomicFileReplacesTheWholeFile) {
  const fs::path path = directory_ / "model";
  write(path, "a longer text than the new one");
  AtomicFile file(path);
  file.write("new ");
  file.write("text");
  EXPECT_EQ(read(path), "a longer text than the new one");
  file.commit();
  EXPECT_EQ(read(path), "new text");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, AtomicFileWithoutCommitLeavesTheOldOne) {
  const fs::path path = directory_ / "model";
  write(path, "old");
  {
    AtomicFile file(path);
    file.write("half of a new");
    EXPECT_EQ(entries(), 2u);
  }
  EXPECT_EQ(read(path), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, AtomicFileCreatesWithTheUsersMask) {
  const mode_t before = ::umask(027);
  replace_file(directory_ / "model", "text");
  ::umask(before);
  EXPECT_EQ(fs::status(directory_ / "model").permissions(), static_cast<fs::perms>(0640));
}

TEST_F(Files, AtomicFileKeepsTheModeOfWhatItReplaces) {
  const fs::path path = directory_ / "model";
  write(path, "old");
  for (const int mode : {0600, 0664, 0444, 0755}) {
    fs::permissions(path, static_cast<fs::perms>(mode));
    replace_file(path, "new");
    EXPECT_EQ(fs::status(path).permissions(), static_cast<fs::perms>(mode));
  }
}

// The mask belongs to all threads: while it were set to 0, their files would be open to everybody.
TEST_F(Files, AtomicFileLeavesTheMaskAlone) {
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 200; ++i) replace_file(directory_ / "model", "text");
    done = true;
  });
  while (!done) {
    const int file = ::open((directory_ / "other").c_str(), O_CREAT | O_RDWR, 0666);
    ::close(file);
    EXPECT_EQ(fs::status(directory_ / "other").permissions() & fs::perms::others_write,
              fs::perms::none);
    fs::remove(directory_ / "other");
  }
  writer.join();
}

TEST_F(Files, AtomicFileNamesAPathItCannotWrite) {
  const fs::path missing = directory_ / "missing" / "model";
  expect_io_error(missing, [&] { AtomicFile file(missing); });
  // A directory in the way: the rename fails, and the temporary goes.
  const fs::path blocked = directory_ / "blocked";
  fs::create_directory(blocked);
  expect_io_error(blocked, [&] { replace_file(blocked, "text"); });
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, AtomicFileNamesAPathInAReadOnlyDirectory) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  fs::permissions(directory_, fs::perms::owner_read | fs::perms::owner_exec);
  const fs::path path = directory_ / "model";
  expect_io_error(path, [&] { AtomicFile file(path); });
  fs::permissions(directory_, fs::perms::owner_all);
}

// Elsewhere might be another disk, where a rename cannot reach.
TEST_F(Files, AtomicFileWritesBesideItsPath) {
  const fs::path before = fs::current_path(), inner = directory_ / "inner";
  fs::create_directory(inner);
  fs::current_path(inner);
  for (const fs::path& path : {fs::path("model"), fs::path("../inner/model"), inner / "model"}) {
    AtomicFile file(path);
    file.write("text");
    EXPECT_EQ(entries(inner), 1u) << path;
    file.commit();
    EXPECT_EQ(entries(inner), 1u) << path;
    EXPECT_EQ(read(inner / "model"), "text") << path;
    fs::remove(inner / "model");
  }
  fs::current_path(before);
}

TEST_F(Files, AtomicFileKnowsWhatAnUnfinishedOneWasToBe) {
  const AtomicFile file(directory_ / "a.b.txt");
  const fs::path temporary = *fs::directory_iterator(directory_);
  EXPECT_EQ(AtomicFile::unfinished(temporary.filename().string()), "a.b.txt");
  for (const char* name : {"a.b.txt", ".a", ".hidden", ".aB3dE6", "a.aB3dE6", ".a.aB3d-6"}) {
    EXPECT_EQ(AtomicFile::unfinished(name), "") << name;
  }
}

TEST_F(Files, AtomicFileKeepsTheOldOneWhenAWriteFails) {
  const fs::path path = directory_ / "model";
  write(path, "old");
  {
    const SmallFiles full(1000);
    expect_io_error(path, [&] { replace_file(path, std::string(5000, 'x')); });
  }
  EXPECT_EQ(read(path), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, AtomicFileCannotCommitWhatItFailedToWrite) {
  const fs::path path = directory_ / "model";
  write(path, "old");
  AtomicFile file(path);
  {
    const SmallFiles full(1000);
    file.write(std::string(600, 'x'));
    expect_io_error(path, [&] { file.write(std::string(600, 'y')); });
  }
  // There is room again, but half of the text is lost.
  expect_io_error(path, [&] { file.write("z"); });
  expect_io_error(path, [&] { file.commit(); });
  EXPECT_EQ(read(path), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, AtomicFileReplacesWhatALinkLeadsTo) {
  fs::create_directory(directory_ / "inner");
  write(directory_ / "inner" / "model", "old");
  fs::create_symlink("inner/second", directory_ / "first");
  fs::create_symlink("model", directory_ / "inner" / "second");
  replace_file(directory_ / "first", "new");
  EXPECT_TRUE(fs::is_symlink(directory_ / "first"));
  EXPECT_TRUE(fs::is_symlink(directory_ / "inner" / "second"));
  EXPECT_EQ(read(directory_ / "inner" / "model"), "new");
  EXPECT_EQ(entries(), 2u);
  EXPECT_EQ(entries(directory_ / "inner"), 2u);
}

TEST_F(Files, AtomicFileMakesTheFileThatALinkWaitsFor) {
  fs::create_symlink(directory_ / "model", directory_ / "link");
  replace_file(directory_ / "link", "text");
  EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
  EXPECT_EQ(read(directory_ / "model"), "text");
}

TEST_F(Files, AtomicFileNamesALinkThatLeadsNowhere) {
  const fs::path link = directory_ / "link";
  fs::create_symlink("link", link);
  expect_io_error(link, [&] { replace_file(link, "text"); });
  EXPECT_TRUE(fs::is_symlink(link));
}

TEST_F(Files, AtomicFileWritesToAPipeAsItIs) {
  const fs::path pipe = directory_ / "pipe", link = directory_ / "link";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink("pipe", link);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  for (const fs::path& path : {pipe, link}) {
    replace_file(path, "text");
    EXPECT_TRUE(fs::is_fifo(pipe));
    std::string seen(10, '\0');
    EXPECT_EQ(::read(reader, seen.data(), seen.size()), 4) << path;
    EXPECT_EQ(seen.substr(0, 4), "text");
  }
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(entries(), 2u);
  ::close(reader);
}

TEST_F(Files, FileReaderReadsAnyPart) {
  const fs::path path = directory_ / "data";
  write(path, "some bytes");
  FileReader file(path);
  EXPECT_EQ(file.size(), 10u);
  std::string part(5, ' ');
  file.read(5, std::as_writable_bytes(std::span(part)));
  EXPECT_EQ(part, "bytes");
  const FileReader moved = std::move(file);
  moved.read(0, std::as_writable_bytes(std::span(part)));
  EXPECT_EQ(part, "some ");
  EXPECT_EQ(moved.path(), path);
}

TEST_F(Files, FileReaderNamesAFileThatIsCutOff) {
  const fs::path path = directory_ / "data";
  write(path, "some bytes");
  const FileReader file(path);
  fs::resize_file(path, 4);
  std::string part(5, ' ');
  const auto bytes = std::as_writable_bytes(std::span(part));
  expect_io_error(path, [&] { file.read(2, bytes); });
  EXPECT_NE(message_of<IoError>([&] {
              file.read(2, bytes);
            }).find("it was cut off, to 4 bytes from 10 when it was opened"),
            std::string::npos);
  file.read(0, bytes.first(4));
  EXPECT_EQ(part.substr(0, 4), "some");
}

TEST_F(Files, FileReaderNamesWhatItCannotRead) {
  const fs::path missing = directory_ / "missing";
  expect_io_error(missing, [&] { FileReader file(missing); });
  expect_io_error(directory_, [&] { FileReader file(directory_); });
}

TEST_F(Files, ContentsHaveALimit) {
  const fs::path path = directory_ / "data";
  write(path, "some bytes");
  EXPECT_EQ(file_contents(path), "some bytes");
  EXPECT_EQ(file_contents(path, 10), "some bytes");
  expect_error<FormatError>([&] { file_contents(path, 9); },
                            path.string() + ": 10 bytes are too many; at most 9");
}

TEST_F(Files, DirectoriesAreMadeWithTheirParents) {
  using Paths = std::vector<fs::path>;
  const fs::path a = directory_ / "a", b = a / "b";
  EXPECT_EQ(make_directories(b / ""), (Paths{a, b}));
  EXPECT_EQ(make_directories(b), Paths{});
  EXPECT_EQ(make_directories(b / "c"), Paths{b / "c"});
  const fs::path before = fs::current_path();
  fs::current_path(a);
  EXPECT_EQ(make_directories("d"), Paths{"d"});
  fs::current_path(before);
  EXPECT_TRUE(fs::is_directory(a / "d"));
  write(a / "file", "in the way");
  expect_io_error(a / "file", [&] { make_directories(a / "file" / "e"); });
}

TEST_F(Files, FilesMayBeEmpty) {
  write(directory_ / "empty", "");
  EXPECT_EQ(FileReader(directory_ / "empty").size(), 0u);
  EXPECT_EQ(file_contents(directory_ / "empty"), "");
}

TEST_F(Files, FileReaderOutlivesTheReplacementOfItsFile) {
  const fs::path path = directory_ / "data";
  write(path, "old bytes");
  const FileReader file(path);
  replace_file(path, "new");
  std::string text(file.size(), ' ');
  file.read(0, std::as_writable_bytes(std::span(text)));
  EXPECT_EQ(text, "old bytes");
}

}  // namespace
}  // namespace attend
