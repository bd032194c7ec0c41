// The explorer over HTTP, for this machine alone: 127.0.0.1, and only for pages that came from it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "attend/serve/explorer.h"

namespace attend {

// A secret by which the page proves that it was opened by who started the explorer: 192 random bits
// of the system, in hex. Throws IoError where it has none.
std::string new_token();

class ExplorerServer {
 public:
  // Takes the port, 0 for any that is free. Throws IoError where it is in use. With an empty token
  // whoever can log in to this machine can read the page.
  ExplorerServer(Explorer& explorer, uint16_t port, std::string token);
  ~ExplorerServer();

  uint16_t port() const;
  std::string address() const;  // of the page, with the token
  void run();                   // until stop()
  void stop();                  // from any thread

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace attend
