// `attend generate --interactive`: a text that a person and a model write in turns.
#pragma once

#include <atomic>

#include "attend/decode/text_generator.h"
#include "cli/generate_notes.h"

namespace attend::cli {

// Reads lines from standard input until it ends. Gives the exit code.
int run_interactive(const TextGenerator& generator, GenerateNotes& notes,
                    const std::atomic<bool>& stop);

}  // namespace attend::cli
