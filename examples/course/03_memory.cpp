// Attention as a memory that is asked by content: part of a letter recalls the rest. Keys and
// values are the stored letters, the query is the upper part of one. The
// temperature says how hard it decides. (Ramsauer et al., 2020, show that this is one step of a
// Hopfield network with a large memory.)
#include <fmt/format.h>

#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "attend/attention/attention.h"
#include "attend/attention/recorder.h"
#include "attend/inspect/draw.h"

using namespace attend;

constexpr size_t kSide = 5;
const std::string kNames = "AEHPT";
const std::array<std::string, 5> kLetters = {
    ".###."
    "#...#"
    "#####"
    "#...#"
    "#...#",
    "#####"
    "#...."
    "####."
    "#...."
    "#####",
    "#...#"
    "#...#"
    "#####"
    "#...#"
    "#...#",
    "####."
    "#...#"
    "####."
    "#...."
    "#....",
    "#####"
    "..#.."
    "..#.."
    "..#.."
    "..#.."};

// Ink is 1, paper -1, and what is not known 0.
std::vector<float> pixels(const std::string& letter, size_t known_rows = kSide) {
  std::vector<float> values;
  for (size_t i = 0; i < letter.size(); ++i) {
    values.push_back(i / kSide >= known_rows ? 0.0f : letter[i] == '#' ? 1.0f : -1.0f);
  }
  return values;
}

const char* ink(float value) {
  return value > 0.6f ? "█" : value > 0.2f ? "▓" : value > -0.2f ? "▒" : value > -0.6f ? "░" : "·";
}

int main(int count, char** arguments) {
  std::vector<float> stored;
  for (const auto& letter : kLetters) {
    const auto values = pixels(letter);
    stored.insert(stored.end(), values.begin(), values.end());
  }
  const Tensor memory = Tensor::of(stored, {kLetters.size(), kSide * kSide});
  const std::vector<float> part = pixels(kLetters[3], 2);  // the upper two rows of P
  const Tensor query = Tensor::of(part, {1, part.size()});

  const std::vector<std::string> titles{"asked", "at 10", "at 1", "at 0.1"};
  const std::vector<float> temperatures{10.0f, 1.0f, 0.1f};
  std::vector<Tensor> pictures{query};
  Recorder recorder;
  for (const float temperature : temperatures) {
    pictures.push_back(attention(query, memory, memory, {.temperature = temperature}).output);
  }
  for (const auto& title : titles) fmt::print("{:<9}", title);
  fmt::print("\n");
  for (size_t row = 0; row < kSide; ++row) {
    for (const Tensor& picture : pictures) {
      for (size_t i = 0; i < kSide; ++i) fmt::print("{}", ink(picture.data()[row * kSide + i]));
      fmt::print("    ");
    }
    fmt::print("\n");
  }
  for (size_t i = 0; i < temperatures.size(); ++i) {
    fmt::print("temperature {:>4}:", temperatures[i]);
    for (size_t j = 0; j < kNames.size(); ++j) {
      fmt::print("  {} {:.2f}", kNames[j], recorder.heads[i].weights.data()[j]);
    }
    fmt::print("\n");
  }

  if (count > 1) {  // draws the four pictures into a file
    std::vector<HeatMap> maps;
    for (size_t i = 0; i < pictures.size(); ++i) {
      HeatMap& map = maps.emplace_back();
      map.title = titles[i], map.values = pictures[i].reshape({kSide, kSide}), map.has_sign = true;
      map.rows = map.columns = std::vector<std::string>(kSide, "");
      map.note = "Ink is 1, paper is -1.";
    }
    std::ofstream(arguments[1]) << draw_maps(maps, PictureFormat::kSvg);
  }
}

// Prints, numbers within 1 %:
// asked    at 10    at 1     at 0.1
// ████·    ▓███▒    ▓███░    ████·
// █···█    █···▓    █···▓    █···█
// ▒▒▒▒▒    ████░    ████░    ████·
// ▒▒▒▒▒    █···░    █···░    █····
// ▒▒▒▒▒    █░░░▒    █·░·▒    █····
// temperature   10:  A 0.21  E 0.20  H 0.19  P 0.22  T 0.19
// temperature    1:  A 0.27  E 0.18  H 0.08  P 0.40  T 0.08
// temperature  0.1:  A 0.02  E 0.00  H 0.00  P 0.98  T 0.00
