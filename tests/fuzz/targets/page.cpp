// What a page may ask of the explorer: runs as JSON, and parameters of what it wants to see.
//
//   first line   the path's last part and its parameters, such as map?layer=decoder.0.cross&head=1
//   rest         the request of a run, which comes first; of points, where these are asked for
#include "attend/serve/explorer.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "attend/inspect/snapshot.h"
#include "tests/decode/filling_model.h"
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
    paths.push_back(scratch.path() / "masked");
    save(filling(), {paths.back()});
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
  if (what == "sequences") explorer.sequences(run, parameters);
  if (what == "map") explorer.map(run, parameters);
  if (what == "thumbnails") explorer.thumbnails(run, parameters);
  if (what == "lens") explorer.lens(run, parameters);
  if (what == "cell") explorer.cell(run, parameters);
  if (what == "masked") explorer.masked(run, parameters);
  if (what == "labels") explorer.labels(run, parameters);
  if (what == "change") explorer.change(run, parameters);
  if (what == "run") explorer.run(run);
  if (what == "models") explorer.models();
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

// What is asked, and the request of the run before.
constexpr std::pair<std::string_view, std::string_view> kSeeds[] = {
    // Searched, with a beginning, sampled, and given.
    {"map?layer=decoder.0.cross&head=1", R"({"model":0,"texts":{"source":"ab"},"beam":3,"top":4})"},
    {"map?queries=source&reduction=flow",
     R"({"model":0,"texts":{"source":"ab"},"start":"b","most":4})"},
    {"sequences?path=1,2", R"({"model":2,"texts":{"source":"ab"},"start_ids":[4,5],"beam":2})"},
    {"sequences?path=3",
     R"({"model":1,"texts":{"source":"ab"},"start":"a","temperature":0.7,"seed":3,"most":6})"},
    {"map?keys=source&reduction=rollout", R"({"model":1,"texts":{"source":"ab"},"output":"ba"})"},
    {"map?queries=target&keys=source&reduction=mean",
     R"({"model":4,"texts":{"source":"a b"},"output":"","top":20})"},
    {"cell?layer=decoder.0.cross&head=0&row=1&column=1",
     R"({"model":0,"texts":{"source":"ab"},"output":"ba","top":2})"},
    {"cell?row=0&column=1", R"({"model":0,"texts":{"source":"ab"},"output":"ba",)"
                            R"("knocked_out":[{"layer":"decoder.0.cross","head":1}]})"},
    {"run", R"({"model":0,"texts":{"source":"ab"},"output":"b",)"
            R"("knocked_out":[{"layer":"encoder.0","head":null}]})"},
    {"thumbnails?size=9&queries=target", R"({"model":0,"texts":{"source":"a b"},"most":3})"},
    {"saliency?method=gradient", R"({"model":4,"texts":{"source":"ab"},"output":"a"})"},
    {"saliency?method=integrated&keys=source",
     R"({"model":3,"texts":{"source":"ab"},"output":"a"})"},
    // Labels: the likeliest, and one that is given.
    {"map?reduction=mean", R"({"model":5,"texts":{"text":"ab"},"beam":2,"top":3})"},
    {"saliency?method=gradient", R"({"model":5,"texts":{"text":"ab"},"output":"a"})"},
    {"sequences?path=1", R"({"model":5,"texts":{"text":"ab"},"start_ids":[5,6]})"},
    {"run", R"({"model":5,"texts":{"text":"ab"},"start":"c"})"},
    {"labels?method=leave-out&labels=2", R"({"model":5,"texts":{"text":"ab"}})"},
    {"labels?method=gradient&keys=text", R"({"model":5,"texts":{"text":"ab"},"output":"a"})"},
    {"change?base=5", R"({"model":5,"texts":{"text":"ab"}})"},
    {"change?base=1", R"({"model":0,"texts":{"source":"ab"},"output":"b"})"},
    {"masked?top=3", R"({"model":10,"texts":{"text":"the cat"}})"},
    // Points.
    {"points", R"({"model":5,"of":"lines","lines":"ab\tx\nba\ty\n\nb\tx"})"},
    {"points", R"({"model":0,"of":"words","method":"pca","most":5})"},
    {"points", R"({"model":1,"of":"texts","perplexity":3,"seed":2})"},
    // Language models, which read what they write.
    {"lens?top=3", R"({"model":6,"texts":{},"output":"abc"})"},
    {"map?layer=layers.0.self&head=max",
     R"({"model":6,"start":"ab","most":5,"temperature":1,"seed":7,"top":3})"},
    {"lens?top=2&path=2", R"({"model":6,"start":"ab","most":3,"beam":2})"},
    {"sequences", R"({"model":7,"start":"ab","most":4})"},
    {"map?reduction=mean", R"({"model":8,"texts":{},"output":"ab","temperature":0})"},
    {"run", R"({"model":9,"start":"a","temperature":2,"most":null,"seed":1})"},
    // What training left behind.
    {"stored?step=3&sentence=0&layer=decoder.0.cross&head=max",
     R"({"model":5,"texts":{"text":"ab"}})"},
    {"snapshots?model=2", R"({"model":18446744073709551615,"texts":{"source":""}})"},
    {"training?model=1&from=99999999999999999999", R"({"texts":{"source":[[[]]]},"beam":-1})"},
    // What is refused.
    {"models", "["},
    {"run", R"({"texts":{"source":"ab","target":"a"}})"},
    {"run", R"({"texts":{"nothing":"ab"}})"},
    {"run", R"({"texts":["ab"],"model":0})"},
    {"run", R"({"texts":{"source":"ab"},"start_ids":[4,99999],"most":4})"},
    {"run", R"({"texts":{"source":"ab"},"start_ids":[-1]})"},
    {"run", R"({"texts":{"source":"ab"},"start_ids":7})"},
    {"run", R"({"texts":{"source":"ab"},"temperature":"hot"})"},
    {"run", R"({"texts":{"source":"ab"},"knocked_out":[{"layer":"no such layer"}]})"},
    {"run", R"({"texts":{"source":"ab"},"knocked_out":{"layer":1}})"},
    {"run", R"({"texts":{"source":"ab"},"output":[1]})"},
    {"run", R"({"texts":{"source":"ab"},"beam":17,"top":0})"},
    {"run", R"({"model":1,"texts":{"source":"abcdefghijabcdefghijabcdefghijabcdefghij"}})"},
    {"run",
     R"({"model":4,"start":"abcdefghijabcdefghijabcdefghijabcdefghij","texts":{"source":"a"}})"},
    {"run", R"("not an object")"},
};

}  // namespace

void take_page(std::string_view bytes) {
  static Page page;
  const size_t end = std::min(bytes.find('\n'), bytes.size());
  const std::string_view asked = bytes.substr(0, end);
  size_t events = 0, run = 0;
  if (asked == "points") {
    page.explorer->points(bytes.substr(std::min(end + 1, bytes.size())),
                          [&](const std::string&) { return ++events < 40; });
    return;
  }
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
  std::vector<std::string> seeds;
  for (const auto& [asked, run] : kSeeds) seeds.push_back(fmt::format("{}\n{}", asked, run));
  return seeds;
}

}  // namespace attend::fuzz
