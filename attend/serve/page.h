// The page of web/ as one file: the build puts its scripts and its style into it. Not for use
// outside serve/.
#pragma once

#include <string_view>

namespace attend {

std::string_view explorer_page();

}  // namespace attend
