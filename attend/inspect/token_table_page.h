// Tables of tokens as SVG and as a page. Not for use outside inspect/.
#pragma once

#include <string>

#include "attend/inspect/token_table.h"

namespace attend {

// Both are whole files that need nothing else, light or dark as the reader's system is. A cell
// shows its description when it is pointed at.
std::string token_table_svg(const TokenTable& table);
std::string token_table_html(const TokenTable& table);

}  // namespace attend
