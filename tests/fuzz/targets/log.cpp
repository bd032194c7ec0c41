// log.jsonl, as a resumed run and the explorer read it.
#include "attend/io/json_log.h"
#include "attend/serve/explorer.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/small_models.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"

namespace attend::fuzz {

void take_log(std::string_view bytes) {
  static const Scratch scratch;
  static const Explorer explorer = [] {
    save(small_rnn_model("vanilla"), {scratch.path()});
    const std::filesystem::path paths[] = {scratch.path()};
    return Explorer(paths);
  }();
  scratch.write("log.jsonl", bytes);
  explorer.training(0, {});
  explorer.training(0, {{"from", std::to_string(bytes.size() / 2)}});
  JsonLog(scratch.path() / "log.jsonl", 10).append("{}");
}

std::vector<std::string> log_seeds() {
  return {
      "{\"step\":3,\"epoch\":0.1,\"loss\":2.5,\"rate\":1e-3}\n"
      "{\"step\":8,\"valid_loss\":2.0,\"best\":true}\n{\"step\":12,\"early\":true}\n{\"st",
      "{\"step\":\"no\",\"best\":1}\n[1]\n\nnull\n{\"step\":1e300}\n\xff\n",
  };
}

}  // namespace attend::fuzz
