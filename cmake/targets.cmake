# One target per folder: km_library(NAME SRCS... DEPS... PRIVATE_DEPS...).
# DEPS are what a header of this folder includes; PRIVATE_DEPS what only a .cc does.
# tests/check_include_graph.py holds the #include lines to these lists.

function(km_library name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS;PRIVATE_DEPS" ${ARGN})
  if(ARG_SRCS)
    add_library(${name} STATIC ${ARG_SRCS})
    target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
    target_compile_options(${name} PRIVATE ${KERNELMILL_WARNINGS})
    target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
    set_target_properties(${name} PROPERTIES UNITY_BUILD ${KERNELMILL_UNITY} UNITY_BUILD_BATCH_SIZE 0)
    km_use_precompiled(${name} ${ARG_DEPS} ${ARG_PRIVATE_DEPS})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${name} INTERFACE ${ARG_DEPS})
  endif()
endfunction()

# A program in the build's bin folder, for tests and measurements; km_binary installs it too.
function(km_program name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE ${KERNELMILL_WARNINGS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} ${KERNELMILL_PROGRAM_DEPS})
  if("${ARG_SRCS}" STREQUAL "main.cc") # it starts a server
    km_use_precompiled(${name} gRPC::grpc++)
  else()
    km_use_precompiled(${name} ${ARG_DEPS})
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
endfunction()

function(km_binary name)
  km_program(${name} ${ARGN})
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()

# A library that tests alone use; not there, as what it needs is not, where tests are not built.
function(km_test_library name)
  if(KERNELMILL_TESTS)
    km_library(${name} ${ARGN})
  endif()
endfunction()

# A test program; LABELS sorts it (unit by default; contract, integration, chaos, ...).
function(km_test name)
  if(NOT KERNELMILL_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "TIMEOUT" "SRCS;DEPS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  add_executable(${name} ${ARG_SRCS})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE ${KERNELMILL_WARNINGS} ${KERNELMILL_UNOPTIMIZED})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} ${KERNELMILL_PROGRAM_DEPS}
    GTest::gmock GTest::gtest_main)
  km_use_precompiled(${name} GTest::gmock)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()
