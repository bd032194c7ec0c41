#include "attend/serve/bounded_json.h"

#include "attend/base/error.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDeepest = 16;
constexpr size_t kMostValues = 20'000;

}  // namespace

Json bounded_json(std::string_view text) {
  size_t values = 0;
  const auto count = [&](int depth, Json::parse_event_t, const Json&) {  // a list has two events
    if (depth > kDeepest) throw DataError("JSON of more than {} levels", kDeepest);
    if (++values > kMostValues) throw DataError("JSON of more than {} values", kMostValues);
    return true;
  };
  Json json = Json::parse(text, count, false);
  return json.is_discarded() ? Json() : json;
}

}  // namespace attend
