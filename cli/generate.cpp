// `attend generate`: text that continues prompts, by a language model.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "attend/base/escapes.h"
#include "attend/decode/text_generator.h"
#include "cli/adapters.h"
#include "cli/commands.h"
#include "cli/config_flags.h"
#include "cli/generate_interactive.h"
#include "cli/generate_output.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/numbers.h"
#include "cli/search_flags.h"
#include "cli/terminal.h"
#include "cli/text_input.h"

namespace attend::cli {
namespace {

struct GenerateOptions {
  std::filesystem::path model, input, prompt_file;
  std::vector<std::filesystem::path> adapters;
  std::vector<std::string> prompts, stop;
  size_t samples = 1;
  bool no_prompt = false, interactive = false;
  GenerateOutputOptions output;
  ConfigFlags flags;
};

GenerationConfig config_of(const GenerateOptions& options) {
  GenerationConfig config;
  options.flags.apply(config);
  config.samples = options.samples;
  for (const std::string& text : options.stop) {
    try {
      config.stop.push_back(unescaped(text));
    } catch (const ConfigError& error) {
      throw CLI::ValidationError("--stop", error.what());
    }
  }
  return config;
}

// Options that would do nothing, or exclude each other.
void check(const GenerateOptions& options) {
  const bool from_arguments = !options.prompts.empty(), from_lines = !options.input.empty(),
             from_file = !options.prompt_file.empty();
  if (from_arguments + from_lines + from_file > 1) {
    throw CLI::ValidationError("PROMPT, --input, --prompt-file", "give prompts in one way only");
  }
  const GenerationConfig config = config_of(options);
  if (config.beam > 0) {
    for (const char* path : {"temperature", "top_k", "top_p", "min_p", "typical_p", "seed"}) {
      if (options.flags.has(path)) refuse_flag(path, "does not go with --beam");
    }
  }
  if (!options.interactive) return;
  if (from_arguments || from_lines || from_file) {
    throw CLI::ValidationError("--interactive", "takes what is typed, and no other prompts");
  }
  if (options.output.json) throw CLI::ValidationError("--json", "does not go with --interactive");
  if (options.samples > 1 || config.best_of > 0 || config.beam > 1) {
    throw CLI::ValidationError("--interactive",
                               "writes one text; leave out -n, --best-of and "
                               "--beam");
  }
}

class Generating {
 public:
  Generating(const GenerateOptions& options, const TextGenerator& generator, GenerateNotes& notes,
             const std::atomic<bool>& stop)
      : generator_(generator),
        notes_(notes),
        stop_(stop),
        output_(options.output, options.samples) {}

  void operator()(const std::vector<std::string>& prompts) {
    std::vector<std::vector<int32_t>> ids;
    for (const std::string& prompt : prompts) {
      ids.push_back(generator_.encode(prompt));
      notes_.about_unknown(generator_.tokenizer().special(), ids.back());
    }
    output_.begin(prompts, done_);
    const auto all = generator_(
        std::move(ids),
        {.on_text = [this](const TextPiece& piece) { output_.add(piece); },
         .on_closed = [this](size_t prompt, const Generation&) { output_.close(prompt); },
         .stop = &stop_,
         .first_line = done_});
    output_.end();
    for (const Generation& generation : all) notes_.about(generation, ++done_);
  }

 private:
  const TextGenerator& generator_;
  GenerateNotes& notes_;
  const std::atomic<bool>& stop_;
  GenerateOutput output_;
  size_t done_ = 0;  // prompts
};

std::vector<std::string> prompts_of_arguments(const GenerateOptions& options) {
  std::vector<std::string> prompts;
  for (const std::string& prompt : options.prompts) {
    prompts.push_back(repaired(prompt, fmt::format("prompt {}", prompts.size() + 1)));
  }
  return prompts;
}

std::string prompt_of_file(const std::filesystem::path& file) {
  std::string prompt = read_document(file);
  if (!prompt.ends_with('\n')) return prompt;
  prompt.resize(prompt.size() - (prompt.ends_with("\r\n") ? 2 : 1));
  return prompt;
}

void generate_lines(const GenerateOptions& options, Generating& generate,
                    const std::atomic<bool>& stop) {
  constexpr size_t kWindow = 1024;
  std::optional<LineReader> input;  // which looks at the first bytes, and waits for them
  while (!stop) {
    std::vector<std::string> prompts;
    {
      const SignalsEndProgram while_waiting;
      if (!input) {
        input.emplace(open_text(options.input.empty() ? "-" : options.input,
                                "one prompt a line (a prompt may also be an argument, and "
                                "--interactive keeps what was written)"));
      }
      prompts = read_window(*input, kWindow);
    }
    if (prompts.empty()) return;
    generate(prompts);
  }
}

int run_generate(const GenerateOptions& options) {
  GenerationConfig config = config_of(options);
  TextModel model = load_for_use(options.model, options.adapters);
  model.model->pack();
  std::optional<size_t> trained;
  if (model.model->generator() != nullptr && !model.read()) {
    trained = trained_context(ModelDirectory{options.model}, model);
    // Learned positions that training never came to say nothing.
    if (!config.context && model.written().positions) config.context = trained;
  }
  const TextGenerator generator(std::move(model), config);
  // A model without attention keeps a state, or sees a fixed number of tokens: no text is too long.
  const bool attends = !generator.model().model->signature().layers.empty();
  GenerateNotes notes(generator.window(), attends ? trained : std::nullopt);
  const std::atomic<bool>& stop = stop_on_signals();
  if (options.interactive) return run_interactive(generator, notes, stop);
  Generating generate(options, generator, notes, stop);
  if (!options.prompts.empty()) {
    generate(prompts_of_arguments(options));
  } else if (!options.prompt_file.empty()) {
    generate({prompt_of_file(options.prompt_file)});
  } else {
    generate_lines(options, generate, stop);
  }
  return stop ? stopped_exit_code() : 0;
}

}  // namespace

Command add_generate(CLI::App& app) {
  CLI::App* parser = app.add_subcommand("generate", "Continue text with a trained language model");
  auto options = std::make_shared<GenerateOptions>();
  parser->add_option("model", options->model, "model directory")
      ->required()
      ->type_name("DIRECTORY");
  add_adapters(*parser, options->adapters);
  parser
      ->add_option("prompt", options->prompts,
                   "text to continue; '' starts a new text (default: lines of standard input)")
      ->type_name("PROMPT");
  parser->add_option("--input", options->input, "prompts, one a line, also .gz")->type_name("FILE");
  parser
      ->add_option("--prompt-file", options->prompt_file,
                   "one prompt, a whole file, without its last line end")
      ->type_name("FILE");
  parser->add_flag("--interactive", options->interactive, "write a text in turns");
  parser->add_option("-n,--samples", options->samples, "texts for each prompt (1)")
      ->type_name("N")
      ->check(whole_number(1, limits::kBeam.high));
  parser
      ->add_option("--stop", options->stop,
                   "text that ends a text and is not printed, with \\n for a line feed; repeat "
                   "for more")
      ->type_name("TEXT")
      ->allow_extra_args(false);  // they are prompts
  parser->add_flag("--no-prompt", options->no_prompt, "print only what follows the prompt");
  parser
      ->add_option("--separator", options->output.separator,
                   "line between texts; '' for none (---)")
      ->type_name("TEXT");
  parser->add_flag("--json", options->output.json, "one JSON object a text");
  options->flags.add_all_but("samples", *parser, GenerationConfig());
  show_in_help(*parser,
               {"--max-tokens", "--temperature", "--top-k", "--top-p", "--beam", "--seed"});
  parser->footer(
      "Examples:\n"
      "  attend generate model 'Once upon a time'\n"
      "  attend generate model 'Once upon a time' -n 3 --seed 7 --max-tokens 100\n"
      "  attend generate model --input prompts.txt --temperature 0 --json\n"
      "  attend generate model --interactive --stop '\\n\\n'\n"
      "Texts are sampled, the same ones for the same --seed; --temperature 0 always takes the "
      "likeliest\n"
      "token. Ctrl-C ends the text, and a second one the program.");
  parser->callback([options] {
    options->output.echo = !options->no_prompt;
    check(*options);
  });
  return {parser, [options] { return run_generate(*options); }};
}

}  // namespace attend::cli
