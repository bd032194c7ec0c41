#include "attend/serve/server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "attend/base/base64.h"
#include "attend/base/sha256.h"
#include "attend/io/json_text.h"
#include "attend/serve/page.h"

namespace attend {
namespace {

constexpr size_t kLargestRequest = 1 << 20;
constexpr int kForbidden = 403, kUnknownEncoding = 415;
constexpr int kTooLarge = 413;  // also a form of some kilobytes, to the library
constexpr const char* kJson = "application/json";
constexpr const char* kBytes = "application/octet-stream";

// 'sha256-...' of what stands between two marks of the page.
std::string hash_of(std::string_view begin, std::string_view end) {
  const std::string_view page = explorer_page();
  const size_t from = page.find(begin) + begin.size();
  return "'sha256-" + base64(sha256(page.substr(from, page.find(end, from) - from))) + "'";
}

// What the page may do: run its own script, talk to here, and nothing else.
httplib::Headers headers() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src " + hash_of("<script type=\"module\">", "</script>") +
               "; style-src " + hash_of("<style>", "</style>") +
               "; img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
               "frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Cache-Control", "no-store"}};
}

void fail(httplib::Response& response, int status, std::string_view text) {
  response.status = status;
  response.set_content(json_text({{"error", text}}), kJson);
}

Explorer::Parameters parameters_of(const httplib::Request& request) {
  return {request.params.begin(), request.params.end()};
}

size_t number_in(const httplib::Request& request) { return std::stoul(request.matches[1].str()); }

}  // namespace

struct ExplorerServer::Routes {
  Explorer& explorer;
  httplib::Server http;
  int number = 0;  // of the port, once it is known
  std::atomic<bool> stopping = false;

  explicit Routes(Explorer& asked) : explorer(asked) {
    http.set_payload_max_length(kLargestRequest);
    // One request a connection: the body of one that was refused is not read, and would be taken
    // for the next request, with whatever Host it names.
    http.set_keep_alive_max_count(1);
    http.set_default_headers(headers());
    // Not the library's own, which would share the port with another server.
    http.set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    http.set_pre_routing_handler([this](const auto& request, auto& response) {
      if (!is_ours(request)) {
        fail(response, kForbidden, "this explorer answers its own page on this machine only");
      } else if (request.has_header("Content-Encoding")) {  // the limit is for what was sent
        fail(response, kUnknownEncoding, "requests are taken as they are, not compressed");
      } else {
        return httplib::Server::HandlerResponse::Unhandled;
      }
      return httplib::Server::HandlerResponse::Handled;
    });
    http.set_exception_handler([](const auto&, auto& response, const std::exception_ptr& thrown) {
      try {
        std::rethrow_exception(thrown);
      } catch (const NotFound& error) {
        fail(response, 404, error.what());
      } catch (const Error& error) {
        fail(response, 400, error.what());
      } catch (const std::exception& error) {
        fail(response, 500, error.what());
      }
    });
    http.set_error_handler([](const auto&, auto& response) {
      if (!response.body.empty()) return;
      fail(response, response.status,
           response.status == kTooLarge
               ? "the request is over 1 MB, or was not sent as application/json"
               : "there is nothing here");
    });
    add_page();
    add_training();
    add_runs();
  }

  // A page of another site could name us by another host, or send requests from afar.
  bool is_ours(const httplib::Request& request) const {
    const std::string host = request.get_header_value("Host");
    const std::string from = request.get_header_value("Origin");
    const std::string port = number == 80 ? "" : ":" + std::to_string(number);
    return (host == "127.0.0.1" + port || host == "localhost" + port) &&
           (from.empty() || from == "http://" + host) &&
           (request.get_header_value("Sec-Fetch-Site") != "cross-site" || opens_page(request));
  }

  // A link may stand anywhere; what it leads to tells nothing to where it stands.
  static bool opens_page(const httplib::Request& request) {
    return request.method == "GET" && request.path == "/" &&
           request.get_header_value("Sec-Fetch-Mode") == "navigate" &&
           request.get_header_value("Sec-Fetch-Dest") == "document";
  }

  void add_page() {
    get("/", "text/html; charset=utf-8", [](const auto&) { return std::string(explorer_page()); });
    get("/api/models", kJson, [this](const auto&) { return explorer.models(); });
  }

  void add_training() {
    get(R"(/api/training/(\d{1,6}))", kJson,
        [this](const auto& r) { return explorer.training(number_in(r), parameters_of(r)); });
    get(R"(/api/snapshots/(\d{1,6}))", kJson,
        [this](const auto& r) { return explorer.snapshots(number_in(r)); });
    get(R"(/api/snapshots/(\d{1,6})/map)", kBytes,
        [this](const auto& r) { return explorer.snapshot_map(number_in(r), parameters_of(r)); });
  }

  void add_runs() {
    http.Post("/api/runs", [this](const httplib::Request& request, httplib::Response& response) {
      stream(response, "application/x-ndjson", [this, body = request.body](const auto& emit) {
        explorer.start_run(body, [&](const std::string& line) { return emit(line + "\n"); });
      });
    });
    const std::string run = R"(/api/runs/(\d{1,9}))";
    get(run, kJson, [this](const auto& r) { return explorer.run(number_in(r)); });
    get(run + "/labels", kJson,
        [this](const auto& r) { return explorer.labels(number_in(r), parameters_of(r)); });
    get(run + "/map", kBytes,
        [this](const auto& r) { return explorer.map(number_in(r), parameters_of(r)); });
    get(run + "/thumbnails", kBytes,
        [this](const auto& r) { return explorer.thumbnails(number_in(r), parameters_of(r)); });
    http.Get(run + "/saliency", [this](const auto& request, httplib::Response& response) {
      stream(response, kBytes, explorer.saliency(number_in(request), parameters_of(request)));
    });
  }

  // Sends what a writer writes, as it comes, until the server stops.
  void stream(httplib::Response& response, const char* type, Explorer::Writer write) {
    response.set_chunked_content_provider(
        type, [this, write = std::move(write)](size_t, httplib::DataSink& sink) {
          try {
            write([&](const std::string& bytes) {
              if (stopping) return false;
              return bytes.empty() ? sink.is_writable() : sink.write(bytes.data(), bytes.size());
            });
          } catch (const std::exception&) {
            return false;  // too late for a status; the answer ends before its end
          }
          sink.done();
          return true;
        });
  }

  void get(const std::string& path, const char* type,
           const std::function<std::string(const httplib::Request&)>& answer) {
    http.Get(path, [answer, type](const httplib::Request& request, httplib::Response& response) {
      response.set_content(answer(request), type);
    });
  }
};

ExplorerServer::ExplorerServer(Explorer& explorer, uint16_t port)
    : routes_(std::make_unique<Routes>(explorer)) {
  constexpr const char* kHere = "127.0.0.1";
  const int bound = port == 0 ? routes_->http.bind_to_any_port(kHere)
                    : routes_->http.bind_to_port(kHere, port) ? port
                                                              : -1;
  if (bound <= 0) {
    throw IoError(
        "explore: port {} of 127.0.0.1 is in use or not allowed; choose another, or 0 for any that "
        "is free",
        port);
  }
  port_ = static_cast<uint16_t>(bound);
  routes_->number = bound;
}

ExplorerServer::~ExplorerServer() = default;

void ExplorerServer::run() {
  running_ = true;
  if (!routes_->stopping) routes_->http.listen_after_bind();
  running_ = false;
}

// The library forgets a stop that comes before it listens.
void ExplorerServer::stop() {
  routes_->stopping = true;
  while (running_ && !routes_->http.is_running()) std::this_thread::yield();
  routes_->http.stop();
}

}  // namespace attend
