// The man page, in roff, from the same words as the help.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command_tree.h"
#include "cli/commands.h"

namespace attend::cli {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool line_starts = out.empty() || out.back() == '\n';
    if (line_starts && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

// A list of choices may go on in the next line after any comma.
std::string breakable(std::string text) {
  for (size_t at = 0; (at = text.find(',', at)) != std::string::npos; at += 3) {
    text.insert(at + 1, "\\:");
  }
  return text;
}

std::string term(const OptionInfo& option) {
  const std::string name =
      option.names.empty() ? option.positional : fmt::format("{}", fmt::join(option.names, ", "));
  const std::string type =
      option.type.empty() ? "" : fmt::format(" \\fI{}\\fR", breakable(escaped(option.type)));
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", escaped(name), type, escaped(option.help));
}

std::string synopsis(const CommandInfo& command) {
  std::string text = "\\fBattend " + escaped(command.path) + "\\fR";
  if (!command.commands.empty()) return text + " \\fICOMMAND\\fR";
  text += " [\\fIOPTIONS\\fR]";
  for (const OptionInfo& option : command.options) {
    if (option.positional.empty()) continue;
    const std::string name = "\\fI" + escaped(option.positional) + "\\fR";
    text += option.required ? " " + name : " [" + name + "]";
  }
  return text;
}

// Every command's --help says the same; it stands once, with the options of all.
std::string options(const CommandInfo& command, bool with_help) {
  std::string text, group = "Options";
  for (const OptionInfo& option : command.options) {
    const bool help = !option.names.empty() && option.names.back() == "--help";
    if (help && !with_help) continue;
    if (option.positional.empty() && option.group != group) {
      group = option.group;
      text += fmt::format(".PP\n{}:\n", escaped(group));
    }
    text += term(option);
  }
  return text;
}

std::string section(const CommandInfo& command) {
  std::string text = fmt::format(".SS {}\n{}.\n.PP\n{}\n", escaped("attend " + command.path),
                                 escaped(command.description), synopsis(command));
  text += options(command, false);
  if (!command.footer.empty()) text += fmt::format(".PP\n.nf\n{}\n.fi\n", escaped(command.footer));
  return text;
}

constexpr std::string_view kEnd = R"(.SH EXIT STATUS
0 on success, 1 on an error while running, 2 on a usage error, 128+n when signal n stopped it, after saving or ending a text.
.SH ENVIRONMENT
.TP
\fBOMP_NUM_THREADS\fR
threads to use, unless \fB\-\-threads\fR says how many
.SH FILES
A model is a directory: config.json (architecture), model.safetensors (weights), tokenizer files,
attend.yaml (how it was trained), log.jsonl (reports of training) and checkpoints.
)";

}  // namespace

std::string man_page(const CommandInfo& root) {
  // Flush left: lists of choices have no spaces to stretch.
  std::string text = fmt::format(".TH ATTEND 1 \"\" \"{}\"\n.ad l\n", escaped(version()));
  text += ".SH NAME\nattend \\- train, run and look into attention models on CPUs\n.SH SYNOPSIS\n";
  text += "\\fBattend\\fR [\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n";
  text += fmt::format(".SH DESCRIPTION\n{}\n.SH OPTIONS\n{}", escaped(root.description),
                      options(root, true));
  text += ".SH COMMANDS\n";
  for (const CommandInfo* command : all_commands(root)) {
    if (command != &root) text += section(*command);
  }
  return text + std::string(kEnd);
}

}  // namespace attend::cli
