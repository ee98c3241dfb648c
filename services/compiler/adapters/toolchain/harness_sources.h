#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_HARNESS_SOURCES_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_HARNESS_SOURCES_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kernelmill::compiler {

// A module of the harness (python/ beside this file), built into the program.
struct HarnessSource {
  absl::string_view name;  // "zygote"
  absl::string_view text;
};

// The program that is run (`python3 -c`), and the modules that it is sent.
absl::string_view HarnessBoot();
absl::Span<const HarnessSource> HarnessModules();

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_HARNESS_SOURCES_H_
