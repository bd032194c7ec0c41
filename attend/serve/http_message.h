// A request, an answer, and who turns one into the other. Nothing of sockets: the server
// (http_server.h), tests and fuzzers use the same. Not for use outside serve/.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attend {

using HttpField = std::pair<std::string, std::string>;  // name, value

struct HttpRequest {
  std::string method;                        // "GET"
  std::string path;                          // "/api/models": as it was sent, without the query
  std::map<std::string, std::string> query;  // decoded; the first of two with one name
  std::vector<HttpField> fields;             // of the header, in order
  std::string body;
  bool is_http_1_0 = false;

  // The first value of a field, whatever the case of its name; "" if there is none.
  std::string_view field(std::string_view name) const;
  size_t count(std::string_view name) const;
};

// Takes some bytes, or none to be asked whether anybody listens; false once nobody does. It waits
// where the client reads slowly.
using HttpEmit = std::function<bool(const std::string& bytes)>;

struct HttpAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<HttpField> fields;                     // beside those of every answer
  std::function<void(const HttpEmit& emit)> stream;  // if any, writes what follows `body`
};

// {"error": text}
HttpAnswer error_answer(int status, std::string_view text);

// A request that is not served, whatever else it says.
class HttpRefusal : public std::exception {
 public:
  HttpRefusal(int status, std::string_view text) : answer(error_answer(status, text)) {}
  const char* what() const noexcept override { return answer.body.c_str(); }

  HttpAnswer answer;
};

// What is left to do for a request, and in which lane (http_lane.h): the work of one lane never
// waits for that of another. An exception of `work` is answered with 500.
struct HttpTask {
  size_t lane = 0;
  std::function<HttpAnswer()> work;
};

// Both are called in the thread of the network, for one request at a time, and do not block.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  // Looks at a request whose header has arrived, before any of its body is read; throws
  // HttpRefusal.
  virtual void check(const HttpRequest& head) const = 0;

  // Throws HttpRefusal.
  virtual HttpTask task(HttpRequest request) = 0;
};

// The answer of a task, its stream not yet run.
HttpAnswer answer_of(const HttpTask& task);

// An answer up to its body: the status, `shared` and its own fields, and how its body ends.
enum class HttpFraming { kLength, kChunked, kClose };
std::string head_text(const HttpAnswer& answer, HttpFraming framing,
                      const std::vector<HttpField>& shared);

// A piece of a body that is sent in chunks; an empty one ends it.
std::string chunk_text(std::string_view bytes);

}  // namespace attend
