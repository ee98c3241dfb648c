#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_HARNESS_SOURCES_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_HARNESS_SOURCES_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kernelmill::compiler {

// A module of the harness (python/ beside this file), which CMake builds into the program.
struct HarnessSource {
  absl::string_view name;  // "zygote"
  absl::string_view text;
};

// Return the program for `python3 -c`, and the modules that the worker sends to it.
absl::string_view HarnessBoot();
absl::Span<const HarnessSource> HarnessModules();

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_HARNESS_SOURCES_H_
