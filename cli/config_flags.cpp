#include "cli/config_flags.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "attend/base/limits.h"

namespace attend::cli {
namespace {

// "optimizer.clip_norm" as people type it.
std::string flag_name(const std::string& prefix, std::string path) {
  std::ranges::replace(path, '_', '-');
  return prefix.empty() ? "--" + path : "--" + prefix + "-" + path;
}

// What stands for the value in the help.
std::string type_text(const Flag& flag) {
  if (!flag.choices.empty() && !flag.list) return choices_text(flag.choices);
  const bool bounded = flag.type == "integer" && flag.range.high < limits::kAny.high;
  return bounded ? fmt::format("{}..{}", flag.range.low, flag.range.high) : flag.type;
}

std::string group_of(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos ? "Settings" : "Settings of " + path.substr(0, dot);
}

}  // namespace

std::string choices_text(const std::vector<std::string>& choices) {
  return fmt::format("{{{}}}", fmt::join(choices, ","));
}

void ConfigFlags::add(CLI::App& parser, const std::vector<Flag>& flags, const std::string& prefix) {
  for (const Flag& flag : flags) {
    auto value = std::make_shared<Value>();
    std::string help = flag.help;
    if (!flag.default_text.empty()) help += fmt::format(" ({})", flag.default_text);
    const std::string name = flag_name(prefix, flag.path);
    if (flag.type == "bool" && !flag.list) {  // --shuffle, or --shuffle=false
      value->option = parser.add_flag(name, value->texts, help);
    } else {
      value->option = parser.add_option(name, value->texts, help)
                          ->type_name(type_text(flag))
                          ->expected(1)
                          ->allow_extra_args(false);  // what follows the value is not the flag's
    }
    value->option->group(group_of(flag.path));
    order_.push_back(flag.path);
    values_[flag.path] = value;
  }
}

bool ConfigFlags::has_any() const {
  return std::ranges::any_of(order_, [&](const std::string& path) { return has(path); });
}

std::vector<std::string> ConfigFlags::given_paths() const {
  std::vector<std::string> found;
  std::ranges::copy_if(order_, std::back_inserter(found),
                       [this](const std::string& path) { return has(path); });
  return found;
}

std::optional<std::string> ConfigFlags::given(const std::string& path) const {
  const auto found = values_.find(path);
  if (found == values_.end()) return std::nullopt;  // was left out
  const Value& value = *found->second;
  if (value.option->count() == 0) return std::nullopt;
  return fmt::format("{}", fmt::join(value.texts, ","));
}

}  // namespace attend::cli
