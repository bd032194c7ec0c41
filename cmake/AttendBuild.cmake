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
if(ATTEND_UNITY)  # GCC takes every source for a header; what a local hides may be another source's
  target_compile_options(attend_settings INTERFACE -Wno-subobject-linkage -Wno-shadow -Wshadow=local)
endif()
if(ATTEND_WERROR)
  target_compile_options(attend_settings INTERFACE -Werror)
endif()
if(ATTEND_SANITIZE)
  target_compile_options(attend_settings INTERFACE
    -fsanitize=${ATTEND_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(attend_settings INTERFACE -fsanitize=${ATTEND_SANITIZE})
endif()

# attend_unity_groups(TARGET)
# With ATTEND_UNITY, the sources of a folder are compiled together, at most 16 at a time. A name in an
# unnamed namespace must therefore be unique in its folder. Sources with definitions of their own, such as
# the kernels, are still compiled one by one.
function(attend_unity_groups target)
  if(NOT ATTEND_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    if(folder STREQUAL "")
      set(folder top)
    endif()
    list(APPEND folders ${folder})
    list(APPEND in_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    list(LENGTH in_${folder} count)
    math(EXPR groups "(${count} + 15) / 16")
    math(EXPR size "(${count} + ${groups} - 1) / ${groups}")
    set(index 0)
    foreach(source ${in_${folder}})
      math(EXPR group "${index} / ${size} + 1")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
endfunction()
