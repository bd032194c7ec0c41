#include "attend/io/bounded_json.h"

#include <nlohmann/json.hpp>

#include "attend/base/error.h"

namespace attend {

nlohmann::ordered_json parse_bounded_json(std::string_view text, std::string_view origin,
                                          const DocumentLimits& limits) {
  using Json = nlohmann::ordered_json;
  using Event = Json::parse_event_t;
  DocumentBudget budget(limits, "JSON", origin, text.size());
  size_t depth = 0;
  const auto count = [&](int /*depth*/, Event event, const Json& /*value*/) {
    const bool ends = event == Event::object_end || event == Event::array_end;
    const bool starts = event == Event::object_start || event == Event::array_start;
    if (ends) --depth;
    if (starts) budget.check_depth(++depth);
    if (!ends) budget.take(1);
    return true;
  };
  try {
    return Json::parse(text, count);
  } catch (const Json::parse_error& error) {
    throw FormatError("{}: not JSON at byte {}", origin, error.byte);
  } catch (const Json::exception&) {  // such as a number past a double's range
    throw FormatError("{}: not JSON", origin);
  }
}

}  // namespace attend
