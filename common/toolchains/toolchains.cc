// To pin another version: write its requirements file with hashes in deploy/toolchains and add a
// row with the file's SHA-256 (toolchains_test compares them). Jobs that name no toolchain compile
// with all rows.
#include "common/toolchains/toolchains.h"

#include <string>

namespace kernelmill::toolchains {
namespace {

constexpr PinnedToolchain kToolchains[] = {
    {"triton-3.5.1", "3.5.1", "3.11",
     "cdae2d58176bfe79f4eed9a5eaa669ea45f913713d5881edf02c2382eda70e5a"},
    {"triton-3.9.0", "3.9.0", "3.11",
     "24ab4cf5ee230641d3bf58286be6482990020def9a4d5ed62852e6514fe9ccaa"},
};

constexpr absl::string_view kTargets[] = {"cuda:80", "cuda:90", "cuda:100", "hip:gfx942"};

constexpr absl::string_view kDevices[] = {"cpu", "cuda:80", "cuda:90", "cuda:100"};

constexpr absl::string_view kForms[] = {"ttir", "ttgir", "llir", "ptx", "amdgcn"};

}  // namespace

absl::Span<const PinnedToolchain> PinnedToolchains() { return kToolchains; }

const PinnedToolchain* FindToolchain(absl::string_view name) {
  for (const PinnedToolchain& toolchain : kToolchains) {
    if (toolchain.name == name) return &toolchain;
  }
  return nullptr;
}

v1::Toolchain ToProto(const PinnedToolchain& toolchain) {
  v1::Toolchain proto;
  proto.set_name(std::string(toolchain.name));
  proto.set_version(std::string(toolchain.triton));
  proto.set_python(std::string(toolchain.python));
  proto.set_requirements_sha256(std::string(toolchain.requirements_sha256));
  return proto;
}

absl::Span<const absl::string_view> CompileTargets() { return kTargets; }

absl::Span<const absl::string_view> RunDevices() { return kDevices; }

absl::Span<const absl::string_view> KeptForms() { return kForms; }

}  // namespace kernelmill::toolchains
