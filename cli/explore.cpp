// `attend explore`: serves a page on which models are explored.
#include <fmt/ranges.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "attend/base/error.h"
#include "attend/serve/server.h"
#include "cli/adapters.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/lesson_models.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "cli/terminal.h"

namespace attend::cli {
namespace {

constexpr auto kPause = std::chrono::milliseconds(50);  // between looks at what a signal sets

struct ExploreOptions {
  std::vector<std::filesystem::path> models;
  std::optional<size_t> lesson;  // from 1
  std::optional<int64_t> steps;
  uint16_t port = 8808;
  bool no_token = false, list_lessons = false;
};

int list_lessons() {
  for (const Lesson& lesson : lessons()) {
    std::vector<std::string_view> shown;
    for (const LessonModel& model : lesson.models) shown.push_back(model.shown);
    fmt::print("{:2}  {:<41}{}\n", lesson.number, lesson.title, fmt::join(shown, ", "));
  }
  return 0;
}

// Says what is trained, and how far it is.
class LessonProgress : public LessonObserver {
 public:
  void on_start(const LessonModel& model) override {
    notify("training the model '{}' (only the first time) ...\n", model.shown);
    line_.emplace();
  }
  void on_report(const TrainingReport& report) override { on_step(report); }
  void on_step(const TrainingReport& report) override {
    if (!line_) return;
    line_->show(fmt::format("step {}/{}, {} left", report.step, report.steps,
                            duration(report.seconds_left)));
  }
  void on_trained(const LessonModel& model) override {
    line_.reset();
    notify("trained the model '{}'\n", model.shown);
  }

 private:
  std::optional<LiveLine> line_;
};

// What the explorer opens, and what it says about it.
struct Opened {
  std::vector<std::filesystem::path> models;
  std::optional<ExplorerGuide> guide;
};

// None where training was stopped.
std::optional<Opened> open_lesson(size_t number, const ExploreOptions& options) {
  const Lesson& lesson = cli::lesson(number);
  Opened opened;
  opened.guide = {.title = fmt::format("Lesson {}: {}", number, lesson.title),
                  .text = std::string(lesson.text),
                  .inputs = lesson.inputs,
                  .names = {},
                  .state = lesson.state};
  const std::filesystem::path cache = lesson_cache();
  notify("{}\n", opened.guide->title);
  const std::atomic<bool>& stop = stop_on_signals();
  LessonProgress progress;
  for (const LessonModel& model : lesson.models) {
    const auto directory = lesson_model(model, cache, options.steps, progress, stop);
    if (!directory) return std::nullopt;
    opened.models.push_back(*directory);
    opened.guide->names.emplace_back(model.shown);
  }
  return opened;
}

int serve(Opened opened, const ExploreOptions& options) {
#ifdef M_ARENA_MAX
  // Each thread would have a heap of its own, as large as the largest request it ever had. They
  // compute one after the other and need no more than two. Large blocks go back when they are free.
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
  const std::atomic<bool>& stop = stop_on_signals();
  Explorer explorer(opened.models, std::move(opened.guide));
  for (const std::filesystem::path& model : opened.models) tell_unfinished(model);
  ExplorerServer server(explorer, options.port, options.no_token ? "" : new_token());
  fmt::print("{}\n", server.address());
  std::fflush(stdout);
  notify("Open this address in a browser on this machine. Press Ctrl-C to stop.\n");
  std::thread serving([&] { server.run(); });
  while (!stop) std::this_thread::sleep_for(kPause);
  server.stop();
  serving.join();
  return stopped_exit_code();
}

int run_explore(const ExploreOptions& options) {
  if (options.list_lessons) return list_lessons();
  if (!options.lesson) {
    if (options.steps) throw CLI::ValidationError("--steps: needs --lesson");
    if (options.models.empty()) {
      throw CLI::ValidationError(
          "no model; give a model directory, or --lesson N (--list-lessons names them)");
    }
    return serve({options.models, std::nullopt}, options);
  }
  if (!options.models.empty()) {
    throw CLI::ValidationError("--lesson: opens models of its own; leave out " +
                               options.models.front().string());
  }
  std::optional<Opened> opened = open_lesson(*options.lesson, options);
  if (opened) return serve(*std::move(opened), options);
  notify("stopped; the same command resumes the training\n");
  return stopped_exit_code();
}

}  // namespace

Command add_explore(CLI::App& app) {
  CLI::App* parser = app.add_subcommand("explore", "Explore a model's attention in a browser");
  auto options = std::make_shared<ExploreOptions>();
  parser->add_option("model", options->models, "model directory, or several to compare")
      ->type_name("DIRECTORY");
  parser
      ->add_option("--lesson", options->lesson,
                   "open a lesson of docs/course, with models that are trained when it is opened "
                   "for the first time")
      ->type_name("N")
      ->check(whole_number(1, lessons().back().number));
  parser->add_flag("--list-lessons", options->list_lessons, "list the lessons and their models");
  parser
      ->add_option("--steps", options->steps,
                   "train the models of the lesson for N steps, to see what they know by then")
      ->type_name("N")
      ->check(whole_number(1, 100'000));
  parser->add_option("--port", options->port, "port on 127.0.0.1; 0: any free one (8808)")
      ->type_name("N")
      ->check(whole_number(0, 65535));
  parser->add_flag("--no-token", options->no_token,
                   "let anyone who is logged in to this machine use the page");
  parser->footer(
      "Examples:\n"
      "  attend explore model\n"
      "  attend explore before after --port 0\n"
      "  attend explore --lesson 2\n"
      "The page needs no network and answers only this machine. The address contains a random\n"
      "token, without which the page shows nothing: keep it to yourself. The models of lessons\n"
      "are kept in ~/.cache/attend/lessons, or where XDG_CACHE_HOME says.");
  return {parser, [options] { return run_explore(*options); }};
}

}  // namespace attend::cli
