// The logit lens as SVG and as a page. Not for use outside inspect/.
#pragma once

#include <string>

#include "attend/inspect/lens.h"

namespace attend {

// Both are whole files that need nothing else, light or dark as the reader's system is. A cell says
// its likeliest tokens, and how likely the one that stands next is, when it is pointed at.
std::string lens_svg(const LogitLens& lens);
std::string lens_html(const LogitLens& lens);

}  // namespace attend
