// Bytes of a connection, in pieces of any size, to one request. Bounded before it is parsed: what
// is kept never exceeds the limits, whatever is sent. Not for use outside serve/.
//
// The grammar is that of Boost.Beast, behind a gate that refuses what servers have been fooled
// with: lines that end in a bare LF or CR, folded lines, control characters, two lengths, a length
// beside an encoding, any encoding but `chunked`.
#pragma once

#include <memory>
#include <string_view>

#include "attend/serve/http_message.h"

namespace attend {

struct HttpRequestLimits {
  size_t header_bytes = 16 << 10;  // with the request line
  size_t header_fields = 100;
  size_t body_bytes = 1 << 20;  // by whatever way it comes
};

class HttpParser {
 public:
  // The handler checks the header before any of the body is taken.
  HttpParser(const HttpRequestLimits& limits, const HttpHandler& handler);
  ~HttpParser();
  HttpParser(const HttpParser&) = delete;
  HttpParser& operator=(const HttpParser&) = delete;

  // Whether the request is whole; what follows it is left aside. Throws HttpRefusal.
  bool feed(std::string_view bytes);

  bool has_head() const;
  bool wants_continue() const;  // the client holds the body back until it is asked for
  HttpRequest take();           // the request, once it is whole

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// What the server answers to these bytes, without a socket: the parser, the handler and its stream,
// all in this thread. The body has all that was streamed.
HttpAnswer answer_bytes(std::string_view bytes, HttpHandler& handler,
                        const HttpRequestLimits& limits = {});

}  // namespace attend
