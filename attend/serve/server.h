// The explorer over HTTP, for this machine alone: on 127.0.0.1, and only for its own page.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "attend/serve/explorer.h"

namespace attend {

// A new secret that the page must present: 192 random bits from the system, in hex. Throws IoError
// if the system provides none.
std::string new_token();

// Serves an Explorer, which must outlive it.
class ExplorerServer {
 public:
  // Opens the port; 0: any free one. Throws IoError if it is in use. With an empty token, every
  // user of this machine can read the page.
  ExplorerServer(Explorer& explorer, uint16_t port, std::string token);
  ~ExplorerServer();

  uint16_t port() const;        // that was opened
  std::string address() const;  // of the page, with the token
  void run();                   // serves until stop()
  void stop();                  // may be called from any thread

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace attend
