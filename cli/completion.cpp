// `attend completion`: what teaches a shell to complete `attend`. Each script first finds which
// subcommand the words before the cursor name, then offers what belongs to it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/command_tree.h"
#include "cli/commands.h"

namespace attend::cli {
namespace {

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

std::string quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }
std::string fish_quoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

// "' train'|'tokenizer encode'": the command so far, a space, and the word that goes on from it.
std::vector<std::string> known_paths(const CommandInfo& root) {
  std::vector<std::string> paths;
  for (const CommandInfo* command : all_commands(root)) {
    if (command == &root) continue;
    const bool nested = command->path.find(' ') != std::string::npos;
    paths.push_back(quoted(nested ? command->path : " " + command->path));
  }
  return paths;
}

// Options of `attend` itself may also follow a subcommand; help has one of its own.
std::vector<const OptionInfo*> offered_options(const CommandInfo& root,
                                               const CommandInfo& command) {
  std::vector<const OptionInfo*> options;
  for (const OptionInfo& option : command.options) {
    if (!option.names.empty()) options.push_back(&option);
  }
  for (const OptionInfo& option : root.options) {
    if (&command != &root && option.takes_value) options.push_back(&option);
  }
  return options;
}

std::vector<std::string> all_names(const std::vector<const OptionInfo*>& options) {
  std::vector<std::string> names;
  for (const OptionInfo* option : options) {
    names.insert(names.end(), option->names.begin(), option->names.end());
  }
  return names;
}

// Cases of "COMMAND --option" that take a value: `known` says what becomes of the choices.
template <typename Known>
std::string value_cases(const CommandInfo& root, std::string_view otherwise, const Known& known) {
  std::string text;
  for (const CommandInfo* command : all_commands(root)) {
    for (const OptionInfo* option : offered_options(root, *command)) {
      if (!option->takes_value) continue;
      std::vector<std::string> patterns(option->names.size());
      std::ranges::transform(option->names, patterns.begin(), [&](const std::string& name) {
        return quoted(fmt::format("{} {}", command->path, name));
      });
      text += fmt::format("    {}) {}; return ;;\n", fmt::join(patterns, "|"),
                          option->choices.empty() ? otherwise : known(option->choices));
    }
  }
  return text;
}

constexpr std::string_view kBash =
    R"(# Completion of attend in bash, printed by `attend completion bash`.
_attend() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
  local command= commands= options= word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD - 1}}"; do
    case "$command $word" in
    {paths}) command="${{command:+$command }}$word" ;;
    esac
  done
  COMPREPLY=()
  case "$command $previous" in
{values}  esac
  case "$command" in
{offers}  esac
  [[ $current == -* ]] && commands=$options
  COMPREPLY=($(compgen -W "$commands" -- "$current"))
}}
complete -o default -F _attend attend
)";

constexpr std::string_view kZsh = R"(#compdef attend
# Completion of attend in zsh, printed by `attend completion zsh`.
compdef _attend attend
_attend() {{
  local command= word
  local -a commands options
  for word in ${{words[2,CURRENT - 1]}}; do
    case "$command $word" in
    {paths}) command="${{command:+$command }}$word" ;;
    esac
  done
  case "$command ${{words[CURRENT - 1]}}" in
{values}  esac
  case "$command" in
{offers}  esac
  if [[ ${{words[CURRENT]}} == -* ]]; then
    _describe -o option options
  elif (( $#commands )); then
    _describe command commands
  else
    _files
  fi
}}
[[ $funcstack[1] == _attend ]] && _attend "$@"
)";

constexpr std::string_view kFish =
    R"(# Completion of attend in fish, printed by `attend completion fish`.
function __attend_at
    set -l command
    set -l words (commandline -opc)
    set -e words[1]
    for word in $words
        if contains -- "$command $word" {paths}
            set command (string trim -- "$command $word")
        end
    end
    test "$command" = "$argv[1]"
end
)";

// "'--out:file to write'"
std::string zsh_entry(const std::string& name, const std::string& help) {
  return quoted(name + ":" + replaced(help, ":", "\\:"));
}

std::string fish_option(const std::string& at, const OptionInfo& option) {
  std::string text = "complete -c attend -n " + at;
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.choices.empty()) {
    text += fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
  } else if (option.takes_value) {
    text += " -r";
  }
  return text + " -d " + fish_quoted(option.help) + "\n";
}

}  // namespace

std::string bash_completion(const CommandInfo& root) {
  std::string offers;
  for (const CommandInfo* command : all_commands(root)) {
    std::vector<std::string> names(command->commands.size());
    std::ranges::transform(command->commands, names.begin(), &CommandInfo::name);
    offers += fmt::format(
        "    {}) commands={} options={} ;;\n", quoted(command->path),
        quoted(fmt::format("{}", fmt::join(names, " "))),
        quoted(fmt::format("{}", fmt::join(all_names(offered_options(root, *command)), " "))));
  }
  const std::string values = value_cases(root, ":", [](const std::vector<std::string>& choices) {
    return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$current\"))", fmt::join(choices, " "));
  });
  return fmt::format(kBash, fmt::arg("paths", fmt::join(known_paths(root), "|")),
                     fmt::arg("values", values), fmt::arg("offers", offers));
}

std::string zsh_completion(const CommandInfo& root) {
  std::string offers;
  for (const CommandInfo* command : all_commands(root)) {
    std::vector<std::string> commands, options;
    for (const CommandInfo& below : command->commands) {
      commands.push_back(zsh_entry(below.name, below.description));
    }
    for (const OptionInfo* option : offered_options(root, *command)) {
      for (const std::string& name : option->names) {
        options.push_back(zsh_entry(name, option->help));
      }
    }
    offers += fmt::format("    {}) commands=({}) options=({}) ;;\n", quoted(command->path),
                          fmt::join(commands, " "), fmt::join(options, " "));
  }
  const std::string values =
      value_cases(root, "_files", [](const std::vector<std::string>& choices) {
        return fmt::format("compadd {}", fmt::join(choices, " "));
      });
  return fmt::format(kZsh, fmt::arg("paths", fmt::join(known_paths(root), "|")),
                     fmt::arg("values", values), fmt::arg("offers", offers));
}

std::string fish_completion(const CommandInfo& root) {
  std::string text = fmt::format(kFish, fmt::arg("paths", fmt::join(known_paths(root), " ")));
  for (const CommandInfo* command : all_commands(root)) {
    const std::string at = fish_quoted("__attend_at " + quoted(command->path));
    for (const CommandInfo& below : command->commands) {
      text += fmt::format("complete -c attend -n {} -f -a {} -d {}\n", at, below.name,
                          fish_quoted(below.description));
    }
    for (const OptionInfo* option : offered_options(root, *command)) {
      text += fish_option(at, *option);
    }
  }
  return text;
}

Command add_completion(CLI::App& app) {
  struct Kind {
    const char *name, *what;
    std::string (*print)(const CommandInfo&);
  };
  static constexpr Kind kKinds[] = {
      {"bash", "Print what bash needs to complete attend", bash_completion},
      {"zsh", "Print what zsh needs to complete attend", zsh_completion},
      {"fish", "Print what fish needs to complete attend", fish_completion},
      {"man", "Print the man page", man_page},
  };
  CLI::App* parser =
      app.add_subcommand("completion", "Print completions for a shell, or the man page");
  require_subcommand(*parser);
  for (const Kind& kind : kKinds) parser->add_subcommand(kind.name, kind.what);
  parser->footer(
      "Examples:\n"
      "  source <(attend completion bash)         (or zsh; in your ~/.bashrc or ~/.zshrc)\n"
      "  attend completion fish > ~/.config/fish/completions/attend.fish\n"
      "  attend completion man | man -l -\n"
      "An installed attend comes with all of them.");
  return {parser, [parser, &app] {
            for (const Kind& kind : kKinds) {
              if (!parser->got_subcommand(kind.name)) continue;
              fmt::print("{}", kind.print(command_tree(app)));
            }
            return 0;
          }};
}

}  // namespace attend::cli
