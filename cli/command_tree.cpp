#include "cli/command_tree.h"

#include <fmt/format.h>

#include "attend/models/registry.h"

namespace attend::cli {
namespace {

// "{relu,gelu}" as a list; nothing of another type.
std::vector<std::string> choices_of(const std::string& type) {
  if (!type.starts_with('{') || !type.ends_with('}')) return {};
  return CLI::detail::split(type.substr(1, type.size() - 2), ',');
}

// --preset, or the setting of that name.
bool is_preset(const OptionInfo& option) {
  return !option.names.empty() && option.names.front().ends_with("preset");
}

OptionInfo describe(const CLI::Option& option) {
  OptionInfo info;
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  info.takes_value = option.get_items_expected_max() > 0;
  info.positional = info.names.empty() ? option.get_name(true) : "";
  info.type = info.takes_value ? option.get_type_name() : "";
  info.help = option.get_description();
  info.group = option.get_group();
  info.required = option.get_required();
  info.repeats = option.get_items_expected_max() > 1;
  info.choices = choices_of(info.type);
  if (info.choices.empty() && is_preset(info)) {
    for (std::string& name : CLI::detail::split(preset_names(), ',')) {
      info.choices.push_back(CLI::detail::trim(name));
    }
  }
  return info;
}

CommandInfo describe(const CLI::App& app, const std::string& path) {
  CommandInfo info{path, app.get_name(), app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) info.options.push_back(describe(*option));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string& name = command->get_name();
    info.commands.push_back(
        describe(*command, path.empty() ? name : fmt::format("{} {}", path, name)));
  }
  return info;
}

void collect(const CommandInfo& from, std::vector<const CommandInfo*>& to) {
  to.push_back(&from);
  for (const CommandInfo& command : from.commands) collect(command, to);
}

}  // namespace

CommandInfo command_tree(const CLI::App& app) { return describe(app, ""); }

std::vector<const CommandInfo*> all_commands(const CommandInfo& root) {
  std::vector<const CommandInfo*> all;
  collect(root, all);
  return all;
}

}  // namespace attend::cli
