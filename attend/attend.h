// All that most programs need: attend::core, and models with their text, training, decoding and
// inspection.
#pragma once

#include "attend/core.h"
#include "attend/decode/alignment.h"
#include "attend/decode/loaded_model.h"
#include "attend/decode/score.h"
#include "attend/decode/search.h"
#include "attend/decode/text_generator.h"
#include "attend/decode/translator.h"
#include "attend/inspect/attention_pictures.h"
#include "attend/inspect/draw.h"
#include "attend/inspect/trace.h"
#include "attend/io/config.h"
#include "attend/io/safetensors.h"
#include "attend/models/model.h"
#include "attend/models/registry.h"
#include "attend/models/text_model.h"
#include "attend/text/import.h"
#include "attend/text/tokenizer.h"
#include "attend/train/optimizer.h"
#include "attend/train/run.h"
