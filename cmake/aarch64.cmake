# Cross-compiles for arm64 (NEON) with Debian's arm64 packages, and runs the tests under qemu. The packages
# are the system's, or were unpacked under the folder that ATTEND_ARM64_ROOT names.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
find_program(ATTEND_QEMU NAMES qemu-aarch64 qemu-aarch64-static REQUIRED)
set(CMAKE_CROSSCOMPILING_EMULATOR ${ATTEND_QEMU})
if(DEFINED ENV{ATTEND_ARM64_ROOT})
  set(CMAKE_FIND_ROOT_PATH $ENV{ATTEND_ARM64_ROOT})
  set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
  set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
  set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
  set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
  set(CMAKE_SKIP_RPATH ON)  # qemu looks under the folder first
  list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -L $ENV{ATTEND_ARM64_ROOT})
endif()
