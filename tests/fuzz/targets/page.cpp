// What a page may ask of the explorer: runs as JSON, and parameters of what it wants to see.
//
//   first line   the path's last part and its parameters, such as map?layer=decoder.0.cross&head=1
//   rest         the request of a run, which comes first
#include "attend/serve/explorer.h"

#include <charconv>

#include "attend/inspect/snapshot.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/small_models.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"

namespace attend::fuzz {
namespace {

struct Page {
  Scratch scratch;
  std::unique_ptr<Explorer> explorer;

  Page() {
    std::vector<std::filesystem::path> paths;
    for (const TextModel& model : small_models()) {
      paths.push_back(scratch.path() / std::to_string(paths.size()));
      const ModelDirectory directory{paths.back()};
      save(model, directory);
      const Trace sentences[] = {given_trace(model, "ab", "b")};
      write_snapshot(directory, 3, model, sentences);
    }
    explorer = std::make_unique<Explorer>(paths);
  }
};

Explorer::Parameters parameters_of(std::string_view text) {
  Explorer::Parameters parameters;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const size_t equals = std::min(one.find('='), one.size());
    parameters[std::string(one.substr(0, equals))] = one.substr(std::min(equals + 1, one.size()));
  }
  return parameters;
}

// The number that stands after a mark; 0 where there is none.
size_t number_after(std::string_view text, std::string_view mark) {
  const size_t at = text.find(mark);
  size_t number = 0;
  if (at != text.npos) {
    const char* const begin = text.data() + at + mark.size();
    std::from_chars(begin, text.data() + text.size(), number);
  }
  return number;
}

void ask(Explorer& explorer, std::string_view what, const Explorer::Parameters& parameters,
         size_t run, size_t model) {
  if (what == "sequences" || what == "labels") explorer.sequences(run, parameters);
  if (what == "map") explorer.map(run, parameters);
  if (what == "thumbnails") explorer.thumbnails(run, parameters);
  if (what == "run") explorer.run(run);
  if (what == "training") explorer.training(model, parameters);
  if (what == "snapshots") explorer.snapshots(model);
  if (what == "stored") explorer.snapshot_map(model, parameters);
  if (what != "saliency") return;
  size_t sent = 0;
  explorer.saliency(run, parameters)([&](const std::string& bytes) {
    sent += bytes.size();
    return sent < 2000;
  });
}

}  // namespace

void take_page(std::string_view bytes) {
  static Page page;
  const size_t end = std::min(bytes.find('\n'), bytes.size());
  const std::string_view asked = bytes.substr(0, end);
  size_t events = 0, run = 0;
  page.explorer->start_run(bytes.substr(std::min(end + 1, bytes.size())),
                           [&](const std::string& line) {
                             if (events == 0) run = number_after(line, "\"run\":");
                             return ++events < 40;
                           });
  const size_t mark = std::min(asked.find('?'), asked.size());
  ask(*page.explorer, asked.substr(0, mark),
      parameters_of(asked.substr(std::min(mark + 1, asked.size()))), run,
      number_after(asked, "model="));
}

std::vector<std::string> page_seeds() {
  return {
      "map?layer=decoder.0.cross&head=1\n{\"model\":0,\"source\":\"ab\",\"beam\":3,\"top\":4}",
      "map?part=cross&reduction=rollout\n{\"model\":1,\"source\":\"ab\",\"target\":\"ba\"}",
      "map?part=encoder&reduction=flow\n{\"model\":0,\"source\":\"ab\",\"start\":\"b\"}",
      "labels?part=decoder&path=1,2\n{\"model\":2,\"source\":\"ab\",\"start_ids\":[4,5]}",
      "thumbnails?size=9&part=cross\n{\"model\":0,\"source\":\"a b\"}",
      "saliency?method=gradient\n{\"model\":4,\"source\":\"ab\",\"target\":\"a\"}",
      "saliency?method=integrated&steps=3\n{\"model\":3,\"source\":\"ab\",\"target\":\"a\"}",
      "stored?step=3&sentence=0&layer=decoder.0.cross&head=max\n{\"model\":5,\"source\":\"ab\"}",
      "snapshots?model=2\n{\"model\":18446744073709551615,\"source\":\"\"}",
      "training?model=1&from=99999999999999999999\n{\"source\":[[[]]],\"beam\":-1}",
      "run\n[",
  };
}

}  // namespace attend::fuzz
