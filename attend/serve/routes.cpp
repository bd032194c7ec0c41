#include "attend/serve/routes.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "attend/base/base64.h"
#include "attend/base/sha256.h"
#include "attend/serve/page.h"

namespace attend {
namespace {

constexpr const char* kJson = "application/json";
constexpr const char* kBytes = "application/octet-stream";
constexpr size_t kMostDigits = 9;

// 'sha256-...' of what stands between two marks of the page.
std::string hash_of(std::string_view begin, std::string_view end) {
  const std::string_view page = explorer_page();
  const size_t from = page.find(begin) + begin.size();
  return "'sha256-" + base64(sha256(page.substr(from, page.find(end, from) - from))) + "'";
}

// A link may stand anywhere; what it leads to tells nothing to where it stands.
bool opens_page(const HttpRequest& head) {
  return head.method == "GET" && head.path == "/" && head.field("Sec-Fetch-Mode") == "navigate" &&
         head.field("Sec-Fetch-Dest") == "document";
}

// Takes the same time wherever two of one length differ.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  int difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == 0;
}

std::string_view cut_segment(std::string_view& path) {
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(std::min(path.size(), segment.size() + 1));
  return segment;
}

std::optional<size_t> number_in(std::string_view text) {
  size_t number = 0;
  const char* const end = text.data() + text.size();
  if (text.empty() || text.size() > kMostDigits) return std::nullopt;
  const auto [read, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && read == end ? std::optional(number) : std::nullopt;
}

// The number in a path that has the shape of `pattern`, or 0 if the pattern has none.
std::optional<size_t> match(std::string_view pattern, std::string_view path) {
  if (std::ranges::count(pattern, '/') != std::ranges::count(path, '/')) return std::nullopt;
  size_t number = 0;
  while (!pattern.empty() || !path.empty()) {
    const std::string_view expected = cut_segment(pattern), found = cut_segment(path);
    if (expected == "#") {
      const std::optional<size_t> here = number_in(found);
      if (!here) return std::nullopt;
      number = *here;
    } else if (expected != found) {
      return std::nullopt;
    }
  }
  return number;
}

}  // namespace

// What the page may do: run its own script, talk to here, and nothing else.
std::vector<HttpField> ExplorerRoutes::fields() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src " + hash_of("<script type=\"module\">", "</script>") +
               "; style-src " + hash_of("<style>", "</style>") +
               "; img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
               "frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Cache-Control", "no-store"}};
}

// What models compute, one at a time, has lanes of its own: maps, whose clients wait for one turn,
// and runs and saliency, which take many.
std::vector<HttpLaneOptions> ExplorerRoutes::lanes() {
  return {
      {.threads = 2, .waiting = 64}, {.threads = 2, .waiting = 64}, {.threads = 16, .waiting = 16}};
}

ExplorerRoutes::ExplorerRoutes(Explorer& explorer, std::string token)
    : explorer_(explorer), token_(std::move(token)) {
  add_routes();
}

void ExplorerRoutes::add_routes() {
  get("/", kQuick, "text/html; charset=utf-8",
      [](size_t, const auto&) { return std::string(explorer_page()); });
  get("/api/models", kQuick, kJson, [this](size_t, const auto&) { return explorer_.models(); });
  get("/api/training/#", kQuick, kJson,
      [this](size_t model, const auto& query) { return explorer_.training(model, query); });
  get("/api/snapshots/#", kQuick, kJson,
      [this](size_t model, const auto&) { return explorer_.snapshots(model); });
  get("/api/snapshots/#/map", kQuick, kBytes,
      [this](size_t model, const auto& query) { return explorer_.snapshot_map(model, query); });
  get("/api/runs/#", kQuick, kJson, [this](size_t run, const auto&) { return explorer_.run(run); });
  get("/api/runs/#/sequences", kQuick, kJson,
      [this](size_t run, const auto& query) { return explorer_.sequences(run, query); });
  get("/api/runs/#/map", kMaps, kBytes,
      [this](size_t run, const auto& query) { return explorer_.map(run, query); });
  get("/api/runs/#/thumbnails", kMaps, kBytes,
      [this](size_t run, const auto& query) { return explorer_.thumbnails(run, query); });
  get("/api/runs/#/lens", kMaps, kJson,
      [this](size_t run, const auto& query) { return explorer_.lens(run, query); });
  get("/api/runs/#/change", kMaps, kJson,
      [this](size_t run, const auto& query) { return explorer_.change(run, query); });
  get("/api/runs/#/labels", kRuns, kJson,
      [this](size_t run, const auto& query) { return explorer_.labels(run, query); });
  get("/api/runs/#/masked", kRuns, kJson,
      [this](size_t run, const auto& query) { return explorer_.masked(run, query); });
  get("/api/runs/#/cell", kMaps, kJson,
      [this](size_t run, const auto& query) { return explorer_.cell(run, query); });
  routes_.push_back({"GET", "/api/runs/#/saliency", kRuns,
                     [this](size_t run, const HttpRequest& request) -> HttpAnswer {
                       return {.type = kBytes, .stream = explorer_.saliency(run, request.query)};
                     }});
  routes_.push_back(
      {"POST", "/api/points", kRuns, [this](size_t, const HttpRequest& request) -> HttpAnswer {
         return {.type = "application/x-ndjson",
                 .stream = [this, body = request.body](const HttpEmit& emit) {
                   explorer_.points(body,
                                    [&](const std::string& line) { return emit(line + "\n"); });
                 }};
       }});
  routes_.push_back(
      {"POST", "/api/runs", kRuns, [this](size_t, const HttpRequest& request) -> HttpAnswer {
         return {.type = "application/x-ndjson",
                 .stream = [this, body = request.body](const HttpEmit& emit) {
                   explorer_.start_run(body,
                                       [&](const std::string& line) { return emit(line + "\n"); });
                 }};
       }});
}

void ExplorerRoutes::get(const std::string& path, Lane lane, const char* type, Ask ask) {
  routes_.push_back(
      {"GET", path, lane, [ask = std::move(ask), type](size_t number, const HttpRequest& request) {
         return HttpAnswer{.type = type, .body = ask(number, request.query)};
       }});
}

void ExplorerRoutes::check(const HttpRequest& head) const {
  if (!is_ours(head)) {
    throw HttpRefusal(403, "this explorer answers only its own page on this machine");
  }
  if (head.path != "/" && !has_token(head)) {
    HttpRefusal refusal(401,
                        "this explorer needs its token: open the address that `attend explore` "
                        "printed when it started");
    refusal.answer.fields = {{"WWW-Authenticate", "Bearer"}};
    throw refusal;
  }
  if (head.count("Content-Encoding") > 0) {  // the limit is for what was sent
    throw HttpRefusal(415, "compressed requests are not accepted");
  }
  if (head.method == "POST" && !head.field("Content-Type").starts_with(kJson)) {
    throw HttpRefusal(415, "send requests as application/json");
  }
}

// A page of another site could name us by another host, or send requests from afar.
bool ExplorerRoutes::is_ours(const HttpRequest& head) const {
  const std::string_view host = head.field("Host"), from = head.field("Origin");
  const std::string_view site = head.field("Sec-Fetch-Site");
  const std::string port = port_ == 80 ? "" : ":" + std::to_string(port_);
  return (host == "127.0.0.1" + port || host == "localhost" + port) &&
         (head.count("Origin") == 0 || from == "http://" + std::string(host)) &&
         (site.empty() || site == "same-origin" || site == "none" || opens_page(head));
}

bool ExplorerRoutes::has_token(const HttpRequest& head) const {
  if (token_.empty()) return true;
  const auto asked = head.query.find("token");
  return same_secret(head.field("Authorization"), "Bearer " + token_) ||
         (asked != head.query.end() && same_secret(asked->second, token_));
}

HttpTask ExplorerRoutes::task(HttpRequest request) {
  const std::string_view asked = request.method, method = asked == "HEAD" ? "GET" : asked;
  std::string allowed;
  for (const Route& route : routes_) {
    const std::optional<size_t> number = match(route.path, request.path);
    if (!number) continue;
    allowed = route.method;
    if (method != allowed) continue;
    return {route.lane, [&route, number, request = std::move(request)] {
              try {
                return route.answer(*number, request);
              } catch (const NotFound& error) {
                return error_answer(404, error.what());
              } catch (const Error& error) {
                return error_answer(400, error.what());
              }
            }};
  }
  if (allowed.empty()) throw HttpRefusal(404, "there is nothing here");
  HttpRefusal refusal(405, "this address accepts only " + allowed);
  refusal.answer.fields = {{"Allow", allowed}};
  throw refusal;
}

}  // namespace attend
