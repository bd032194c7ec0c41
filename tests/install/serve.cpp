// What somebody else writes with attend::serve.
#include "attend/serve/server.h"

#include <cstdio>

int main() {
  attend::Explorer explorer({});
  const attend::ExplorerServer server(explorer, 0, "");
  std::puts(server.address().substr(0, 17).c_str());
}
