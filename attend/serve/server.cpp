#include "attend/serve/server.h"

#include <fmt/ranges.h>
#include <sys/random.h>

#include <array>

#include "attend/base/error.h"
#include "attend/serve/http_server.h"
#include "attend/serve/routes.h"

namespace attend {

std::string new_token() {
  std::array<unsigned char, 24> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw IoError("explore: the system has no random numbers for a token; try --no-token");
  }
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

struct ExplorerServer::Parts {
  std::string token;
  ExplorerRoutes routes;
  HttpServer http;

  Parts(Explorer& explorer, uint16_t port, std::string given)
      : token(std::move(given)),
        routes(explorer, token),
        http(routes,
             {.port = port, .lanes = ExplorerRoutes::lanes(), .fields = ExplorerRoutes::fields()}) {
    routes.set_port(http.port());
  }
};

ExplorerServer::ExplorerServer(Explorer& explorer, uint16_t port, std::string token)
    : parts_(std::make_unique<Parts>(explorer, port, std::move(token))) {}

ExplorerServer::~ExplorerServer() = default;

uint16_t ExplorerServer::port() const { return parts_->http.port(); }

std::string ExplorerServer::address() const {
  const std::string& token = parts_->token;
  return fmt::format("http://127.0.0.1:{}/{}{}", port(), token.empty() ? "" : "?token=", token);
}

void ExplorerServer::run() { parts_->http.run(); }
void ExplorerServer::stop() { parts_->http.stop(); }

}  // namespace attend
