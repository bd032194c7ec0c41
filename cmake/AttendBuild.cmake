# Settings that every target of the project shares: language, warnings, sanitizers, ccache.
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
# The same optimisation for what is released, tested and measured.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

# The layers of attend::core: folders of attend/, and of tests/.
set(ATTEND_CORE_LAYERS base kernels tensor ops nn attention)

# Headers that nearly every file includes are compiled once for each target; ccache must be told that
# they may be.
find_program(ATTEND_CCACHE ccache)
if(ATTEND_CCACHE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    env CCACHE_SLOPPINESS=pch_defines,time_macros ${ATTEND_CCACHE})
endif()
set(ATTEND_COMMON_HEADERS <algorithm> <cmath> <cstdint> <filesystem> <functional> <map> <memory>
  <optional> <span> <string> <string_view> <vector> <fmt/format.h>)

add_library(attend_settings INTERFACE)
target_compile_features(attend_settings INTERFACE cxx_std_20)
target_compile_options(attend_settings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
  -Wno-missing-field-initializers)
if(ATTEND_WERROR)
  target_compile_options(attend_settings INTERFACE -Werror)
endif()
if(ATTEND_SANITIZE)
  target_compile_options(attend_settings INTERFACE
    -fsanitize=${ATTEND_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(attend_settings INTERFACE -fsanitize=${ATTEND_SANITIZE})
endif()
