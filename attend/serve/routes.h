// Who may ask the explorer over HTTP, and for what. It knows no sockets and no models. Not for use
// outside serve/.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "attend/serve/explorer.h"
#include "attend/serve/http_lane.h"
#include "attend/serve/http_message.h"

namespace attend {

class ExplorerRoutes : public HttpHandler {
 public:
  // Requests of the page need the token, if there is one: "Authorization: Bearer TOKEN", or
  // "?token=TOKEN". The page itself does not: it is the same for everybody.
  ExplorerRoutes(Explorer& explorer, std::string token);

  // The port under which the page is known, once it is.
  void set_port(uint16_t port) { port_ = port; }

  void check(const HttpRequest& head) const override;
  HttpTask task(HttpRequest request) override;

  static std::vector<HttpField> fields();       // of every answer
  static std::vector<HttpLaneOptions> lanes();  // of its tasks

 private:
  enum Lane : size_t { kQuick, kMaps, kRuns };
  struct Route {
    std::string method, path;  // '#' in a path is a number
    Lane lane;
    std::function<HttpAnswer(size_t number, const HttpRequest& request)> answer;
  };
  using Ask = std::function<std::string(size_t number, const Explorer::Parameters& parameters)>;

  void get(const std::string& path, Lane lane, const char* type, Ask ask);
  void add_routes();
  bool is_ours(const HttpRequest& head) const;
  bool has_token(const HttpRequest& head) const;

  Explorer& explorer_;
  std::string token_;
  uint16_t port_ = 0;
  std::vector<Route> routes_;
};

}  // namespace attend
