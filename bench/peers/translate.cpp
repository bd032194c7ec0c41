// What translate.py calls: a Transformer with given weights that writes sequences of a fixed
// length.
#include <algorithm>
#include <chrono>
#include <span>

#include "attend/decode/search.h"
#include "attend/io/config.h"
#include "attend/io/safetensors.h"
#include "attend/models/transformer.h"
#include "attend/nn/init.h"
#include "bench/peers/guarded.h"

using attend::peers::guarded;

extern "C" {

void* attend_peer_transformer(const char* config_file, const char* weights_file) {
  return guarded(static_cast<attend::Transformer*>(nullptr), [&] {
    attend::TransformerConfig config;
    attend::read_config(config, config_file);
    attend::Rng rng(0);
    const attend::ShapesOnly until_loaded;
    auto model = std::make_unique<attend::Transformer>(config, rng);
    attend::load_weights(weights_file, attend::parameters(*model));
    model->pack();
    return model.release();
  });
}

struct AttendPeerSources {
  const int32_t* ids;      // one source after the other
  const int32_t* lengths;  // (count)
  int32_t count;
  int32_t beam, length;  // of the targets, without the end
};

// Sets tokens (count, length); returns the seconds that it took.
double attend_peer_translate(void* model, AttendPeerSources sources, int32_t* tokens) {
  return guarded(-1.0, [&] {
    const auto length = static_cast<size_t>(sources.length);
    attend::SearchConfig config;
    config.beam = static_cast<size_t>(sources.beam);
    config.min_length = config.max_length = length;
    const attend::Packing packing(std::vector(sources.lengths, sources.lengths + sources.count));
    const auto start = std::chrono::steady_clock::now();
    const attend::Batch inputs("source", {std::span(sources.ids, packing.rows()), packing});
    const auto found =
        attend::search(*static_cast<attend::Transformer*>(model), inputs, config, {.special = {}});
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    for (const auto& hypotheses : found) {
      tokens = std::ranges::copy(hypotheses.front().tokens, tokens).out;
    }
    return taken.count();
  });
}

}  // extern "C"
