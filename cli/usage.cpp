#include "cli/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "attend/base/fields.h"
#include "cli/command_tree.h"

namespace attend::cli {
namespace {

// What other programs call it, and what it is here: for the first line whose option the command
// has.
struct Hint {
  std::vector<const char*> names;
  const char* option;  // that the command must have
  const char* ours;
};

const std::vector<Hint>& hints() {
  static const std::vector<Hint> all = {
      {{"--lr", "--learning-rate", "--rate", "--optimizer.lr", "--optimizer.learning-rate"},
       "--optimizer.rate",
       "the learning rate is --optimizer.rate"},
      {{"--epochs", "--num-epochs", "--num-train-epochs", "--max-epochs", "--training.epochs"},
       "--steps",
       "training is measured in steps: --steps N; --dry-run prints how many make an epoch"},
      {{"--max-steps", "--num-steps", "--iterations", "--max-iters", "--updates"},
       "--steps",
       "the number of updates is --steps"},
      {{"--batch-size", "--batch.size", "--bs", "--mini-batch"},
       "--batch.tokens",
       "the size of batches is --batch.tokens, or --batch.records"},
      {{"--device", "--gpu", "--cuda", "--devices"},
       "--threads",
       "everything runs on the CPU, on --threads N"},
      {{"--num-threads", "--cpu-threads", "--workers", "--num-workers"},
       "--threads",
       "the number of threads is --threads"},
      {{"--output", "--output-dir", "--save-dir", "--model-dir", "--save"},
       "--out",
       "the output goes to --out"},
      {{"--src", "--train-src"}, "--source", "the text to read is --source"},
      {{"--tgt", "--trg", "--train-tgt"}, "--target", "the text to write is --target"},
      {{"--data", "--corpus", "--train-file", "--dataset"},
       "--text",
       "give --source FILE --target FILE, or --text FILE"},
      {{"--num-beams", "--beam-size", "--beams"}, "--beam", "the size of the beam is --beam"},
      {{"--max-new-tokens", "--max-length", "--length"},
       "--max-tokens",
       "--max-tokens limits the tokens after the prompt"},
      {{"--max-new-tokens", "--max-tokens", "--max-len"},
       "--max-length",
       "--max-length limits the tokens of the output"},
      {{"--do-sample", "--sampling"}, "--sample", "use --sample"},
      {{"--num-return-sequences", "--num-samples"}, "--samples", "the number of texts is -n"},
      {{"--hidden-size", "--d-model", "--dim", "--width", "--embed-dim"},
       "--model.kind",
       "the width is a setting of the model: --model.KIND.width"},
      {{"--layers", "--num-layers", "--n-layer", "--n-layers"},
       "--model.kind",
       "layers are a setting of the model: see --model.KIND... in --help-all"},
      {{"--heads", "--num-heads", "--n-head", "--n-heads"},
       "--model.kind",
       "heads are a setting of the model: --model.KIND.heads"},
      {{"--dropout"}, "--model.kind", "dropout is a setting of the model: --model.KIND.dropout"},
      {{"--vocab-size", "--vocab", "--vocabulary"},
       "--vocabulary.vocabulary",
       "the size of the vocabulary is --vocabulary.vocabulary"},
      {{"--seed"}, "--training.seed", "the seed of weights and dropout is --training.seed"},
      {{"--warmup", "--warmup-steps"}, "--schedule.warmup", "warm-up is --schedule.warmup"},
      {{"--weight-decay", "--wd"},
       "--optimizer.weight-decay",
       "weight decay is --optimizer.weight-decay"},
      {{"--label-smoothing"},
       "--training.label-smoothing",
       "label smoothing is --training.label-smoothing"},
      {{"--resume", "--continue"},
       "--steps",
       "`attend train MODEL` resumes a model from its newest checkpoint"},
  };
  return all;
}

// From `attend` to the last command that was named.
std::vector<const CLI::App*> named_commands(const CLI::App& app) {
  std::vector<const CLI::App*> named = {&app};
  while (!named.back()->get_subcommands().empty()) {
    named.push_back(named.back()->get_subcommands().front());
  }
  return named;
}

std::vector<std::string> known_options(const CLI::App& app) {
  std::vector<std::string> known;
  for (const CLI::App* at : named_commands(app)) {
    for (const CLI::Option* option : at->get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
  }
  return known;
}

std::string name_part(const std::string& word) { return word.substr(0, word.find('=')); }

std::string unknown_option(const CLI::App& app, const std::string& word) {
  const std::string given = name_part(word);
  std::string name = given;
  std::ranges::replace(name, '_', '-');
  const std::vector<std::string> known = known_options(app);
  const auto has = [&known](std::string_view option) {
    return std::ranges::find(known, option) != known.end();
  };
  const CLI::App& at = *named_commands(app).back();
  const std::string command = at.get_parent() == nullptr ? "" : at.get_name() + ": ";
  const std::string text = fmt::format("{}there is no option {}", command, given);
  for (const Hint& hint : hints()) {
    const bool meant = std::ranges::find(hint.names, name) != hint.names.end();
    if (meant && has(hint.option)) return fmt::format("{}; {}", text, hint.ours);
  }
  const std::string near = nearest_name(name, known);
  return near.empty() ? text : fmt::format("{}; did you mean {}?", text, near);
}

std::string unexpected_word(const CLI::App& app, const std::string& word) {
  const CLI::App& at = *named_commands(app).back();
  std::vector<std::string> commands;
  for (const CLI::App* command : at.get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back(command->get_name());
  }
  if (commands.empty()) {
    return fmt::format("{}: '{}' is one argument too many; a text with spaces needs quotes",
                       at.get_name(), word);
  }
  std::string text = fmt::format("there is no command '{}'", word);
  const std::string near = nearest_name(word, commands);
  return near.empty() ? text : fmt::format("{}; did you mean '{}'?", text, near);
}

std::string message_of(const CLI::App& app, const CLI::Error& error) {
  const std::string what = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> words = app.remaining(true);
    if (words.empty()) return what;
    const bool option = words.front().starts_with("-") && words.front().size() > 1;
    return option ? unknown_option(app, words.front()) : unexpected_word(app, words.front());
  }
  const std::string name = what.substr(0, what.find(':'));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && name.starts_with("-")) {
    return fmt::format("{} needs a value", name);
  }
  constexpr std::string_view kConversion = "Could not convert: ";
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr &&
      what.starts_with(kConversion)) {
    const std::string rest = what.substr(kConversion.size());
    const size_t at = rest.find(" = ");
    if (at == rest.npos) return rest;
    return fmt::format("{} should be a number, not '{}'", rest.substr(0, at), rest.substr(at + 3));
  }
  return what;
}

void collect_options(const CommandInfo& command, std::set<std::string>& to) {
  for (const OptionInfo& option : command.options)
    to.insert(option.names.begin(), option.names.end());
  for (const CommandInfo& below : command.commands) collect_options(below, to);
}

// The switches of train, which takes no texts that could be meant instead: "--batch.shuffle no" is
// "--batch.shuffle=no".
void join_switches(const CommandInfo& app, std::vector<std::string>& words) {
  const auto train = std::ranges::find(app.commands, "train", &CommandInfo::name);
  if (train == app.commands.end() || std::ranges::find(words, "train") == words.end()) return;
  std::set<std::string> switches;
  for (const OptionInfo& option : train->options) {
    if (!option.takes_value) switches.insert(option.names.begin(), option.names.end());
  }
  for (size_t i = 0; i + 1 < words.size() && words[i] != "--"; ++i) {
    bool value = false;
    if (!switches.contains(words[i]) || !detail::parse_field(words[i + 1], value)) continue;
    words[i] += value ? "=true" : "=false";
    words.erase(words.begin() + static_cast<ptrdiff_t>(i) + 1);
  }
}

}  // namespace

std::vector<std::string> with_hyphens(const CLI::App& app, int argc, char** argv) {
  const CommandInfo tree = command_tree(app);
  std::set<std::string> known;
  collect_options(tree, known);
  std::vector<std::string> words(argv, argv + argc);
  for (std::string& word : words) {
    if (word == "--") break;
    if (!word.starts_with("--")) continue;
    const std::string name = name_part(word);
    std::string hyphens = name;
    std::ranges::replace(hyphens, '_', '-');
    if (!known.contains(name) && known.contains(hyphens)) word.replace(0, name.size(), hyphens);
  }
  join_switches(tree, words);
  return words;
}

std::string usage_message(const CLI::App* app, const CLI::Error& error) {
  std::string command;
  for (const CLI::App* at : named_commands(*app)) {
    command += (command.empty() ? "" : " ") + at->get_name();
  }
  return fmt::format("attend: {}\nRun `{} --help` for more.\n", message_of(*app, error), command);
}

}  // namespace attend::cli
