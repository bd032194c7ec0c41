// log.jsonl: whatever a line is, the others are read.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/data/lines.h"
#include "attend/io/json_log.h"
#include "tests/hostile/case.h"

namespace attend::hostile {
namespace {

// Every case ends with a report of step 7, which must be found.
void open_log(const Path& directory) {
  const Path log = directory / "log.jsonl";
  LineReader lines(log);
  double last = 0;
  while (lines.next()) {
    const auto report = parse_log_line(lines.line());
    if (report && report->contains("step") && (*report)["step"].is_number()) {
      last = (*report)["step"].get<double>();
    }
  }
  const JsonLog resumed(log, 7);
  if (last != 7) throw DataError("log.jsonl: the last report was not found");
}

const Reader kLog{
    .file = "log.jsonl", .in_model = true, .open = open_log, .arguments = {"info", "@"}};

std::function<std::string()> with_line(const std::function<std::string()>& line) {
  return [line] {
    return R"({"step":6,"loss":1})"
           "\n" +
           line() +
           "\n"
           R"({"step":7,"loss":1})"
           "\n";
  };
}

}  // namespace

std::vector<Case> log_cases() {
  return {
      {"log-deep-lists", &kLog,
       with_line([] { return R"({"step":6,"loss":)" + std::string(900'000, '['); }), ""},
      {"log-deep-and-whole", &kLog, with_line([] {
         return R"({"step":6,"loss":)" + std::string(300'000, '[') + std::string(300'000, ']') +
                "}";
       }),
       ""},
      {"log-deep-objects", &kLog,
       with_line([] { return repeated(R"({"a":)", 100'000) + "1" + std::string(100'000, '}'); }),
       ""},
      {"log-many-values", &kLog,
       with_line([] { return R"({"step":6,"loss":[)" + repeated("[],", 300'000) + "[]]}"; }), ""},
      {"log-long-line", &kLog,
       with_line([] { return R"({"step":6,"note":")" + std::string(900'000, 'x') + "\"}"; }), ""},
      {"log-no-numbers", &kLog, with_line([] {
         return R"({"step":{"a":1},"loss":[1],"epoch":"x","best":7})"
                "\n"
                R"({"step":6,"loss":{},"best":true,"valid_x":"y"})";
       }),
       ""},
      {"log-many-lines", &kLog, with_line([] { return repeated("{}\n", 200'000); }), ""},
      {"log-escapes", &kLog,
       with_line([] { return R"({"step":6,"best":true,"valid_\u001b[2J":1})"; }), ""},
  };
}

}  // namespace attend::hostile
