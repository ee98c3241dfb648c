# esbuild: the program that bundles the front ends.
set(esbuild "${PROJECT_SOURCE_DIR}/.cache/grammars/esbuild-linux-x64-0.28.2/bin/esbuild")
if(NOT EXISTS "${esbuild}")
  message(FATAL_ERROR "esbuild is not in .cache/grammars: run deploy/fetch_grammars.sh first")
endif()
