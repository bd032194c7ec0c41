#include "attend/serve/run_request.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/io/bounded_json.h"
#include "attend/io/json_text.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kHottest = 10.0;

// A value for a message; what holds others is only named.
std::string brief(const Json& value) {
  if (value.is_structured()) return fmt::format("an {}", value.type_name());
  return json_text(value).substr(0, 40);
}

// JSON would make a large number of a negative one, and a whole one of a fraction.
size_t number_of(const Json& json, const char* name, size_t otherwise) {
  if (!json.contains(name)) return otherwise;
  const Json& value = json[name];
  if (value.is_number_unsigned()) return value.get<size_t>();
  throw ConfigError("run: {} is {}; use a whole number from 0", name, brief(value));
}

float temperature_of(const Json& json) {
  if (!json.contains("temperature")) return 0.0f;
  const Json& value = json["temperature"];
  const double given = value.is_number() ? value.get<double>() : -1.0;
  if (given >= 0.0 && given <= kHottest) return static_cast<float>(given);
  throw ConfigError("run: temperature is {}; use a number from 0, which searches, to {}",
                    brief(value), kHottest);
}

std::vector<int32_t> ids_of(const Json& json, const char* name) {
  std::vector<int32_t> ids;
  if (!json.contains(name) || json[name].is_null()) return ids;
  if (!json[name].is_array()) {
    throw ConfigError("run: {} is {}; use an array of ids", name, brief(json[name]));
  }
  for (const Json& id : json[name]) {
    if (!id.is_number_unsigned() || id.get<size_t>() > std::numeric_limits<int32_t>::max()) {
      throw ConfigError("run: {} has {}; ids are whole numbers from 0", name, brief(id));
    }
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

// {"source": text, ...}.
TraceTexts texts_of(const Json& json) {
  TraceTexts texts;
  if (!json.contains("texts")) return texts;
  const Json& given = json["texts"];
  if (!given.is_object()) {
    throw ConfigError("run: texts is {}; use an object with a text for each sequence that is read",
                      brief(given));
  }
  for (const auto& [name, text] : given.items()) {
    if (!text.is_string()) {
      throw ConfigError("run: the text of '{}' is {}; use a string", shown_name(name), brief(text));
    }
    texts[name] = text.get<std::string>();
  }
  return texts;
}

// [{"layer": name, "head": number or null}, ...]; without a head, all of the layer.
std::vector<HeadsOf> heads_of(const Json& json) {
  std::vector<HeadsOf> heads;
  if (!json.contains("knocked_out") || json["knocked_out"].is_null()) return heads;
  const Json& given = json["knocked_out"];
  const auto is_heads = [](const Json& each) {
    if (!each.is_object() || !each.contains("layer") || !each["layer"].is_string()) return false;
    return !each.contains("head") || each["head"].is_null() || each["head"].is_number_unsigned();
  };
  if (!given.is_array() || !std::ranges::all_of(given, is_heads)) {
    throw ConfigError(
        "run: knocked_out is {}; use a list of objects with a layer and the number of a head",
        brief(given));
  }
  for (const Json& each : given) {
    HeadsOf one{each["layer"].get<std::string>()};
    if (each.contains("head") && !each["head"].is_null()) one.head = each["head"].get<size_t>();
    heads.push_back(std::move(one));
  }
  return heads;
}

Json parse_request(std::string_view text) {
  constexpr DocumentLimits kLimits{.values = 20'000, .depth = 16};
  try {
    return parse_bounded_json(text, "the request", kLimits);
  } catch (const FormatError& error) {
    throw DataError("run: {}", error.what());
  }
}

}  // namespace

RunRequest RunRequest::parse(std::string_view text) {
  const Json json = parse_request(text);
  if (!json.is_object()) throw DataError("run: the request is not a JSON object");
  RunRequest request;
  try {
    request.model = number_of(json, "model", request.model);
    request.texts = texts_of(json);
    request.start = json.value("start", "");
    request.start_ids = ids_of(json, "start_ids");
    if (json.contains("output") && !json["output"].is_null()) {
      request.output = json["output"].get<std::string>();
    }
    request.beam = number_of(json, "beam", request.beam);
    request.top = number_of(json, "top", request.top);
    request.knocked_out = heads_of(json);
    if (json.contains("most") && !json["most"].is_null()) {
      request.most = number_of(json, "most", 0);
    }
    request.temperature = temperature_of(json);
    request.seed = number_of(json, "seed", request.seed);
  } catch (const nlohmann::json::exception&) {
    throw DataError("run: start and output are strings");
  }
  const auto within = [](size_t asked, Range limit) { return asked >= 1 && asked <= limit.high; };
  if (!within(request.beam, kWatchedBeam) || !within(request.top, kWatchedCandidates)) {
    throw ConfigError("run: a beam of {} and {} candidates; the page takes 1 to {} and 1 to {}",
                      request.beam, request.top, kWatchedBeam.high, kWatchedCandidates.high);
  }
  return request;
}

}  // namespace attend
