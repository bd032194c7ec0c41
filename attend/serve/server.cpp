#include "attend/serve/server.h"

#include <fmt/ranges.h>
#include <sys/random.h>

#include <array>

#include "attend/base/error.h"

namespace attend {

std::string new_token() {
  std::array<unsigned char, 24> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw IoError("explore: the system has no random numbers for a token; try --no-token");
  }
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

ExplorerServer::ExplorerServer(Explorer& explorer, uint16_t port, std::string token)
    : token_(std::move(token)),
      routes_(explorer, token_),
      http_(routes_,
            {.port = port, .lanes = ExplorerRoutes::lanes(), .fields = ExplorerRoutes::fields()}) {
  routes_.set_port(http_.port());
}

std::string ExplorerServer::address() const {
  return fmt::format("http://127.0.0.1:{}/{}{}", port(), token_.empty() ? "" : "?token=", token_);
}

}  // namespace attend
