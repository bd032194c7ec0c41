#include "attend/serve/http_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "attend/io/json_text.h"

namespace attend {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    default:
      return "";
  }
}

}  // namespace

std::string_view HttpRequest::field(std::string_view name) const {
  for (const auto& [field, value] : fields) {
    if (same_name(field, name)) return value;
  }
  return {};
}

size_t HttpRequest::count(std::string_view name) const {
  return static_cast<size_t>(std::ranges::count_if(
      fields, [&](const HttpField& field) { return same_name(field.first, name); }));
}

HttpAnswer error_answer(int status, std::string_view text) {
  return {.status = status, .body = json_text({{"error", text}})};
}

HttpAnswer answer_of(const HttpTask& task) {
  try {
    return task.work();
  } catch (const HttpRefusal& refusal) {
    return refusal.answer;
  } catch (const std::exception& error) {
    return error_answer(500, error.what());
  } catch (...) {
    return error_answer(500, "the request failed for an unknown reason");
  }
}

std::string head_text(const HttpAnswer& answer, HttpFraming framing,
                      const std::vector<HttpField>& shared) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nConnection: close\r\n",
                                 answer.status, reason_of(answer.status), answer.type);
  if (framing == HttpFraming::kLength) {
    text += fmt::format("Content-Length: {}\r\n", answer.body.size());
  } else if (framing == HttpFraming::kChunked) {
    text += "Transfer-Encoding: chunked\r\n";
  }
  for (const auto* fields : {&shared, &answer.fields}) {
    for (const auto& [name, value] : *fields) text += name + ": " + value + "\r\n";
  }
  return text + "\r\n";
}

std::string chunk_text(std::string_view bytes) {
  return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

}  // namespace attend
