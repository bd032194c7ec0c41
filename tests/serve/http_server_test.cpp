// The server's bounds, over real sockets.
#include "attend/serve/http_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <thread>

#include "attend/base/error.h"
#include "tests/errors.h"
#include "tests/serve/http_client.h"

namespace attend {
namespace {

using std::chrono::milliseconds;

constexpr size_t kQuick = 0, kLong = 1;
const std::string kHost = " HTTP/1.1\r\nHost: here\r\n";

// Work of every kind.
class Paths : public HttpHandler {
 public:
  void check(const HttpRequest& head) const override {
    if (head.path == "/check-throws") throw std::bad_alloc();
  }

  HttpTask task(HttpRequest request) override {
    const std::string path = request.path;
    if (path == "/task-throws") throw std::bad_alloc();
    if (path == "/work-throws") return {kQuick, []() -> HttpAnswer { throw std::bad_alloc(); }};
    if (path == "/large") return text(std::string(8 << 20, 'x'));
    if (path == "/wait") {
      return {kLong, [this] {
                ++waiting;
                go_on.wait();
                return HttpAnswer{.body = "waited"};
              }};
    }
    if (path == "/stream-throws") {
      return stream([](const HttpEmit& emit) {
        emit("begun");
        throw std::bad_alloc();
      });
    }
    if (path == "/numbers") {
      return stream([](const HttpEmit& emit) {
        for (int i = 0; i < 100'000; ++i) emit(std::to_string(i) + "\n");
      });
    }
    if (path == "/endless")
      return stream([this](const HttpEmit& emit) { go_on_for(emit, "more\n"); });
    if (path == "/silent") return stream([this](const HttpEmit& emit) { go_on_for(emit, ""); });
    return text(request.body.empty() ? "quick" : request.body);
  }

  std::atomic<int> waiting = 0, streaming = 0, ended = 0;
  std::latch go_on{1};

 private:
  static HttpTask text(std::string body) {
    return {kQuick, [body = std::move(body)] { return HttpAnswer{.body = body}; }};
  }
  static HttpTask stream(std::function<void(const HttpEmit&)> write) {
    return {kLong, [write = std::move(write)] { return HttpAnswer{.stream = write}; }};
  }
  void go_on_for(const HttpEmit& emit, const std::string& bytes) {
    ++streaming;
    while (emit(bytes)) std::this_thread::yield();
    ++ended;
  }
};

class HttpServerTest : public ::testing::Test {
 protected:
  ~HttpServerTest() override { stop(); }

  void start(HttpServerOptions options = {}) {
    if (options.lanes.size() == 1) options.lanes = {{}, {.threads = 4}};
    server_ = std::make_unique<HttpServer>(paths_, options);
    thread_ = std::thread([this] { server_->run(); });
  }
  void stop() {
    if (paths_.go_on.try_wait() == false) paths_.go_on.count_down();
    if (!server_) return;
    server_->stop();
    if (thread_.joinable()) thread_.join();
  }

  static std::string get(const std::string& path) { return "GET " + path + kHost + "\r\n"; }
  ClientAnswer ask(const std::string& path) { return answer_to(server_->port(), get(path)); }
  std::unique_ptr<HttpClient> connect(const std::string& bytes) {
    auto client = std::make_unique<HttpClient>(server_->port());
    client->send(bytes);
    return client;
  }
  // Waits for as long as a test may take.
  static void wait_until(const std::function<bool()>& holds) {
    while (!holds()) std::this_thread::sleep_for(milliseconds(1));
  }

  Paths paths_;
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
};

TEST_F(HttpServerTest, Answers) {
  start({.fields = {{"X-All", "yes"}}});
  const ClientAnswer quick = ask("/");
  EXPECT_EQ(quick.status, 200);
  EXPECT_EQ(quick.body, "quick");
  EXPECT_EQ(quick.field("X-All"), "yes");
  EXPECT_EQ(quick.field("Connection"), "close");
  EXPECT_EQ(ask("/large").body.size(), 8u << 20);
  const ClientAnswer stream = ask("/numbers");
  EXPECT_TRUE(stream.is_whole);
  EXPECT_TRUE(stream.body.ends_with("\n99999\n"));
  EXPECT_EQ(answer_to(server_->port(), "nonsense\r\n\r\n").field("X-All"), "yes");
}

TEST_F(HttpServerTest, KnowsOtherClients) {
  start();
  const ClientAnswer head = answer_to(server_->port(), "HEAD /large" + kHost + "\r\n");
  EXPECT_EQ(head.field("Content-Length"), std::to_string(8 << 20));
  EXPECT_EQ(head.body, "");
  const ClientAnswer old = answer_to(server_->port(), "GET /numbers HTTP/1.0\r\n\r\n");
  EXPECT_EQ(old.field("Transfer-Encoding"), "");
  EXPECT_TRUE(old.body.ends_with("\n99999\n"));
  const auto careful =
      connect("POST /" + kHost + "Content-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(careful->receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  careful->send("abc");
  EXPECT_EQ(careful->answer().body, "abc");
}

TEST_F(HttpServerTest, IgnoresRanges) {
  start();
  std::string ranges = "Range: bytes=0-0";
  for (int i = 0; i < 2690; ++i) ranges += ",0-";
  const ClientAnswer answer =
      answer_to(server_->port(), "GET /large" + kHost + ranges + "\r\n\r\n");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body.size(), 8u << 20);
}

TEST_F(HttpServerTest, AConnectionIsForOneRequest) {
  start();
  const ClientAnswer both = answer_to(server_->port(), get("/") + get("/"));
  EXPECT_TRUE(both.is_whole);  // and nothing after it
  const ClientAnswer refused =
      answer_to(server_->port(), "POST /" + kHost + "Content-Length: 9999999\r\n\r\n" + get("/"));
  EXPECT_EQ(refused.status, 413);
  EXPECT_TRUE(refused.is_whole);
}

// Also where the client sends all of it first, and reads the answer then.
TEST_F(HttpServerTest, ARefusedBodyHasItsAnswer) {
  start();
  const std::string body(3 << 20, ' ');
  EXPECT_EQ(answer_to(server_->port(), "POST /" + kHost + "Content-Length: 3145728\r\n\r\n" + body)
                .status,
            413);
}

TEST_F(HttpServerTest, ASlowHeaderIsCutOff) {
  start({.header_time = milliseconds(50)});
  EXPECT_EQ(connect("GET / HT")->answer().status, 408);
  EXPECT_EQ(connect("")->answer().status, 408);
  const auto client = connect("GET / HTTP/1.1\r\nX: ");
  while (client->send("x")) std::this_thread::sleep_for(milliseconds(1));  // it is not per byte
  EXPECT_EQ(ask("/").status, 200);
}

TEST_F(HttpServerTest, ASlowBodyIsCutOff) {
  start({.body_time = milliseconds(50)});
  const auto client = connect("POST /" + kHost + "Content-Length: 1000000\r\n\r\n");
  while (client->send("x")) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(ask("/").status, 200);
}

TEST_F(HttpServerTest, AnEndlessHeaderIsCutOff) {
  start();
  const std::string piece(1 << 16, 'x');
  for (const std::string begin : {"GET / HTTP/1.1\r\nX: ", "GET /", ""}) {
    const auto client = connect(begin);
    for (int sent = 0; client->send(piece); ++sent) ASSERT_LT(sent, 10'000);
  }
  const auto client = connect("GET / HTTP/1.1\r\n");
  std::string fields;
  for (int i = 0; i < 10'000; ++i) fields += "X: y\r\n";
  for (int sent = 0; client->send(fields); ++sent) ASSERT_LT(sent, 10'000);
  EXPECT_EQ(answer_to(server_->port(), get("/") + fields).status, 200);
}

TEST_F(HttpServerTest, WhoDoesNotReadIsCutOff) {
  start({.send_time = milliseconds(50)});
  const auto client = connect(get("/endless"));
  wait_until([&] { return paths_.ended == 1; });
}

TEST_F(HttpServerTest, AStreamEndsWithItsClient) {
  start();
  for (const std::string path : {"/endless", "/silent"}) {
    const int before = paths_.ended;
    auto client = connect(get(path));
    client->receive();
    client.reset();
    wait_until([&] { return paths_.ended > before; });
  }
}

TEST_F(HttpServerTest, OneConnectionTooManyTakesThePlaceOfAnIdleOne) {
  start({.connections = 4});
  std::vector<std::unique_ptr<HttpClient>> idle;
  for (int i = 0; i < 4; ++i) idle.push_back(connect("GET "));
  EXPECT_EQ(ask("/").status, 200);
  EXPECT_EQ(idle.front()->receive(), "");  // the oldest was closed
  idle.back()->send("/ HTTP/1.1\r\n\r\n");
  EXPECT_EQ(idle.back()->answer().body, "quick");
}

TEST_F(HttpServerTest, ConnectionsThatAreWorkedForKeepTheirPlace) {
  start({.connections = 2});
  const auto first = connect(get("/wait")), second = connect(get("/wait"));
  wait_until([&] { return paths_.waiting == 2; });
  const ClientAnswer third = answer_to(server_->port(), "");
  EXPECT_TRUE(third.status == 503 || third.status == 0);
  paths_.go_on.count_down();
  EXPECT_EQ(first->answer().body, "waited");
  EXPECT_EQ(second->answer().body, "waited");
}

TEST_F(HttpServerTest, AFullLaneSaysSoAndOthersGoOn) {
  start({.lanes = {{}, {.threads = 1, .waiting = 1}}});
  const auto running = connect(get("/wait"));
  wait_until([&] { return paths_.waiting == 1; });
  auto waits = connect(get("/numbers")), refused = connect(get("/numbers"));
  wait_until([&] { return waits->has_answer() || refused->has_answer(); });
  if (waits->has_answer()) std::swap(waits, refused);  // the second came first
  const ClientAnswer busy = refused->answer();
  EXPECT_EQ(busy.status, 503);
  EXPECT_NE(busy.body.find("busy"), std::string::npos);
  EXPECT_EQ(ask("/").status, 200);
  EXPECT_FALSE(waits->has_answer());
  paths_.go_on.count_down();
  EXPECT_EQ(running->answer().body, "waited");
  EXPECT_TRUE(waits->answer().is_whole);
}

TEST_F(HttpServerTest, AnExceptionEndsItsRequestOnly) {
  start();
  for (const std::string path : {"/check-throws", "/task-throws", "/work-throws"}) {
    EXPECT_EQ(ask(path).status, 500) << path;
  }
  const ClientAnswer cut = ask("/stream-throws");
  EXPECT_EQ(cut.status, 200);
  EXPECT_EQ(cut.body, "begun");
  EXPECT_FALSE(cut.is_whole);
  EXPECT_EQ(ask("/").status, 200);
}

TEST_F(HttpServerTest, AnswersThatNobodyReadsAreBounded) {
  start({.answer_bytes = 10 << 20});
  const auto first = connect(get("/large"));
  EXPECT_EQ(first->receive().substr(9, 3), "200");
  wait_until([&] { return ask("/large").status == 503; });
  EXPECT_EQ(ask("/").status, 200);
}

TEST_F(HttpServerTest, StopsFromAnyThread) {
  start();
  const auto reads_nothing = connect(get("/endless")), waits = connect(get("/silent"));
  wait_until([&] { return paths_.streaming == 2; });
  stop();
  EXPECT_EQ(paths_.ended, 2);
  HttpServer early(paths_, {});
  early.stop();
  early.run();  // and comes back
}

TEST_F(HttpServerTest, APortInUseIsAnError) {
  start();
  expect_error<IoError>([&] { const HttpServer second(paths_, {.port = server_->port()}); },
                        "is in use");
}

}  // namespace
}  // namespace attend
