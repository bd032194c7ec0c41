// To whom the explorer answers over HTTP, and how.
#include "attend/serve/server.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "attend/inspect/colour_scale.h"
#include "attend/serve/http_message.h"
#include "tests/serve/explorers.h"
#include "tests/serve/http_client.h"

namespace attend {
namespace {

using Json = nlohmann::json;

class ServerTest : public ExplorerTest {
 protected:
  ~ServerTest() override {
    server_.stop();
    thread_.join();
  }

  // "Host" and "Authorization" as they should be, unless they are given.
  ClientAnswer ask(const std::string& method, const std::string& path,
                   const std::vector<HttpField>& fields = {}, const std::string& body = "") {
    std::string text = method + " " + path + " HTTP/1.1\r\n";
    HttpRequest given{.fields = fields};
    for (const auto& [name, value] : fields) text += name + ": " + value + "\r\n";
    if (given.count("Host") == 0) text += "Host: " + own_ + "\r\n";
    if (given.count("Authorization") == 0) text += "Authorization: Bearer " + token_ + "\r\n";
    if (method == "POST") text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return answer_to(server_.port(), text + "\r\n" + body);
  }
  ClientAnswer get(const std::string& path, const std::vector<HttpField>& fields = {}) {
    return ask("GET", path, fields);
  }
  ClientAnswer post(const std::string& path, const std::string& body,
                    std::vector<HttpField> fields = {}) {
    fields.emplace_back("Content-Type", "application/json");
    return ask("POST", path, fields, body);
  }

  std::string token_ = new_token();
  ExplorerServer server_{explorer_, 0, token_};
  std::string own_ = "127.0.0.1:" + std::to_string(server_.port());
  std::thread thread_{[this] { server_.run(); }};
};

TEST_F(ServerTest, ServesThePageUnderAStrictPolicy) {
  const ClientAnswer page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.field("Content-Type"), "text/html; charset=utf-8");
  const std::string policy = page.field("Content-Security-Policy");
  EXPECT_TRUE(policy.starts_with("default-src 'none'; script-src 'sha256-"));
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_EQ(page.field("Referrer-Policy"), "no-referrer");
  EXPECT_EQ(page.body.find("src=\""), std::string::npos);  // one request to start
  EXPECT_LT(page.body.size(), 300'000u);
  EXPECT_EQ(get("/nothing.js").status, 404);
  EXPECT_EQ(get("/../CMakeLists.txt").status, 404);
  for (const ClientAnswer& refused :
       {get("/nothing"), get("/", {{"Host", "evil.example"}}), answer_to(server_.port(), "\n")}) {
    EXPECT_EQ(refused.field("Content-Security-Policy"), policy);
  }
}

TEST_F(ServerTest, ThePageHasTheColoursOfPictures) {
  const std::string page = get("/").body;
  for (const Theme theme : {Theme::kLight, Theme::kDark}) {
    for (size_t i = 1; i < kAnchors; ++i) {
      EXPECT_NE(page.find(colours_above(theme)[i].text()), std::string::npos);
      EXPECT_NE(page.find(colours_below(theme)[i].text()), std::string::npos);
    }
  }
}

TEST_F(ServerTest, StreamsARun) {
  const ClientAnswer answer = post("/api/runs", R"({"texts": {"source": "abc"}})");
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.is_whole);
  EXPECT_EQ(answer.field("Content-Type"), "application/x-ndjson");
  const std::string last = answer.body.substr(answer.body.rfind("{\"event\""));
  EXPECT_EQ(Json::parse(last)["event"], "done");
  EXPECT_EQ(get("/api/runs/1").status, 200);
  EXPECT_EQ(get("/api/runs/1/sequences").status, 200);
  EXPECT_EQ(get("/api/runs/1/map?layer=decoder.0.cross&head=0").status, 200);
  EXPECT_EQ(get("/api/runs/1/map?reduction=rollout&queries=source&keys=source").status, 200);
  EXPECT_EQ(get("/api/runs/1/map?reduction=mean&queries=source&keys=target").status, 400);
  EXPECT_EQ(get("/api/runs/1/thumbnails?size=8").status, 200);
  EXPECT_EQ(get("/api/runs/1/map?layer=none").status, 400);
  EXPECT_EQ(get("/api/runs/77").status, 404);
  EXPECT_EQ(get("/api/training/0").status, 200);
  EXPECT_EQ(get("/api/snapshots/0").status, 200);
}

TEST_F(ServerTest, StreamsSaliency) {
  post("/api/runs", R"({"texts": {"source": "abc"}, "output": "ef"})");
  const ClientAnswer map = get("/api/runs/1/saliency?method=gradient");
  EXPECT_EQ(map.status, 200);
  EXPECT_EQ(map.body.size(), 8u + 4 * 3 * 4);  // extents; each token and its end
  EXPECT_EQ(get("/api/runs/1/saliency?method=lime").status, 400);
  EXPECT_EQ(get("/api/runs/1/saliency?keys=target").body.size(), 8u + 4 * 3 * 3);
  EXPECT_EQ(get("/api/runs/1/saliency?keys=text").status, 400);
  EXPECT_EQ(get("/api/runs/77/saliency").status, 404);
}

TEST_F(ServerTest, NumbersOutOfRangeAreRefused) {
  post("/api/runs", R"({"texts": {"source": "abc"}})");
  for (const std::string number :
       {"x", "-1", "1.5", "9223372036854775808", "99999999999999999999", "1e3", "%00", ""}) {
    EXPECT_EQ(get("/api/training/0?from=" + number).status, 400) << number;
    EXPECT_EQ(get("/api/snapshots/0/map?layer=a&step=" + number).status, 400) << number;
    EXPECT_EQ(get("/api/runs/1/thumbnails?size=" + number).status, 400) << number;
    EXPECT_EQ(get("/api/runs/1/map?layer=decoder.0.cross&head=" + number).status, 400) << number;
  }
  EXPECT_EQ(get("/api/runs/1/map?path=-1").status, 400);
  EXPECT_EQ(get("/api/runs/1/map?path=9223372036854775807").status, 404);
  EXPECT_EQ(get("/api/training/0?from=9223372036854775807").status, 200);
  for (const std::string path : {"/api/runs/99999999999999999999", "/api/runs/-1", "/api/runs/",
                                 "/api/runs/1/", "/api/models/", "/api/training/x", "//"}) {
    EXPECT_EQ(get(path).status, 404) << path;
  }
  const std::string error =
      Json::parse(get("/api/training/0?from=" + std::string(9000, '9')).body)["error"];
  EXPECT_LT(error.size(), 200u);
}

TEST_F(ServerTest, SaysHowAnAddressIsAskedFor) {
  const ClientAnswer answer = get("/api/runs");
  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(answer.field("Allow"), "POST");
  EXPECT_EQ(post("/api/models", "{}").status, 405);
  EXPECT_EQ(ask("DELETE", "/api/runs/1").status, 405);
  EXPECT_EQ(Json::parse(get("/nothing").body)["error"], "there is nothing here");
}

TEST_F(ServerTest, AnswersItsOwnPageOnly) {
  EXPECT_EQ(get("/api/models", {{"Origin", "http://" + own_}}).status, 200);
  EXPECT_EQ(get("/api/models", {{"Sec-Fetch-Site", "same-origin"}}).status, 200);
  EXPECT_EQ(get("/api/models", {{"Host", "evil.example"}}).status, 403);
  EXPECT_EQ(get("/api/models", {{"Host", "127.0.0.1:1"}}).status, 403);
  EXPECT_EQ(get("/api/models", {{"Origin", "http://evil.example"}}).status, 403);
  EXPECT_EQ(get("/api/models", {{"Origin", "null"}}).status, 403);
  EXPECT_EQ(get("/api/models", {{"Sec-Fetch-Site", "cross-site"}}).status, 403);
  // Another port of this machine, which may be another person's.
  EXPECT_EQ(get("/api/models", {{"Sec-Fetch-Site", "same-site"}}).status, 403);
}

TEST_F(ServerTest, ALinkMayLeadToThePage) {
  const auto link = [](const char* mode, const char* destination) {
    return std::vector<HttpField>{{"Sec-Fetch-Site", "cross-site"},
                                  {"Sec-Fetch-Mode", mode},
                                  {"Sec-Fetch-Dest", destination}};
  };
  EXPECT_EQ(get("/", link("navigate", "document")).status, 200);
  EXPECT_EQ(get("/", link("navigate", "iframe")).status, 403);
  EXPECT_EQ(get("/", link("no-cors", "document")).status, 403);
  EXPECT_EQ(get("/", link("no-cors", "script")).status, 403);
  EXPECT_EQ(get("/api/models", link("navigate", "document")).status, 403);
  auto elsewhere = link("navigate", "document");
  elsewhere.emplace_back("Host", "evil.example");
  EXPECT_EQ(get("/", elsewhere).status, 403);
  EXPECT_EQ(post("/", "", link("navigate", "document")).status, 403);
  EXPECT_EQ(post("/api/runs", R"({"texts": {"source": "a"}})", link("navigate", "document")).status,
            403);
}

TEST_F(ServerTest, NothingIsToldWithoutTheToken) {
  EXPECT_EQ(server_.address(), "http://" + own_ + "/?token=" + token_);
  EXPECT_EQ(get("/api/models?token=" + token_, {{"Authorization", ""}}).status, 200);
  EXPECT_EQ(get("/", {{"Authorization", ""}}).status, 200);  // has nothing of a model in it
  std::string almost = token_;
  almost.back() = almost.back() == '0' ? '1' : '0';
  for (const std::string& wrong :
       {std::string(), almost, token_.substr(1), token_ + "0", std::string(1000, '0')}) {
    for (const std::string path : {"/api/models", "/api/runs/1", "/api/training/0", "/nothing"}) {
      const ClientAnswer answer =
          get(path + "?token=" + wrong, {{"Authorization", "Bearer " + wrong}});
      EXPECT_EQ(answer.status, 401);
      EXPECT_NE(answer.body.find("`attend explore` printed"), std::string::npos);
    }
    EXPECT_EQ(post("/api/runs", R"({"texts": {"source": "a"}})", {{"Authorization", wrong}}).status,
              401);
  }
}

TEST_F(ServerTest, TokensAreNotAlike) {
  const std::string other = new_token();
  EXPECT_EQ(other.size(), 48u);
  EXPECT_EQ(other.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(other, token_);
}

TEST_F(ServerTest, GoesWithoutATokenWhereAsked) {
  ExplorerServer open(explorer_, 0, "");
  std::thread thread([&] { open.run(); });
  EXPECT_EQ(open.address(), "http://127.0.0.1:" + std::to_string(open.port()) + "/");
  const std::string host = "Host: 127.0.0.1:" + std::to_string(open.port()) + "\r\n\r\n";
  EXPECT_EQ(answer_to(open.port(), "GET /api/models HTTP/1.1\r\n" + host).status, 200);
  open.stop();
  thread.join();
}

// What comes after a refusal on the same connection is the body that was refused.
TEST_F(ServerTest, ABodyIsNotTakenForARequest) {
  const std::string hidden = "GET / HTTP/1.1\r\nHost: " + own_ + "\r\n\r\n";
  HttpClient client(server_.port());
  client.send("POST /api/runs HTTP/1.1\r\nHost: " + own_ + "\r\nOrigin: http://evil.example\r\n" +
              "Content-Length: " + std::to_string(hidden.size()) + "\r\n\r\n");
  std::string answers = client.receive();
  client.send(hidden);
  for (std::string more = answers; !more.empty(); more = client.receive()) answers += more;
  EXPECT_TRUE(answers.starts_with("HTTP/1.1 403"));
  EXPECT_EQ(answers.find("HTTP/1.1 200"), std::string::npos) << answers;
}

TEST_F(ServerTest, RefusesBodiesOfOtherKinds) {
  EXPECT_EQ(post("/api/runs", "anything", {{"Content-Encoding", "gzip"}}).status, 415);
  EXPECT_EQ(ask("POST", "/api/runs", {{"Content-Type", "text/plain"}}, "{}").status, 415);
  EXPECT_EQ(ask("POST", "/api/runs", {}, "{}").status, 415);
  const ClientAnswer large = post("/api/runs", std::string(2 << 20, ' '));
  EXPECT_EQ(large.status, 413);
  EXPECT_EQ(Json::parse(large.body)["error"], "the request's body is over 1048576 bytes");
}

}  // namespace
}  // namespace attend
