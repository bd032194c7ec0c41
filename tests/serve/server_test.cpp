// To whom the explorer answers over HTTP, and how.
#include "attend/serve/server.h"

#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "attend/inspect/colour_scale.h"
#include "tests/errors.h"
#include "tests/serve/explorers.h"

namespace attend {
namespace {

using Json = nlohmann::json;

class ServerTest : public ExplorerTest {
 protected:
  ServerTest() : thread_([this] { server_.run(); }) {
    while (!client_.Get("/api/models")) std::this_thread::yield();
  }
  ~ServerTest() override {
    server_.stop();
    thread_.join();
  }

  ExplorerServer server_{explorer_, 0};
  httplib::Client client_{"127.0.0.1", server_.port()};
  std::thread thread_;
};

TEST_F(ServerTest, ServesThePageUnderAStrictPolicy) {
  const auto page = client_.Get("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_EQ(page->get_header_value("Content-Type"), "text/html; charset=utf-8");
  const std::string policy = page->get_header_value("Content-Security-Policy");
  EXPECT_NE(policy.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_EQ(page->body.find("src=\""), std::string::npos);  // one request to start
  EXPECT_LT(page->body.size(), 300'000u);
  EXPECT_EQ(client_.Get("/nothing.js")->status, 404);
  EXPECT_EQ(client_.Get("/../CMakeLists.txt")->status, 404);
}

TEST_F(ServerTest, ThePageHasTheColoursOfPictures) {
  const std::string page = client_.Get("/")->body;
  for (const Theme theme : {Theme::kLight, Theme::kDark}) {
    for (size_t i = 1; i < kAnchors; ++i) {
      EXPECT_NE(page.find(colours_above(theme)[i].text()), std::string::npos);
      EXPECT_NE(page.find(colours_below(theme)[i].text()), std::string::npos);
    }
  }
}

TEST_F(ServerTest, StreamsARun) {
  const auto answer = client_.Post("/api/runs", R"({"source": "abc"})", "application/json");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->get_header_value("Content-Type"), "application/x-ndjson");
  const std::string last = answer->body.substr(answer->body.rfind("{\"event\""));
  EXPECT_EQ(Json::parse(last)["event"], "done");
  EXPECT_EQ(client_.Get("/api/runs/1")->status, 200);
  EXPECT_EQ(client_.Get("/api/runs/1/map?layer=decoder.0.cross&head=0")->status, 200);
  EXPECT_EQ(client_.Get("/api/runs/1/map?layer=none")->status, 400);
  EXPECT_EQ(client_.Get("/api/runs/77")->status, 404);
  EXPECT_EQ(client_.Get("/api/training/0?from=x")->status, 400);
}

TEST_F(ServerTest, StreamsSaliency) {
  client_.Post("/api/runs", R"({"source": "abc", "target": "ef"})", "application/json");
  const auto map = client_.Get("/api/runs/1/saliency?method=gradient");
  ASSERT_TRUE(map);
  EXPECT_EQ(map->status, 200);
  EXPECT_EQ(map->body.size(), 8u + 4 * 3 * 4);  // extents; each token and its end
  EXPECT_EQ(client_.Get("/api/runs/1/saliency?method=lime")->status, 400);
  EXPECT_EQ(client_.Get("/api/runs/77/saliency")->status, 404);
}

TEST_F(ServerTest, AnswersItsOwnPageOnly) {
  const std::string own = "127.0.0.1:" + std::to_string(server_.port());
  EXPECT_EQ(client_.Get("/api/models", {{"Host", own}, {"Origin", "http://" + own}})->status, 200);
  EXPECT_EQ(client_.Get("/api/models", {{"Host", "evil.example"}})->status, 403);
  EXPECT_EQ(client_.Get("/api/models", {{"Host", "127.0.0.1:1"}})->status, 403);
  EXPECT_EQ(client_.Get("/api/models", {{"Host", own}, {"Origin", "http://evil.example"}})->status,
            403);
  EXPECT_EQ(client_.Get("/api/models", {{"Host", own}, {"Origin", "null"}})->status, 403);
  EXPECT_EQ(client_.Get("/api/models", {{"Host", own}, {"Sec-Fetch-Site", "cross-site"}})->status,
            403);
}

TEST_F(ServerTest, ALinkMayLeadToThePage) {
  const std::string own = "127.0.0.1:" + std::to_string(server_.port());
  const auto status = [&](const char* path, const char* mode, const char* destination) {
    return client_
        .Get(path, {{"Host", own},
                    {"Sec-Fetch-Site", "cross-site"},
                    {"Sec-Fetch-Mode", mode},
                    {"Sec-Fetch-Dest", destination}})
        ->status;
  };
  EXPECT_EQ(status("/", "navigate", "document"), 200);
  EXPECT_EQ(status("/", "navigate", "iframe"), 403);
  EXPECT_EQ(status("/", "no-cors", "document"), 403);
  EXPECT_EQ(status("/", "no-cors", "script"), 403);
  EXPECT_EQ(status("/api/models", "navigate", "document"), 403);
  const httplib::Headers link = {{"Sec-Fetch-Site", "cross-site"},
                                 {"Sec-Fetch-Mode", "navigate"},
                                 {"Sec-Fetch-Dest", "document"}};
  httplib::Headers elsewhere = link;
  elsewhere.emplace("Host", "evil.example");
  EXPECT_EQ(client_.Get("/", elsewhere)->status, 403);
  EXPECT_EQ(client_.Post("/", link, "", "application/json")->status, 403);
  EXPECT_EQ(client_.Post("/api/runs", link, R"({"source": "a"})", "application/json")->status, 403);
}

// What comes after a refusal on the same connection is the body that was refused.
TEST_F(ServerTest, ABodyIsNotTakenForARequest) {
  const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_GE(connection, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server_.port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const auto send = [&](const std::string& text) {
    return ::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
  };
  const std::string own = "127.0.0.1:" + std::to_string(server_.port());
  const std::string hidden = "GET /api/models HTTP/1.1\r\nHost: " + own + "\r\n\r\n";
  send("POST /api/runs HTTP/1.1\r\nHost: " + own + "\r\nOrigin: http://evil.example\r\n" +
       "Content-Length: " + std::to_string(hidden.size()) + "\r\n\r\n");
  std::string answers(1 << 16, '\0');
  size_t size = 0;
  for (bool sent = false;; sent = true) {
    const ssize_t read = ::recv(connection, answers.data() + size, answers.size() - size, 0);
    if (read <= 0) break;
    size += static_cast<size_t>(read);
    if (!sent) send(hidden);
  }
  ::close(connection);
  answers.resize(size);
  EXPECT_NE(answers.find("403"), std::string::npos);
  EXPECT_EQ(answers.find("HTTP/1.1 200"), std::string::npos) << answers;
}

TEST_F(ServerTest, RefusesWhatIsCompressed) {
  const auto answer =
      client_.Post("/api/runs", {{"Content-Encoding", "gzip"}}, "anything", "application/json");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 415);
}

TEST_F(ServerTest, SaysThatARequestIsTooLarge) {
  const std::string text = "the request is over 1 MB, or was not sent as application/json";
  const auto large = client_.Post("/api/runs", std::string(2 << 20, ' '), "application/json");
  ASSERT_TRUE(large);
  EXPECT_EQ(large->status, 413);
  EXPECT_EQ(Json::parse(large->body)["error"], text);
  const auto form =
      client_.Post("/api/runs", std::string(1 << 16, ' '), "application/x-www-form-urlencoded");
  ASSERT_TRUE(form);
  EXPECT_EQ(form->status, 413);
  EXPECT_EQ(Json::parse(form->body)["error"], text);
  EXPECT_EQ(Json::parse(client_.Get("/nothing")->body)["error"], "there is nothing here");
}

TEST_F(ServerTest, StopsBeforeItRuns) {
  ExplorerServer early(explorer_, 0);
  early.stop();
  early.run();  // and comes back
}

TEST_F(ServerTest, APortInUseIsAnError) {
  expect_error<IoError>([&] { const ExplorerServer second(explorer_, server_.port()); },
                        "is in use");
}

}  // namespace
}  // namespace attend
