# Precompiled headers: parsing the standard library, Abseil, Protobuf and gRPC took three quarters of the compiler's
# time. They hold no header of ours but the generated messages, so that editing one recompiles only its users.
# -DKERNELMILL_PRECOMPILE=OFF shows a file that includes too little.

option(KERNELMILL_PRECOMPILE "Use precompiled headers" ON)

# The tests' own code is compiled without optimization: optimizing it took a quarter of the build. No code of the programs
# may be: the linker keeps one copy of each template's instance, and a slow std::string of one file slows the program.
set(KERNELMILL_UNOPTIMIZED "$<$<CONFIG:RelWithDebInfo>:-O0>")

set(KERNELMILL_HEADERS
  <algorithm> <array> <atomic> <chrono> <cstdint> <filesystem> <functional> <map> <memory> <mutex> <optional> <set>
  <string> <thread> <utility> <vector>
  <absl/algorithm/container.h> <absl/container/flat_hash_map.h> <absl/container/flat_hash_set.h>
  <absl/functional/function_ref.h> <absl/status/statusor.h> <absl/strings/cord.h> <absl/strings/escaping.h>
  <absl/strings/numbers.h> <absl/strings/str_cat.h> <absl/strings/str_format.h> <absl/strings/str_join.h>
  <absl/strings/str_replace.h> <absl/strings/str_split.h> <absl/synchronization/notification.h> <absl/time/clock.h>
  <absl/types/span.h> <nlohmann/json.hpp>
  <build/bazel/remote/execution/v2/remote_execution.pb.h> <kernelmill/v1/crawl.pb.h> <kernelmill/v1/dataset.pb.h>
  <kernelmill/v1/stages.pb.h> <kernelmill/v1/work.pb.h>)
set(KERNELMILL_GRPC_HEADERS
  <grpcpp/grpcpp.h> <kernelmill/v1/crawl.grpc.pb.h> <kernelmill/v1/stages.grpc.pb.h> <kernelmill/v1/store.grpc.pb.h>
  <kernelmill/v1/work.grpc.pb.h> <build/bazel/remote/execution/v2/remote_execution.grpc.pb.h>
  <google/bytestream/bytestream.grpc.pb.h>)

# km_precompiled(NAME HEADER...): precompiled headers that targets use by km_use_precompiled.
function(km_precompiled name)
  file(CONFIGURE OUTPUT ${name}.cc CONTENT "// Has the precompiled headers of cmake/precompiled.cmake.\n")
  add_library(${name} OBJECT "${CMAKE_CURRENT_BINARY_DIR}/${name}.cc")
  target_link_libraries(${name} PRIVATE protobuf::libprotobuf gRPC::grpc++)
  target_include_directories(${name} SYSTEM PRIVATE "${PROJECT_BINARY_DIR}/proto")
  target_precompile_headers(${name} PRIVATE ${ARGN})
  # ccache knows precompiled headers by this file, where there is one: by what is in them, not by where they lie,
  # so that a second clone shares what the first has compiled.
  set(header "CMakeFiles/${name}.dir/cmake_pch.hxx")
  set(preprocess "'${CMAKE_CXX_COMPILER}' -std=c++20 -w -E -P -MD -MF ${header}.d -MT ${header}.pch.sum -isystem proto")
  add_custom_command(OUTPUT "${PROJECT_BINARY_DIR}/${header}.pch.sum"
    COMMAND sh -c "${preprocess} ${header} | sha256sum >${header}.pch.sum"
    WORKING_DIRECTORY "${PROJECT_BINARY_DIR}"
    DEPFILE "${PROJECT_BINARY_DIR}/${header}.d"
    VERBATIM)
  add_custom_target(${name}_sum DEPENDS "${PROJECT_BINARY_DIR}/${header}.pch.sum")
  add_dependencies(${name}_sum proto_headers)
  add_dependencies(${name} ${name}_sum)
endfunction()

# km_use_precompiled(TARGET DEP...): takes those that fit what the target links.
function(km_use_precompiled target)
  if(NOT KERNELMILL_PRECOMPILE)
    return()
  endif()
  if("GTest::gmock" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM km_test_headers)
    target_compile_options(${target} PRIVATE ${KERNELMILL_UNOPTIMIZED}) # as its precompiled headers are
  elseif("gRPC::grpc++" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM km_grpc_headers)
  else()
    target_precompile_headers(${target} REUSE_FROM km_headers)
  endif()
endfunction()

if(KERNELMILL_PRECOMPILE)
  # Every file has to be compiled as its precompiled headers were, and ccache wants no time of day in them.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-pthread>")
  set(CMAKE_CXX_COMPILE_OPTIONS_PIE -fPIC)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
    # CMake's own options name the header too, with its whole path, which no other clone has.
    set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)
  endif()
  km_precompiled(km_headers ${KERNELMILL_HEADERS})
  km_precompiled(km_grpc_headers ${KERNELMILL_HEADERS} ${KERNELMILL_GRPC_HEADERS})
  if(KERNELMILL_TESTS)
    km_precompiled(km_test_headers ${KERNELMILL_HEADERS} ${KERNELMILL_GRPC_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
    target_link_libraries(km_test_headers PRIVATE GTest::gmock)
    target_compile_options(km_test_headers PRIVATE ${KERNELMILL_UNOPTIMIZED})
  endif()
endif()
