// A trained model in a C++ program, after: attend train --source pairs.tsv --out model
#include <attend/attend.h>

int main() {
  const auto model = attend::load("model");
  fmt::print("{}\n", model.translate("ein kleines Haus"));
}

// Prints:
// a small house
