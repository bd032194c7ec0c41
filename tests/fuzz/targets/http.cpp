// The bytes of a connection, as far as the explorer's routes.
#include <fmt/format.h>

#include "attend/serve/http_parser.h"
#include "attend/serve/routes.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/small_models.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"

namespace attend::fuzz {
namespace {

constexpr uint16_t kPort = 8808;
constexpr std::string_view kToken = "secret";

struct Served {
  Scratch scratch;
  std::unique_ptr<Explorer> explorer;
  std::unique_ptr<ExplorerRoutes> routes;

  Served() {
    save(small_rnn_model("bahdanau"), {scratch.path()});
    const std::filesystem::path paths[] = {scratch.path()};
    explorer = std::make_unique<Explorer>(paths);
    routes = std::make_unique<ExplorerRoutes>(*explorer, std::string(kToken));
    routes->set_port(kPort);
  }
};

std::string request(std::string_view line, std::string_view fields, std::string_view body = "") {
  return fmt::format("{} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{}\r\n{}", line, kPort, fields, body);
}

// As it may arrive: byte by byte, with limits that a short input can exceed.
void feed_slowly(std::string_view bytes, const HttpHandler& handler) {
  HttpParser parser({.header_bytes = 512, .header_fields = 8, .body_bytes = 64}, handler);
  try {
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (!parser.feed(bytes.substr(i, 1))) continue;
      require(parser.has_head(), "a request that is whole has a head");
      parser.wants_continue();
      require(parser.take().body.size() <= 64, "a body is within its limit");
      return;
    }
  } catch (const HttpRefusal& refusal) {
    require(refusal.answer.status >= 400, "a refusal says so");
  }
}

}  // namespace

void take_http(std::string_view bytes) {
  static Served served;
  feed_slowly(bytes, *served.routes);
  const HttpAnswer answer = answer_bytes(bytes, *served.routes);
  require(answer.status >= 200 && answer.status < 600, "an answer has a status");
  const bool knows = bytes.find(kToken) != bytes.npos || bytes.find('%') != bytes.npos;
  require(answer.status != 200 || knows || answer.type.starts_with("text/html"),
          "nothing but the page is told without the token");
}

std::vector<std::string> http_seeds() {
  const std::string token = fmt::format("Authorization: Bearer {}\r\n", kToken);
  const std::string run = R"({"model":0,"texts":{"source":"ab"},"most":3})";
  const std::string length = fmt::format("{}Content-Length: {}\r\n", token, run.size());
  return {
      request("GET /", ""),
      request("GET /api/models", token),
      request(fmt::format("GET /api/models?token={}", kToken), "Origin: http://127.0.0.1:8808\r\n"),
      request("POST /api/runs", length + "Content-Type: application/json\r\n", run),
      request("POST /api/runs", token + "Transfer-Encoding: chunked\r\n",
              fmt::format("{:x};a=b\r\n{}\r\n0\r\nTrailer: x\r\n\r\n", run.size(), run)),
      request("GET /api/runs/1/map?layer=decoder.cross&head=mean",
              token + "Range: bytes=0-1,3-\r\n"),
      request("GET /api/runs/1/sequences?path=%31%2c2", token),
      request("GET /api/runs/1/saliency?method=gradient", token),
      request("GET /api/runs/1/thumbnails?size=24", token),
      request("GET /api/runs/1/lens?top=2", token),
      request("GET /api/runs/1/cell?row=0&column=0", token),
      request("GET /api/runs/1/masked?top=2", token),
      request("GET /api/runs/1/labels?method=leave-out", token),
      request("GET /api/runs/1/change?base=0", token),
      request("GET /api/runs/1", token),
      request("GET /api/snapshots/0", token),
      request("POST /api/models", length + "Content-Type: application/json\r\n", run),
      request("GET /api/nothing/1x", token),
      request("GET /api/training/0?from=1", token),
      request("GET /api/snapshots/0/map?step=1", token),
      request("HEAD /", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"),
      request("POST /api/runs", token + "Expect: 100-continue\r\nContent-Length: 1\r\n", "x"),
      request("OPTIONS *", token + "Content-Encoding: gzip\r\nConnection: keep-alive, upgrade\r\n"),
      "GET / HTTP/1.0\r\n\r\n",
      request("POST /api/runs", length + "Content-Type: application/json\r\n",
              run.substr(0, run.size() - 4)),
      request("POST /api/runs", token + "Content-Type: application/json\r\n"),
      request("POST /api/runs", token + "Content-Type: text/plain\r\nContent-Length: 0\r\n"),
      request("POST /api/runs", length + length),
      request("POST /api/runs", token + "Transfer-Encoding: gzip\r\n"),
      request("POST /api/runs",
              token + "Content-Type: application/json\r\n"
                      "Transfer-Encoding: chunked\r\n",
              "40\r\n" + std::string(64, 'x') + "\r\n1\r\ny\r\n0\r\n\r\n"),
      request("POST /api/runs",
              token + "Content-Type: application/json\r\n"
                      "Transfer-Encoding: chunked\r\n",
              "1;" + std::string(700, 'x')),
      request("POST /api/runs", length + "Content-Type: application/json\r\nExpect: more\r\n"),
      request("GET /api/models?a=%zz&token=secret", ""),
      request("GET /?b&&a+b=%20", "Host: other\r\n"),
      request("GET /" + std::string(600, 'a'), token),
      request("GET /", "a:1\r\nb:2\r\nc:3\r\nd:4\r\ne:5\r\nf:6\r\ng:7\r\nh:8\r\ni:9\r\n"),
      request("GET /", "a: folded\r\n line\r\n"),
      request("GET /", "a: \x01\r\n"),
      request("GET /", "bare: LF\n"),
      request("GET /", "no colon\r\n"),
  };
}

}  // namespace attend::fuzz
