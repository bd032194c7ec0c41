// The explorer over HTTP, for this machine alone: 127.0.0.1, and only for pages that came from it.
#pragma once

#include <string>

#include "attend/serve/http_server.h"
#include "attend/serve/routes.h"

namespace attend {

// A secret by which the page proves that it was opened by who started the explorer: 192 random bits
// of the system, in hex. Throws IoError where it has none.
std::string new_token();

class ExplorerServer {
 public:
  // Takes the port, 0 for any that is free. Throws IoError where it is in use. With an empty token
  // whoever can log in to this machine can read the page.
  ExplorerServer(Explorer& explorer, uint16_t port, std::string token);

  uint16_t port() const { return http_.port(); }
  std::string address() const;   // of the page, with the token
  void run() { http_.run(); }    // until stop()
  void stop() { http_.stop(); }  // from any thread

 private:
  std::string token_;
  ExplorerRoutes routes_;
  HttpServer http_;
};

}  // namespace attend
