#include "attend/serve/http_parser.h"

#include <fmt/format.h>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <limits>

namespace attend {
namespace {

namespace http = boost::beast::http;
using boost::beast::string_view;

// Bytes on the wire for a byte of the body: chunks of one byte have six, and some have extensions.
constexpr size_t kChunkOverhead = 8;

// Bytes of the shortest body in chunks, "0 CR LF CR LF". Beast asserts that it has as many where
// the last chunk comes piece by piece.
constexpr size_t kLeastChunks = 5;

std::string_view std_view(string_view text) { return {text.data(), text.size()}; }

// The value of "%2F"; -1 if it is none.
int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

std::string decoded(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const int high = i + 1 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
    if (high < 0 || low < 0) throw HttpRefusal(400, "'%' in the address needs two hex digits");
    plain += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return plain;
}

std::map<std::string, std::string> query_of(std::string_view text) {
  std::map<std::string, std::string> query;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const size_t name = std::min(pair.find('='), pair.size());
    if (pair.empty()) continue;
    query.try_emplace(decoded(pair.substr(0, name)),
                      name < pair.size() ? decoded(pair.substr(name + 1)) : "");
  }
  return query;
}

// Looks at the bytes of a header one by one.
class Gate {
 public:
  // Whether the header ends with this byte. Throws HttpRefusal.
  bool ends_with(char byte) {
    const bool starts_line = last_ == '\n';
    if (last_ == '\r' ? byte != '\n' : byte == '\n') refuse("a line does not end with CR LF");
    if (starts_line && (byte == ' ' || byte == '\t')) refuse("a header line is folded");
    const auto code = static_cast<unsigned char>(byte);
    if ((code < ' ' && byte != '\r' && byte != '\n' && byte != '\t') || code == 0x7f) {
      refuse("the header has a control character");
    }
    if (byte == '\r') is_empty_line_ = starts_line;
    last_ = byte;
    return byte == '\n' && is_empty_line_;
  }

 private:
  [[noreturn]] static void refuse(std::string_view what) {
    throw HttpRefusal(400, fmt::format("this is not an HTTP request: {}", what));
  }

  char last_ = 0;
  bool is_empty_line_ = false;
};

}  // namespace

struct HttpParser::Parts {
  HttpRequestLimits limits;
  const HttpHandler& handler;
  http::request_parser<http::string_body> grammar;
  Gate gate;
  std::string waiting;  // not yet parsed: the header until it is whole, then the head of a chunk
  bool is_checked = false;  // the header, and what it says of the body
  size_t body_wire_bytes = 0;
  HttpRequest request;

  Parts(const HttpRequestLimits& given, const HttpHandler& checks)
      : limits(given), handler(checks) {
    grammar.header_limit(static_cast<uint32_t>(limits.header_bytes));
    // The limit is for a header that was checked. Not boost::none, which any length exceeds.
    grammar.body_limit(std::numeric_limits<uint64_t>::max());
  }

  bool feed(std::string_view bytes) {
    if (!grammar.is_header_done()) {
      const size_t used = feed_header(bytes);
      if (!grammar.is_header_done()) return false;
      bytes.remove_prefix(used);
    }
    if (!grammar.is_done()) feed_body(bytes);
    return grammar.is_done();
  }

  // How many bytes belong to the header.
  size_t feed_header(std::string_view bytes) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (waiting.size() == limits.header_bytes) {
        throw HttpRefusal(
            431, fmt::format("the request's header is over {} bytes", limits.header_bytes));
      }
      waiting += bytes[i];
      if (!gate.ends_with(bytes[i])) continue;
      parse_waiting();
      if (!grammar.is_header_done()) throw HttpRefusal(400, "this is not an HTTP request");
      read_head();
      handler.check(request);
      check_body();
      return i + 1;
    }
    return bytes.size();
  }

  void parse_waiting() {
    boost::beast::error_code error;
    while (!waiting.empty() && !grammar.is_done() && !error) {
      waiting.erase(0, grammar.put(boost::asio::buffer(waiting), error));
      if (!is_checked) break;  // one call takes a whole header and none of the body
    }
    if (error == http::error::body_limit) refuse_body();
    if (error && error != http::error::need_more) {
      throw HttpRefusal(400, fmt::format("this is not an HTTP request: {}", error.message()));
    }
  }

  void read_head() {
    const auto& message = grammar.get();
    const std::string_view target = std_view(message.target());
    if (!target.starts_with('/')) throw HttpRefusal(400, "the request's address is not a path");
    const size_t path = std::min(target.find('?'), target.size());
    request.method = std_view(message.method_string());
    request.path = target.substr(0, path);
    if (path < target.size()) request.query = query_of(target.substr(path + 1));
    request.is_http_1_0 = message.version() == 10;
    for (const auto& field : message) {
      if (request.fields.size() == limits.header_fields) {
        throw HttpRefusal(
            431, fmt::format("the request has over {} header fields", limits.header_fields));
      }
      request.fields.emplace_back(std_view(field.name_string()), std_view(field.value()));
    }
  }

  void check_body() {
    if (request.count("Host") > 1) throw HttpRefusal(400, "the request names two hosts");
    const size_t lengths = request.count("Content-Length");
    const size_t encodings = request.count("Transfer-Encoding");
    if (lengths + encodings > 1) throw HttpRefusal(400, "the request has two lengths");
    if (encodings > 0 && (!grammar.chunked() || request.is_http_1_0 ||
                          request.field("Transfer-Encoding").size() != 7)) {
      throw HttpRefusal(501, "Transfer-Encoding must be 'chunked'");
    }
    if (lengths + encodings == 0 && request.method == "POST") {
      throw HttpRefusal(411, "a POST needs Content-Length or Transfer-Encoding");
    }
    if (lengths > 0 && grammar.content_length().value_or(0) > limits.body_bytes) refuse_body();
    const std::string_view expected = request.field("Expect");
    if (!expected.empty() && expected != "100-continue") {
      throw HttpRefusal(417, "the request has an expectation that is not supported");
    }
    grammar.body_limit(limits.body_bytes);
    grammar.eager(true);
    is_checked = true;
  }

  void feed_body(std::string_view bytes) {
    constexpr size_t kPiece = 4096;  // so that what waits stays small
    while (!bytes.empty() && !grammar.is_done()) {
      const std::string_view piece = bytes.substr(0, kPiece);
      bytes.remove_prefix(piece.size());
      body_wire_bytes += piece.size();
      waiting += piece;
      if (grammar.chunked() && waiting.size() < kLeastChunks) continue;  // more must come
      parse_waiting();
      if (grammar.is_done()) return;
      if (waiting.size() > limits.header_bytes)
        throw HttpRefusal(400, "the head of a chunk is too long");
      if (body_wire_bytes > kChunkOverhead * limits.body_bytes + limits.header_bytes) refuse_body();
    }
  }

  [[noreturn]] void refuse_body() const {
    throw HttpRefusal(413, fmt::format("the request's body is over {} bytes", limits.body_bytes));
  }
};

HttpParser::HttpParser(const HttpRequestLimits& limits, const HttpHandler& handler)
    : parts_(std::make_unique<Parts>(limits, handler)) {}

HttpParser::~HttpParser() = default;

bool HttpParser::feed(std::string_view bytes) { return parts_->feed(bytes); }

bool HttpParser::has_head() const { return parts_->grammar.is_header_done(); }

bool HttpParser::wants_continue() const { return !parts_->request.field("Expect").empty(); }

HttpRequest HttpParser::take() {
  HttpRequest whole = std::move(parts_->request);
  whole.body = std::move(parts_->grammar.get().body());
  return whole;
}

HttpAnswer answer_bytes(std::string_view bytes, HttpHandler& handler,
                        const HttpRequestLimits& limits) {
  try {
    HttpParser parser(limits, handler);
    if (!parser.feed(bytes)) return error_answer(400, "the request ends too early");
    HttpAnswer answer = answer_of(handler.task(parser.take()));
    if (answer.stream) {
      answer.stream([&](const std::string& piece) {
        answer.body += piece;
        return true;
      });
    }
    return answer;
  } catch (const HttpRefusal& refusal) {
    return refusal.answer;
  }
}

}  // namespace attend
