#include "common/toolchains/toolchains.h"

#include <string>

namespace kernelmill::toolchains {
namespace {

constexpr PinnedToolchain kToolchains[] = {
    {"triton-3.5.1", "3.5.1", "3.11", ""},
    {"triton-3.9.0", "3.9.0", "3.11", ""},
};

constexpr absl::string_view kTargets[] = {"cuda:80", "cuda:90", "cuda:100", "hip:gfx942"};

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
  proto.set_triton(std::string(toolchain.triton));
  proto.set_python(std::string(toolchain.python));
  proto.set_requirements_sha256(std::string(toolchain.requirements_sha256));
  return proto;
}

absl::Span<const absl::string_view> CompileTargets() { return kTargets; }

absl::Span<const absl::string_view> KeptForms() { return kForms; }

}  // namespace kernelmill::toolchains
