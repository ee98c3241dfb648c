#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_PROTOCOL_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_PROTOCOL_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/compiler/core/compiler.h"

namespace kernelmill::compiler {

// What the worker and the harness say to each other: objects of JSON, one a line.

// The modules of the harness: what its boot.py reads first.
std::string HarnessLine();

// A kernel's job, without its toolchain.
std::string JobLine(const KernelJob& job);

// What python/zygote.py says of `job`. INTERNAL: it is no report of this job. UNAVAILABLE: the
// machine could not compile it.
absl::StatusOr<KernelReport> ParseReport(absl::string_view line, const KernelJob& job);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_PROTOCOL_H_
