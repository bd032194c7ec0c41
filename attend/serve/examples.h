// Inputs to try on a model, from the text that it was trained with. Not for use outside serve/.
#pragma once

#include <string>
#include <vector>

#include "attend/io/model_directory.h"
#include "attend/models/text_model.h"

namespace attend {

// A text for each sequence that the model reads, in their order; for a model that continues a
// text, the beginning of one.
using ExampleInput = std::vector<std::string>;

// A few that differ, short ones first choice: of validation, or of training where there was none.
// They come from the corpora that training leaves in the directory, whose size is bounded; no file
// elsewhere is opened, whatever attend.yaml names. Where there is no such corpus, or one that is
// damaged or of other tokenizers, there are no examples: this is no error.
std::vector<ExampleInput> example_inputs(const ModelDirectory& directory, const TextModel& model);

}  // namespace attend
