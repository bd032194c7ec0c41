# Which SIMD targets the kernels are compiled for, besides the lowest one that every binary has.
# ATTEND_SIMD_DISABLED becomes the expression of Highway's targets that are left out.
set(ATTEND_SIMD all CACHE STRING
  "SIMD targets of the kernels: all, native (those this CPU runs) or best (the best of those)")
set_property(CACHE ATTEND_SIMD PROPERTY STRINGS all native best)

# Never compiled: AVX3_DL, which adds nothing for floats, and SVE, whose vectors cannot be members of a
# struct; arm64 runs NEON.
set(ATTEND_SIMD_DISABLED HWY_AVX3_DL HWY_SVE HWY_SVE2 HWY_SVE_256 HWY_SVE2_128)

# Prints the targets that this CPU runs, best first.
set(ATTEND_SIMD_PROBE [[
#include <hwy/targets.h>
#include <cstdio>
int main() {
  for (int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    std::printf("%s ", hwy::TargetName(rest & -rest));
  }
}
]])

if(NOT ATTEND_SIMD MATCHES "^(all|native|best)$")
  message(FATAL_ERROR "ATTEND_SIMD is '${ATTEND_SIMD}', but must be all, native or best")
elseif(NOT ATTEND_SIMD STREQUAL "all" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  if(NOT DEFINED ATTEND_CPU_TARGETS)
    set(probe ${PROJECT_BINARY_DIR}/CMakeFiles/simd_probe.cpp)
    file(WRITE ${probe} "${ATTEND_SIMD_PROBE}")
    try_run(ran compiled ${PROJECT_BINARY_DIR}/CMakeFiles ${probe} LINK_LIBRARIES hwy::hwy
      COMPILE_OUTPUT_VARIABLE errors RUN_OUTPUT_VARIABLE targets)
    if(NOT compiled OR NOT ran EQUAL 0)
      message(FATAL_ERROR "ATTEND_SIMD=${ATTEND_SIMD} needs to run a program of Highway's on this machine, "
        "which failed. Set ATTEND_SIMD=all.\n${errors}")
    endif()
    separate_arguments(targets)
    set(ATTEND_CPU_TARGETS ${targets} CACHE INTERNAL "SIMD targets that this CPU runs")
  endif()
  set(wanted ${ATTEND_CPU_TARGETS})
  if(ATTEND_SIMD STREQUAL "best")
    list(REMOVE_ITEM wanted AVX3_DL)
    list(SUBLIST wanted 0 1 wanted)
  endif()
  foreach(target AVX3 AVX2)
    if(NOT target IN_LIST wanted)
      list(APPEND ATTEND_SIMD_DISABLED HWY_${target})
    endif()
  endforeach()
endif()
list(JOIN ATTEND_SIMD_DISABLED "|" ATTEND_SIMD_DISABLED)
