#ifndef KERNELMILL_COMMON_TOOLCHAINS_TOOLCHAINS_H_
#define KERNELMILL_COMMON_TOOLCHAINS_TOOLCHAINS_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kernelmill/v1/compile.pb.h"

namespace kernelmill::toolchains {

// The compilers that are pinned, the targets that they compile for and the intermediate forms that
// they make. Job files name them, the coordinator puts them into actions, and the compiler looks
// for them on its machine.

// A compiler with all wheels that it needs, each pinned by its hash. To add one that is a new kind
// of compiler: a row, a requirements file, a driver of the harness
// (services/compiler/adapters/toolchain/python), and a Guesser (services/compiler/core/guesser.h).
struct PinnedToolchain {
  absl::string_view name;      // "triton-3.5.1"
  absl::string_view compiler;  // "triton", "nvrtc", ...: which driver and which Guesser it has
  absl::string_view package;   // the wheel of the compiler itself
  absl::string_view version;   // of that wheel
  absl::string_view python;    // major and minor version, "3.11"
  absl::string_view requirements_sha256;          // the requirements file's SHA-256; hexadecimal
  absl::Span<const absl::string_view> languages;  // of the kernels that it compiles
  absl::Span<const absl::string_view> targets;    // those of CompileTargets() that it has

  bool HasLanguage(absl::string_view language) const;
};

// Returns all pinned toolchains, oldest first. A job that names no toolchain compiles with all of
// them.
absl::Span<const PinnedToolchain> PinnedToolchains();

// Returns the toolchain of this name; null if it is not pinned.
const PinnedToolchain* FindToolchain(absl::string_view name);

// Returns the toolchain as actions and manifests have it.
v1::Toolchain ToProto(const PinnedToolchain& toolchain);

// Returns the targets, such as "cuda:80". A job that names no target compiles for all of them.
absl::Span<const absl::string_view> CompileTargets();

// Returns the devices that kernels can run on: Triton's interpreter on a processor, and GPUs.
absl::Span<const absl::string_view> RunDevices();

// Returns the intermediate forms that a job may keep, in the order in which a compiler makes them.
// Machine code cannot be kept.
absl::Span<const absl::string_view> KeptForms();

}  // namespace kernelmill::toolchains

#endif  // KERNELMILL_COMMON_TOOLCHAINS_TOOLCHAINS_H_
