// A checkpoint directory: manifest.json, a NUL, and state.json, which the manifest may speak of.
#include "attend/io/checkpoint.h"

#include "attend/io/config.h"
#include "attend/train/trainer.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"

namespace attend::fuzz {

void take_checkpoint(std::string_view bytes) {
  static const Scratch scratch;
  const std::filesystem::path step = scratch.path() / "step-5";
  std::filesystem::create_directories(step);
  const size_t end = std::min(bytes.find('\0'), bytes.size());
  const std::string_view state = bytes.substr(std::min(end + 1, bytes.size()));
  scratch.write("step-5/manifest.json", bytes.substr(0, end));
  scratch.write("step-5/state.json", state);
  if (checkpoint_damage(step).empty()) {
    const auto latest = latest_checkpoint(scratch.path());
    require(latest && latest->step == 5, "a whole checkpoint is found");
  }
  TrainingState read;
  read_json(read, state, "state.json");
}

std::vector<std::string> checkpoint_seeds() {
  const Scratch scratch;
  const std::string state = to_json(TrainingState{.step = 5, .best_score = 0.25});
  write_checkpoint(scratch.path(), 5, [&](const std::filesystem::path& path) {
    replace_file(path / "state.json", state);
  });
  const std::string manifest = contents(scratch.path() / "step-5" / "manifest.json");
  return {manifest + '\0' + state, manifest,
          R"({"files": {"../x": {"bytes": 1, "crc32": 7}}})" + std::string(1, '\0') + "{}",
          R"({"files": {"state.json": {"bytes": -1, "crc32": "00000000"}}})",
          R"({"files": [1, null, {"a": 1e400}]})"};
}

}  // namespace attend::fuzz
