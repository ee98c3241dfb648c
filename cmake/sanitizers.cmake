# The flags that the presets asan and tsan (KERNELMILL_SANITIZE) add to every target. Debian's libraries stay uninstrumented.
# KERNELMILL_PROGRAM_DEPS: libraries that every program links in addition to its own. tcmalloc is one: with glibc's malloc 16
# workers of a crawl waited for each other's arenas (ten times the context switches, 1.3 times the time). Sanitizers bring
# their own malloc.

set(KERNELMILL_PROGRAM_DEPS PkgConfig::TCMALLOC)

if(KERNELMILL_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link) # coverage feedback for libFuzzer
endif()

if(KERNELMILL_SANITIZE)
  set(KERNELMILL_PROGRAM_DEPS)
  add_compile_definitions(KERNELMILL_SANITIZE)
endif()
if(KERNELMILL_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(KERNELMILL_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
  # Objects, not an archive: they must be linked even where the library has their names too.
  add_library(tsan_interposers OBJECT
    "${PROJECT_SOURCE_DIR}/cmake/tsan/absl_mutex.cc"
    "${PROJECT_SOURCE_DIR}/cmake/tsan/grpc_calls.cc"
    "${PROJECT_SOURCE_DIR}/cmake/tsan/rocksdb_writes.cc")
  target_compile_options(tsan_interposers PRIVATE -Wall -Wextra -Werror)
  target_link_libraries(tsan_interposers PUBLIC absl::synchronization)
  set(KERNELMILL_PROGRAM_DEPS tsan_interposers)
elseif(KERNELMILL_SANITIZE)
  message(FATAL_ERROR "KERNELMILL_SANITIZE is '${KERNELMILL_SANITIZE}'; address or thread are known")
endif()
