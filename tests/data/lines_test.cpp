#include "attend/data/lines.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "attend/base/error.h"
#include "attend/base/rng.h"
#include "tests/data/files.h"

namespace attend {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(LineReader& reader) {
  Lines lines;
  while (reader.next()) lines.emplace_back(reader.line());
  return lines;
}

Lines lines_of(const std::filesystem::path& path) {
  LineReader reader(path);
  return lines_of(reader);
}

// Of standard input, which is `descriptor` for the moment.
LineReader reader_of(int descriptor) {
  const int saved = ::dup(STDIN_FILENO);
  ::dup2(descriptor, STDIN_FILENO);
  LineReader reader("-");
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  return reader;
}

class LineReaderTest : public DataFiles {};

TEST_F(LineReaderTest, GivesEveryLine) {
  const struct {
    const char* text;
    Lines lines;
  } cases[] = {
      {"", {}},
      {"\n", {""}},
      {"a", {"a"}},
      {"a\n", {"a"}},
      {"a\nb", {"a", "b"}},
      {"\n\na\n", {"", "", "a"}},
      {"ä\tb\n", {"ä\tb"}},
      {"\x1F\n", {"\x1F"}},  // as gzip starts
      {"\x1F", {"\x1F"}},
  };
  for (const auto& c : cases) EXPECT_EQ(lines_of(write("text", c.text)), c.lines) << c.text;
}

TEST_F(LineReaderTest, BuffersLeaveNoTrace) {
  // Lines of all lengths around the size of the buffer, then random ones.
  const RandomStream random(1, 0);
  Lines lines;
  for (size_t i = 0; i < 300; ++i) {
    const size_t length = i < 40 ? 65516 + i : random.below(i, 3000);
    lines.emplace_back(length, static_cast<char>('a' + i % 26));
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  EXPECT_EQ(lines_of(write("text", text)), lines);
  EXPECT_EQ(lines_of(write("text.gz", gzip(text))), lines);
  const size_t half = text.size() / 2;
  EXPECT_EQ(lines_of(write("two", gzip(text.substr(0, half)) + gzip(text.substr(half)))), lines);
}

TEST_F(LineReaderTest, RepairsAreCounted) {
  using namespace std::string_literals;
  LineReader reader(write("text",
                          "\xEF\xBB\xBF"
                          "first\r\n"
                          "n\0u\0l\n"
                          "in\xFFvalid \xC3\n"
                          "\xEF\xBB\xBFinside\n"
                          "all\0\xFE\r\n"
                          "in the\rmiddle"s));
  EXPECT_EQ(lines_of(reader), (Lines{"first", "nul", "in\uFFFDvalid \uFFFD", "\uFEFFinside",
                                     "all\uFFFD", "in the\rmiddle"}));
  EXPECT_EQ(reader.counts(), (LineCounts{.lines = 6,
                                         .invalid_utf8 = 3,
                                         .nul_bytes = 3,
                                         .carriage_returns = 2,
                                         .byte_order_marks = 1}));
}

TEST_F(LineReaderTest, Utf16IsRefusedWithAWayOut) {
  for (const char* mark : {"\xFF\xFE", "\xFE\xFF"}) {
    const auto path = write("wide.txt", std::string(mark) + "a");
    const std::string error = message_of<DataError>([&] { lines_of(path); });
    EXPECT_NE(error.find("wide.txt"), error.npos);
    EXPECT_NE(error.find("iconv"), error.npos);
  }
}

TEST_F(LineReaderTest, LinesOverTheLimitAreLeftOut) {
  for (const size_t length : {10, 11, 65536, 200'000}) {
    LineReader reader(write("text", "a\n" + std::string(length, 'x') + "\nb"), 10);
    EXPECT_EQ(lines_of(reader), (Lines{"a", length > 10 ? "" : std::string(length, 'x'), "b"}));
    EXPECT_EQ(reader.counts().too_long, length > 10 ? 1u : 0u);
  }
}

// Under a limit of address space that holds neither the line nor copies of it.
TEST_F(LineReaderTest, ALineOf100MegabytesTakesLittleMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need the address space";
#endif
  const auto path = directory_ / "long";
  {
    std::ofstream file(path);
    const std::string megabyte(1 << 20, 'x');
    for (int i = 0; i < 100; ++i) file << megabyte;
    file << "\nshort\n";
  }
  const auto read_with_little_memory = [&] {
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t limit = pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE)) + (32 << 20);
    const rlimit space{limit, limit};
    ::setrlimit(RLIMIT_AS, &space);
    LineReader reader(path);
    const bool good = reader.next() && reader.too_long() && reader.line().empty() &&
                      reader.next() && reader.line() == "short" && !reader.next();
    std::_Exit(good ? 0 : 1);
  };
  EXPECT_EXIT(read_with_little_memory(), testing::ExitedWithCode(0), "");
}

TEST_F(LineReaderTest, EveryTruncationOfGzipIsRefused) {
  const std::string whole = gzip("some text\nand more of it\n" + std::string(1000, 'x'));
  for (size_t size = 2; size < whole.size(); ++size) {
    const auto path = write("cut.gz", whole.substr(0, size));
    const std::string error = message_of<FormatError>([&] { lines_of(path); });
    EXPECT_NE(error.find(path.string()), error.npos) << error;
    EXPECT_NE(error.find("at byte " + std::to_string(size)), error.npos) << error;
  }
}

TEST_F(LineReaderTest, DamagedGzipIsRefused) {
  const std::string whole = gzip("some text\nand more of it\n");
  for (const size_t place : {2, 12, 20}) {
    std::string bad = whole;
    bad[place] = static_cast<char>(bad[place] ^ 0xFF);
    EXPECT_THROW(lines_of(write("bad.gz", bad)), FormatError) << place;
  }
  EXPECT_THROW(lines_of(write("tail.gz", whole + "not gzip")), FormatError);
  EXPECT_THROW(lines_of(write("plain.gz", "text")), FormatError);
  EXPECT_THROW(lines_of(write("empty.gz", "")), FormatError);
}

TEST_F(LineReaderTest, MissingFilesAndDirectoriesAreIoErrors) {
  EXPECT_THROW(lines_of(directory_ / "none"), IoError);
  EXPECT_THROW(lines_of(directory_), IoError);
}

TEST_F(LineReaderTest, StandardInputStreams) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(::write(ends[1], "one\ntwo\nth", 10), 10);
  LineReader reader = reader_of(ends[0]);
  EXPECT_TRUE(reader.next());  // without waiting for more
  EXPECT_EQ(reader.line(), "one");
  EXPECT_TRUE(reader.ready());
  EXPECT_TRUE(reader.next());
  EXPECT_EQ(reader.line(), "two");
  EXPECT_FALSE(reader.ready());
  EXPECT_EQ(::write(ends[1], "ree\n", 4), 4);
  ::close(ends[1]);
  EXPECT_TRUE(reader.next());
  EXPECT_EQ(reader.line(), "three");
  EXPECT_FALSE(reader.next());
  ::close(ends[0]);
}

TEST_F(LineReaderTest, AnEmptyFirstLineComesAtOnce) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);  // to wait is an error
  EXPECT_EQ(::write(ends[1], "\n", 1), 1);
  LineReader reader = reader_of(ends[0]);
  EXPECT_TRUE(reader.next());
  EXPECT_EQ(reader.line(), "");
  EXPECT_EQ(::write(ends[1], "two\n", 4), 4);
  EXPECT_TRUE(reader.next());
  EXPECT_EQ(reader.line(), "two");
  ::close(ends[0]);
  ::close(ends[1]);
}

// A hundred megabytes follow, of which nothing is unpacked.
TEST_F(LineReaderTest, EndsAtALineThatIsTooLong) {
  const std::string member = gzip(std::string(1 << 20, 'a'));
  std::string bomb = gzip("first\n");
  for (int i = 0; i < 100; ++i) bomb += member;
  const Path path = write("bomb.gz", bomb + "this is no gzip");
  LineReader reader(path, 1000, LongLines::kEndThere);
  EXPECT_TRUE(reader.next());
  EXPECT_EQ(reader.line(), "first");
  EXPECT_TRUE(reader.next());
  EXPECT_TRUE(reader.too_long());
  EXPECT_EQ(reader.number(), 2u);
  EXPECT_FALSE(reader.next());
  LineReader passing(path, 1000);
  EXPECT_THROW(lines_of(passing), FormatError);  // it came to the end
}

}  // namespace
}  // namespace attend
