// The tokenizers of a run: those that its directory has, or trained on its text. Not for use
// outside train/.
#pragma once

#include "attend/models/text_model.h"
#include "attend/train/run_config.h"
#include "attend/train/task.h"

namespace attend {

struct RunTokenizers {
  Tokenizers by_column;
  bool trained = false;  // now; not found
  bool of_base = false;  // those of text are the base's
};

// Those that an earlier run trained are trained again where it had no checkpoint and was asked for
// others. The user's own stay, and are used. Throws ConfigError where one of them is missing.
RunTokenizers tokenizers_of(const RunConfig& config, const Task& task, const Signature& signature,
                            const ModelDirectory& directory, bool resumed);

// The same for a new run that starts from a base: its texts are cut up as the base's are, unless
// config.init_vocabulary says otherwise or the user's own tokenizers are there. Throws ConfigError
// for others than the base's that are not asked for.
RunTokenizers tokenizers_from(const BaseModel& base, const RunConfig& config, const Task& task,
                              const Signature& signature, const ModelDirectory& directory);

// Notes, before they are saved, that tokenizers are not the user's own: MODEL/.trained has the
// fingerprint of each, one a line.
void note_trained(const ModelDirectory& directory, const Tokenizers& tokenizers);

// All that tokenizers_of looks at in a directory, for one where it may be changed.
void copy_tokenizers(const ModelDirectory& from, const ModelDirectory& to);

}  // namespace attend
