#include "attend/base/version.h"

namespace attend {

std::string_view library_version() { return ATTEND_VERSION; }

}  // namespace attend
