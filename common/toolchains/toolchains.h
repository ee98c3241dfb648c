#ifndef KERNELMILL_COMMON_TOOLCHAINS_TOOLCHAINS_H_
#define KERNELMILL_COMMON_TOOLCHAINS_TOOLCHAINS_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kernelmill/v1/compile.pb.h"

namespace kernelmill::toolchains {

// Which compilers there are, what they compile for, and what they make on the way: job files name
// them, the coordinator puts them into actions, the compiler's process looks for them.

// A Triton version with all wheels that it needs, each pinned by its hash.
struct PinnedToolchain {
  absl::string_view name;                 // "triton-3.5.1"
  absl::string_view triton;               // its version
  absl::string_view python;               // major and minor version, "3.11"
  absl::string_view requirements_sha256;  // of the requirements file; hexadecimal
};

// Oldest first; a job that names none compiles by all of them.
absl::Span<const PinnedToolchain> PinnedToolchains();

// Null: none is pinned under this name.
const PinnedToolchain* FindToolchain(absl::string_view name);

// As actions and manifests have it.
v1::Toolchain ToProto(const PinnedToolchain& toolchain);

// "cuda:80", ...; a job that names none compiles for all of them.
absl::Span<const absl::string_view> CompileTargets();

// Intermediate forms that a job may keep, in the order in which a compiler makes them. Machine code
// is not among them.
absl::Span<const absl::string_view> KeptForms();

}  // namespace kernelmill::toolchains

#endif  // KERNELMILL_COMMON_TOOLCHAINS_TOOLCHAINS_H_
