# Writes HEADER with RELEASE and, where SOURCE_DIR is the root of a git checkout, its commit. Leaves it alone where
# nothing changed.
set(commit "")
if(GIT)
  execute_process(COMMAND "${GIT}" -C "${SOURCE_DIR}" rev-parse --show-toplevel --short=12 HEAD
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND found MATCHES "^(.*)\n([0-9a-f]+)$")
    set(commit "${CMAKE_MATCH_2}")
    file(REAL_PATH "${CMAKE_MATCH_1}" root)
    file(REAL_PATH "${SOURCE_DIR}" source)
    # A tarball that was unpacked within another project's checkout is not of its commit.
    if(NOT root STREQUAL source)
      set(commit "")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT "${HEADER}" @ONLY CONTENT [[
#define KERNELMILL_RELEASE "@RELEASE@"
#define KERNELMILL_COMMIT "@commit@"
]])
