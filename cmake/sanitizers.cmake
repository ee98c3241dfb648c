# What the presets asan and tsan (KERNELMILL_SANITIZE) add to every target. Debian's libraries stay as they are.
# KERNELMILL_PROGRAM_DEPS: what every program links besides its own needs.

set(KERNELMILL_PROGRAM_DEPS)

if(KERNELMILL_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(KERNELMILL_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
  # An object, not an archive: it must be linked even where the library has the same names.
  add_library(tsan_absl_mutex OBJECT "${PROJECT_SOURCE_DIR}/cmake/tsan/absl_mutex.cc")
  target_compile_options(tsan_absl_mutex PRIVATE -Wall -Wextra -Werror)
  target_link_libraries(tsan_absl_mutex PUBLIC absl::synchronization)
  set(KERNELMILL_PROGRAM_DEPS tsan_absl_mutex)
elseif(KERNELMILL_SANITIZE)
  message(FATAL_ERROR "KERNELMILL_SANITIZE is '${KERNELMILL_SANITIZE}'; address or thread are known")
endif()
