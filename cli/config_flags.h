// Every field of a config as a flag of a subcommand.
#pragma once

#include <CLI/CLI.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/error.h"
#include "attend/io/config.h"

namespace attend::cli {

// "{relu,gelu}": the type of an option with choices, from which shells complete it.
std::string choices_text(const std::vector<std::string>& choices);

class ConfigFlags {
 public:
  // Adds --PATH for each field of `defaults`, sections as groups of the help; with a prefix,
  // --PREFIX-PATH.
  template <typename Config>
  void add(CLI::App& parser, const Config& defaults, const std::string& prefix = "") {
    add(parser, flags_of(defaults), prefix);
  }
  // The same but for the field of one path, which would do nothing here.
  template <typename Config>
  void add_all_but(std::string_view path, CLI::App& parser, const Config& defaults) {
    std::vector<Flag> flags = flags_of(defaults);
    std::erase_if(flags, [&](const Flag& flag) { return flag.path == path; });
    add(parser, flags, "");
  }
  // Sets what was given on the command line, and nothing else; a value that cannot be is a usage
  // error.
  template <typename Config>
  void apply(Config& config) const {
    for (const std::string& path : order_) {
      const auto text = given(path);
      if (!text) continue;
      try {
        set_flag(config, path, *text);
      } catch (const ConfigError& error) {
        throw CLI::ValidationError(error.what());
      }
    }
  }

  // What was given for the flag of this path.
  std::optional<std::string> text(const std::string& path) const { return given(path); }
  std::vector<std::string> given_paths() const;
  // Whether the flag of this path was given, and whether any was.
  bool has(const std::string& path) const { return given(path).has_value(); }
  bool has_any() const;

 private:
  void add(CLI::App& parser, const std::vector<Flag>& flags, const std::string& prefix);
  std::optional<std::string> given(const std::string& path) const;

  struct Value {
    CLI::Option* option;
    std::vector<std::string> texts;
  };
  std::vector<std::string> order_;
  std::map<std::string, std::shared_ptr<Value>> values_;
};

}  // namespace attend::cli
