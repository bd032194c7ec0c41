// HTTP/1.1 on 127.0.0.1. One thread moves the bytes of all connections and never blocks; work is
// done in lanes (http_lane.h). Bytes, fields, connections, waiting work and time are all bounded.
// Not for use outside serve/.
//
// A connection is for one request: nothing that follows a request, such as a body that was refused,
// can be taken for another one. Ranges are not served.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "attend/serve/http_lane.h"
#include "attend/serve/http_message.h"
#include "attend/serve/http_parser.h"

namespace attend {

struct HttpServerOptions {
  uint16_t port = 0;         // 0: any that is free
  HttpRequestLimits limits;  // of one request
  std::vector<HttpLaneOptions> lanes = {{}};
  std::vector<HttpField> fields;  // of every answer
  // Past these, the connection that has been open longest without an answer in the making is
  // closed; where there is none, the new one gets 503.
  size_t connections = 256;
  size_t answer_bytes = 256 << 20;  // that clients have not read yet; past these, 503

  using Milliseconds = std::chrono::milliseconds;
  Milliseconds header_time{10'000};  // for all of it, from the start of the connection
  Milliseconds body_time{30'000};    // for all of it
  Milliseconds send_time{30'000};    // for the client to take 64 KB
  Milliseconds linger_time{2'000};   // for it to close, once it has its answer
};

class HttpServer {
 public:
  // Listens; throws IoError where the port is in use. The handler outlives the server.
  HttpServer(HttpHandler& handler, HttpServerOptions options);
  ~HttpServer();

  uint16_t port() const;
  // Serves until stop(). An exception of a handler, also for want of memory, ends its request only.
  void run();
  // From any thread, also before run(). Streams end at what they emit next.
  void stop();

 private:
  struct Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace attend
