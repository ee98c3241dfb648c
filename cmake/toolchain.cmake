# Compiler, linker and cache settings that hold for every target.

# The launcher of the compiler, which with tcmalloc takes a seventh less time than with glibc's malloc.
set(launcher)
find_library(TCMALLOC tcmalloc_minimal)
if(TCMALLOC)
  list(APPEND launcher "LD_PRELOAD=${TCMALLOC}")
endif()
find_program(CCACHE ccache)
if(CCACHE)
  # A second clone, wherever it lies, shares what the first has compiled. A miss costs no run of the preprocessor.
  list(APPEND launcher "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
    CCACHE_DEPEND=1 CCACHE_PCH_EXTSUM=1 CCACHE_SLOPPINESS=pch_defines,time_macros "${CCACHE}")
endif()
if(launcher)
  list(PREPEND launcher "${CMAKE_COMMAND}" -E env)
  set(CMAKE_C_COMPILER_LAUNCHER "${launcher}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${launcher}")
endif()

find_program(MOLD mold)
if(MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_link_options(-fuse-ld=mold)
endif()
add_link_options(-Wl,--as-needed)

# One compilation for all files of a library instead of one for each: headers are read, and templates instantiated, once a
# folder. For builds from nothing, as the quick start's: an edit of one file compiles its whole folder again. The names that
# the files of a folder define for themselves have to differ.
option(KERNELMILL_UNITY "Compile the files of each library together" OFF)

# The options of generated code and of folders that wait for other programs or run once a job. In a build from nothing they are optimized less,
# which takes the compiler a quarter less time. They have to inline: the linker keeps one copy of each template's instance,
# and such a copy is then as fast as another folder's.
set(KERNELMILL_COLD)
if(KERNELMILL_UNITY)
  set(KERNELMILL_COLD "$<$<CONFIG:RelWithDebInfo>:SHELL:-O1 -finline-functions>")
endif()

# Our own code is warning-free, which a build from nothing need not find out again; generated and fetched code is not ours
# to mend.
set(KERNELMILL_WARNINGS -Wall -Wextra -Werror -Wno-unused-parameter)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND KERNELMILL_WARNINGS -Wthread-safety)
endif()
if(KERNELMILL_UNITY)
  set(KERNELMILL_WARNINGS -w)
endif()
