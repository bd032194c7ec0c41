// The explorer over HTTP, for this machine alone: 127.0.0.1, and only for pages that came from it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "attend/serve/explorer.h"

namespace attend {

class ExplorerServer {
 public:
  // Takes the port, 0 for any that is free. Throws IoError where it is in use.
  ExplorerServer(Explorer& explorer, uint16_t port);
  ~ExplorerServer();

  uint16_t port() const { return port_; }
  void run();   // until stop()
  void stop();  // from any thread

 private:
  struct Routes;
  std::unique_ptr<Routes> routes_;
  uint16_t port_ = 0;
  std::atomic<bool> running_ = false;
};

}  // namespace attend
