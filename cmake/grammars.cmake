# tree-sitter's runtime and grammars: C sources that deploy/fetch_grammars.sh leaves under .cache/grammars.

# km_fetched_c(TARGET PACKAGE INCLUDE... SOURCES...): a static library of a fetched package's C sources.
function(km_fetched_c target package)
  cmake_parse_arguments(ARG "" "INCLUDE" "PRIVATE_INCLUDE;SOURCES" ${ARGN})
  set(folder "${PROJECT_SOURCE_DIR}/.cache/grammars/${package}")
  if(NOT EXISTS "${folder}/.integrity")
    message(FATAL_ERROR "${package} is not in .cache/grammars: run deploy/fetch_grammars.sh first")
  endif()
  list(TRANSFORM ARG_SOURCES PREPEND "${folder}/")
  list(TRANSFORM ARG_PRIVATE_INCLUDE PREPEND "${folder}/")
  add_library(${target} STATIC ${ARG_SOURCES})
  target_include_directories(${target} SYSTEM PUBLIC "${folder}/${ARG_INCLUDE}")
  target_include_directories(${target} SYSTEM PRIVATE ${ARG_PRIVATE_INCLUDE})
  target_compile_features(${target} PRIVATE c_std_11)
  target_compile_options(${target} PRIVATE -w)
endfunction()

km_fetched_c(tree_sitter_runtime tree-sitter-0.25.1
  INCLUDE vendor/tree-sitter/lib/include
  PRIVATE_INCLUDE vendor/tree-sitter/lib/src
  SOURCES vendor/tree-sitter/lib/src/lib.c)
target_compile_definitions(tree_sitter_runtime PRIVATE _POSIX_C_SOURCE=200112L _DEFAULT_SOURCE)

km_fetched_c(tree_sitter_python tree-sitter-python-0.23.6
  INCLUDE src
  SOURCES src/parser.c src/scanner.c)
