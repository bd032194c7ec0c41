// What is a request, and what is refused before anything is done for it.
#include "attend/serve/http_parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/damage.h"

namespace attend {
namespace {

// Answers with what it was asked, or streams it.
class Echo : public HttpHandler {
 public:
  void check(const HttpRequest& head) const override {
    if (head.field("Host") != "here") throw HttpRefusal(403, "not here");
  }
  HttpTask task(HttpRequest request) override {
    if (request.path == "/throw") return {0, []() -> HttpAnswer { throw std::bad_alloc(); }};
    if (request.path == "/odd") return {0, []() -> HttpAnswer { throw 7; }};
    last = request;
    return {0, [request = std::move(request)] {
              HttpAnswer answer{.type = "text/plain", .body = request.body};
              if (request.path == "/stream") {
                answer.stream = [](const HttpEmit& emit) { emit("more"); };
              }
              return answer;
            }};
  }

  HttpRequest last;
};

struct HttpParserTest : ::testing::Test {
  int status(const std::string& bytes) { return answer_bytes(bytes, echo).status; }
  static std::string post(const std::string& fields, const std::string& body) {
    return "POST / HTTP/1.1\r\nHost: here\r\n" + fields + "\r\n" + body;
  }

  Echo echo;
};

TEST_F(HttpParserTest, ReadsARequest) {
  const HttpAnswer answer = answer_bytes(
      "POST /a/b?x=1%2C2&y=a+b&x=3&z HTTP/1.1\r\nhOST: here\r\nX:  v \r\nContent-Length: "
      "3\r\n\r\nabcdef",
      echo);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "abc");
  EXPECT_EQ(echo.last.method, "POST");
  EXPECT_EQ(echo.last.path, "/a/b");
  const std::map<std::string, std::string> query = {{"x", "1,2"}, {"y", "a b"}, {"z", ""}};
  EXPECT_EQ(echo.last.query, query);
  EXPECT_EQ(echo.last.field("x"), "v");
  EXPECT_EQ(echo.last.count("Host"), 1u);
}

TEST_F(HttpParserTest, ReadsChunks) {
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  EXPECT_EQ(
      answer_bytes(post(chunked, "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nHost: evil\r\n\r\n"), echo).body,
      "abcde");
  EXPECT_EQ(echo.last.field("Host"), "here");  // not that of the trailer
  EXPECT_EQ(status(post(chunked, "x\r\nabc\r\n0\r\n\r\n")), 400);
  EXPECT_EQ(status(post(chunked, "3\r\nabcd\r\n0\r\n\r\n")), 400);
  EXPECT_EQ(status(post(chunked, "-3\r\nabc\r\n0\r\n\r\n")), 400);
  EXPECT_EQ(status(post(chunked, "fffffffffffffffff\r\nabc\r\n0\r\n\r\n")), 400);
  EXPECT_EQ(status(post(chunked, "3\nabc\n0\n\n")), 400);
}

// However the bytes come, the request is the same.
// However it comes: Beast 1.74 aborts where the first chunk is the last and comes byte by byte.
TEST_F(HttpParserTest, ReadsChunksByteByByte) {
  for (const std::string body : {"0\r\n\r\n", "0\r\nX: y\r\n\r\n", "0;a=b\r\n\r\n",
                                 "1\r\na\r\n0\r\n\r\n", "00000\r\n\r\n"}) {
    const std::string request = post("Transfer-Encoding: chunked\r\n", body);
    for (size_t size = 1; size < 8; ++size) {
      HttpParser parser({}, echo);
      size_t at = 0;
      while (at < request.size() && !parser.feed(std::string_view(request).substr(at, size))) {
        at += size;
      }
      EXPECT_GE(at + size, request.size()) << body;
      EXPECT_EQ(parser.take().body, body[0] == '1' ? "a" : "") << body;
    }
  }
}

TEST_F(HttpParserTest, PiecesOfAnySizeAreTheSame) {
  const std::string request = post("Transfer-Encoding: chunked\r\n",
                                   "3;a=\"b\"\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n");
  for (size_t piece = 1; piece < request.size(); ++piece) {
    HttpParser parser({}, echo);
    for (size_t at = 0; at < request.size(); at += piece) {
      const bool is_whole = parser.feed(request.substr(at, piece));
      ASSERT_EQ(is_whole, at + piece >= request.size()) << piece << " at " << at;
    }
    EXPECT_EQ(parser.take().body, "abc0123456789abcdef");
  }
}

TEST_F(HttpParserTest, RefusesWhatServersWereFooledWith) {
  const std::string chunks = "3\r\nabc\r\n0\r\n\r\n";
  for (const std::string& request : std::vector<std::string>{
           post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", chunks),
           post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", chunks),
           post("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"),
           post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc"),
           post("Content-Length: 3, 4\r\n", "abcd"),
           post("Content-Length: +3\r\n", "abc"),
           post("Content-Length: -3\r\n", "abc"),
           post("Content-Length: 3 3\r\n", "abc"),
           post("Content-Length: 99999999999999999999999\r\n", "abc"),
           post("Content-Length : 3\r\n", "abc"),
           post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", chunks),
           post("Host: other\r\nContent-Length: 3\r\n", "abc"),
           post("X: a\r\n b\r\nContent-Length: 3\r\n", "abc"),
           post("X: a\r\n\tContent-Length: 3\r\n", "abc"),
           post("X: a\nContent-Length: 3\r\n", "abc"),
           post("X: a\rContent-Length: 3\r\n", "abc"),
           post(std::string("X: a\0b\r\nContent-Length: 3\r\n", 26), "abc"),
           post("X: \x1b[2J\r\nContent-Length: 3\r\n", "abc"),
           post("No colon\r\nContent-Length: 3\r\n", "abc"),
           post(": no name\r\nContent-Length: 3\r\n", "abc"),
           std::string("GET / HTTP/1.1\nHost: here\n\n"),
           std::string("\r\nGET / HTTP/1.1\r\nHost: here\r\n\r\n"),
           std::string("GET / HTTP/1.1\r\n Host: here\r\n\r\n"),
           std::string("GET  / HTTP/1.1\r\nHost: here\r\n\r\n"),
           std::string("GET / HTTP/2.0\r\nHost: here\r\n\r\n"),
           std::string("GET /\r\nHost: here\r\n\r\n"),
           std::string("GET http://evil.example/ HTTP/1.1\r\nHost: here\r\n\r\n"),
           std::string("GET /?x=%4 HTTP/1.1\r\nHost: here\r\n\r\n"),
           std::string("\x16\x03\x01\x02\x00\x01", 6)}) {
    EXPECT_EQ(status(request), 400) << request;
  }
  EXPECT_EQ(status(post("Transfer-Encoding: gzip, chunked\r\n", chunks)), 501);
  EXPECT_EQ(status(post("Transfer-Encoding: identity\r\n", "abc")), 501);
  EXPECT_EQ(status("POST / HTTP/1.0\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks),
            501);
  EXPECT_EQ(status(post("Expect: coffee\r\nContent-Length: 3\r\n", "abc")), 417);
}

TEST_F(HttpParserTest, ABodyHasALength) {
  EXPECT_EQ(status(post("", "abc")), 411);
  EXPECT_EQ(status(post("Content-Length: 0\r\n", "")), 200);
  EXPECT_EQ(status(post("Content-Length: 3\r\n", "ab")), 400);  // the end is missing
}

TEST_F(HttpParserTest, BoundsTheHeader) {
  const HttpRequestLimits limits;
  const std::string begin = "GET / HTTP/1.1\r\nHost: here\r\nX: ", end = "\r\n\r\n";
  const std::string most(limits.header_bytes - begin.size() - end.size(), 'x');
  EXPECT_EQ(status(begin + most + end), 200);
  EXPECT_EQ(status(begin + most + "x" + end), 431);
  EXPECT_EQ(status(std::string(1 << 20, 'G')), 431);
  std::string fields;
  for (size_t i = 1; i < limits.header_fields; ++i) fields += "X: y\r\n";
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: here\r\n" + fields + "\r\n"), 200);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: here\r\n" + fields + "X: y\r\n\r\n"), 431);
}

TEST_F(HttpParserTest, BoundsTheBody) {
  const size_t most = HttpRequestLimits().body_bytes;
  const auto sized = [](size_t size) { return "Content-Length: " + std::to_string(size) + "\r\n"; };
  EXPECT_EQ(status(post(sized(most), std::string(most, ' '))), 200);
  EXPECT_EQ(status(post(sized(most + 1), "")), 413);
  EXPECT_EQ(status(post(sized(size_t{1} << 62), "")), 413);
  const auto chunks = [&](size_t size, size_t chunk) {
    std::string text = "Transfer-Encoding: chunked\r\n";
    std::string body;
    for (size_t at = 0; at < size; at += chunk) {
      const size_t here = std::min(chunk, size - at);
      body += fmt::format("{:x}\r\n{}\r\n", here, std::string(here, ' '));
    }
    return post(text, body + "0\r\n\r\n");
  };
  for (const size_t chunk : {size_t{3}, size_t{1000}, most}) {
    EXPECT_EQ(status(chunks(most, chunk)), 200);
    EXPECT_EQ(status(chunks(most + 1, chunk)), 413);
  }
  EXPECT_EQ(status(post("Transfer-Encoding: chunked\r\n", "7fffffffffffffff\r\n")), 413);
  std::string wasteful;  // much around little
  for (int i = 0; i < 5'000; ++i) wasteful += "1;" + std::string(4000, 'x') + "\r\n \r\n";
  EXPECT_EQ(status(post("Transfer-Encoding: chunked\r\n", wasteful)), 413);
  EXPECT_EQ(status(post("Transfer-Encoding: chunked\r\n", "1;" + std::string(1 << 20, 'x'))), 400);
  EXPECT_EQ(status(post("Transfer-Encoding: chunked\r\n", "0\r\nX: " + std::string(1 << 20, 'x'))),
            400);
}

// A stranger's body is not read: the check comes first.
TEST_F(HttpParserTest, ChecksTheHeaderBeforeTheBody) {
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: evil\r\nContent-Length: 99999999\r\n\r\n"), 403);
  EXPECT_EQ(status("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n"), 403);
}

TEST_F(HttpParserTest, AnExceptionIsAnAnswer) {
  EXPECT_EQ(status("GET /throw HTTP/1.1\r\nHost: here\r\n\r\n"), 500);
  EXPECT_EQ(status("GET /odd HTTP/1.1\r\nHost: here\r\n\r\n"), 500);
  EXPECT_EQ(answer_bytes("GET /stream HTTP/1.1\r\nHost: here\r\n\r\n", echo).body, "more");
}

TEST_F(HttpParserTest, DamagedRequestsEndWell) {
  const std::string whole = post("Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n",
                                 "3;a=\"b\"\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nX: y\r\n\r\n");
  std::mt19937 random(1);  // NOLINT: the same every time
  for (int i = 0; i < 20'000; ++i) {
    const std::string request = damaged(whole, random);
    const int at_once = status(request);
    ASSERT_TRUE(at_once == 200 || (at_once >= 400 && at_once < 600)) << request;
  }
}

}  // namespace
}  // namespace attend
