#include "cli/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "cli/command_tree.h"

namespace attend::cli {
namespace {

constexpr const char* kMostUsed = "Most used settings";
constexpr std::string_view kSettings = "Settings";  // how the groups of all others begin
constexpr size_t kIndent = 2, kNames = 26;

// Of the terminal, as far as lines are still easy to read.
size_t line_width() {
  constexpr size_t kLeast = 60, kMost = 100;
  size_t width = kMost;
  winsize size{};
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr && std::atoi(columns) > 0) {
    width = static_cast<size_t>(std::atoi(columns));
  } else if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    width = size.ws_col;
  }
  return std::clamp(width, kLeast, kMost);
}

// Words in lines of at most `width` columns.
std::vector<std::string> wrapped_help(const std::string& text, size_t width) {
  std::vector<std::string> lines(1);
  for (const std::string& word : CLI::detail::split(text, ' ')) {
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (line.size() + 1 + word.size() <= width) {
      line += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

// "  --beam 1..4096   hypotheses kept ...", the second column aligned.
std::string row(const std::string& names, const std::string& text, size_t width) {
  const size_t column = kIndent + kNames;
  std::string out = fmt::format("{:{}}{}", "", kIndent, names);
  if (kIndent + names.size() + 1 > column) out += "\n";
  bool first = out.back() != '\n';
  for (const std::string& line : wrapped_help(text, width - column)) {
    out += first ? std::string(column - kIndent - names.size(), ' ') : std::string(column, ' ');
    out += line + "\n";
    first = false;
  }
  return out;
}

bool has_long_choices(const OptionInfo& option) {
  return option.choices.size() > 1 && option.type.size() > kNames / 2;
}

// Where all settings are listed, numbers have their range.
std::string names_of(const OptionInfo& option, bool all) {
  if (!option.positional.empty()) return option.positional;
  std::string names = fmt::format("{}", fmt::join(option.names, ", "));
  if (option.type.empty()) return names;
  const bool range = option.type.find("..") != option.type.npos && !option.type.ends_with("...");
  if (has_long_choices(option)) return names + " NAME";
  return names + " " + (range && !all ? std::string("N") : option.type);
}

// Choices that would fill the first column stand in the second.
std::string help_of(const OptionInfo& option) {
  if (!has_long_choices(option)) return option.help;
  std::string text = option.help;
  const std::string choices = fmt::format(": {}", fmt::join(option.choices, ", "));
  const size_t usual = text.ends_with(')') ? text.rfind(" (") : text.size();
  return text.insert(std::min(usual, text.size()), choices);
}

std::string usage_of(const CommandInfo& info, const std::string& name) {
  std::string usage = "Usage: " + name;
  for (const OptionInfo& option : info.options) {
    if (option.positional.empty()) continue;
    const std::string argument = option.positional + (option.repeats ? "..." : "");
    usage += option.required ? " " + argument : " [" + argument + "]";
  }
  return usage + (info.commands.empty() ? " [OPTIONS]" : " COMMAND");
}

struct Group {
  std::string title;
  std::string rows;
};

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  const bool all = mode == CLI::AppFormatMode::All;
  const size_t width = line_width();
  const CommandInfo info = command_tree(*app);
  if (name.empty()) name = app->get_name();
  std::vector<Group> groups = {{"Arguments", ""}};
  const auto group = [&groups](const std::string& title) -> std::string& {
    const auto found = std::ranges::find(groups, title, &Group::title);
    if (found != groups.end()) return found->rows;
    return groups.emplace_back(Group{title, ""}).rows;
  };
  size_t hidden = 0;
  for (const OptionInfo& option : info.options) {
    const bool setting = option.group.starts_with(kSettings);
    if (option.group.empty()) continue;
    if (setting && !all) {
      ++hidden;
      continue;
    }
    group(option.positional.empty() ? option.group : "Arguments") +=
        row(names_of(option, all), help_of(option), width);
  }
  for (const CommandInfo& command : info.commands) {
    group("Commands") += row(command.name, command.description, width);
  }
  std::string text = fmt::format("{}\n{}\n", usage_of(info, name), app->get_description());
  for (const Group& g : groups) {
    if (!g.rows.empty()) text += fmt::format("\n{}:\n{}", g.title, g.rows);
  }
  if (hidden > 0) text += fmt::format("\n{} more settings: {} --help-all\n", hidden, name);
  if (!info.footer.empty()) text += "\n";
  for (const std::string& line : CLI::detail::split(info.footer, '\n')) {
    if (info.footer.empty()) break;
    const bool example = line.starts_with(' ');
    for (const std::string& part : example ? std::vector{line} : wrapped_help(line, width)) {
      text += part + "\n";
    }
  }
  return text;
}

void show_in_help(CLI::App& parser, std::initializer_list<const char*> names) {
  for (const char* name : names) parser.get_option(name)->group(kMostUsed);
}

void hide_in_help(CLI::App& parser, std::initializer_list<const char*> names) {
  for (const char* name : names) parser.get_option(name)->group(std::string(kSettings));
}

void add_help_all(CLI::App& parser) {
  const auto options = parser.get_options();
  const auto is_setting = [](const CLI::Option* o) {
    return o->get_group().starts_with(kSettings);
  };
  if (std::ranges::none_of(options, is_setting)) return;
  parser.set_help_all_flag("--help-all", "print this help with every setting");
}

void add_help(CLI::App& app) {
  CLI::App* parser = app.add_subcommand("help", "Explain a command");
  auto path = std::make_shared<std::vector<std::string>>();
  parser->add_option("command", *path, "command to explain")->type_name("COMMAND");
  parser->callback([&app, path] {
    const CLI::App* of = &app;
    std::string name;
    for (const std::string& command : *path) {
      const auto named = [&](const CLI::App* a) { return a->get_name() == command; };
      const auto found = of->get_subcommands(named);
      if (found.empty()) {
        throw CLI::ValidationError(
            fmt::format("help: there is no command '{}'; {} --help lists them", command,
                        name.empty() ? "attend" : name));
      }
      of = found.front();
      name += (name.empty() ? "attend " : " ") + command;
    }
    fmt::print("{}", of->get_formatter()->make_help(of, name, CLI::AppFormatMode::Normal));
    throw CLI::Success();
  });
}

}  // namespace attend::cli
