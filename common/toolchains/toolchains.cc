// To pin another version: write its requirements file with hashes in deploy/toolchains and add a
// row with the file's SHA-256 (toolchains_test compares them). Jobs that name no toolchain compile
// with all rows, each kernel with those of its language.
#include "common/toolchains/toolchains.h"

#include <algorithm>
#include <string>

namespace kernelmill::toolchains {
namespace {

constexpr absl::string_view kTargets[] = {"cuda:80", "cuda:90", "cuda:100", "hip:gfx942",
                                          "tpu:v6e"};
constexpr absl::string_view kTritonTargets[] = {"cuda:80", "cuda:90", "cuda:100", "hip:gfx942"};
constexpr absl::string_view kCudaTargets[] = {"cuda:80", "cuda:90", "cuda:100"};

// Mosaic's IR for a GPU is made without one for this target alone.
constexpr absl::string_view kJaxTargets[] = {"tpu:v6e", "cuda:90"};

constexpr absl::string_view kTriton[] = {"triton", "gluon"};
constexpr absl::string_view kCuda[] = {"cuda"};
constexpr absl::string_view kCute[] = {"cute"};
constexpr absl::string_view kCutile[] = {"cutile"};
constexpr absl::string_view kNumba[] = {"numba"};
constexpr absl::string_view kPallas[] = {"pallas"};
constexpr absl::string_view kTilelang[] = {"tilelang"};
constexpr absl::string_view kWarp[] = {"warp"};

constexpr PinnedToolchain kToolchains[] = {
    {"triton-3.5.1", "triton", "triton", "3.5.1", "3.11",
     "cdae2d58176bfe79f4eed9a5eaa669ea45f913713d5881edf02c2382eda70e5a", kTriton, kTritonTargets},
    {"triton-3.9.0", "triton", "triton", "3.9.0", "3.11",
     "24ab4cf5ee230641d3bf58286be6482990020def9a4d5ed62852e6514fe9ccaa", kTriton, kTritonTargets},
    {"nvrtc-12.9", "nvrtc", "nvidia-cuda-nvrtc-cu12", "12.9.86", "3.11",
     "0a06506fc7cee46d24678609abf792e698341df1af97b8a2d9b1f3c187131405", kCuda, kCudaTargets},
    {"warp-1.19", "warp", "warp-lang", "1.19.0", "3.11",
     "ff86a16e50d8c40837d98195b9ed0bf3b661999c8d93003891529bce4ae41ca5", kWarp, kCudaTargets},
    {"cutile-1.7", "cutile", "cuda-tile", "1.7.0", "3.11",
     "2d51b173609c5bda4eeebe5250afda8ac68496e41dcd312e379b9bdbcfd44647", kCutile, kCudaTargets},
    {"cute-4.8", "cute", "nvidia-cutlass-dsl", "4.8.1", "3.11",
     "1b46ebdeed88ccf04e9c87ffa5beeb8d9bfc1b8d8d6f01a0d3f0e2e24dcf8c61", kCute, kCudaTargets},
    {"numba-0.30", "numba", "numba-cuda", "0.30.4", "3.11",
     "668d66c27b8fc89ff29b9d54135e5e13ffe806cd5db2eedfc0ee02bcbc03a64e", kNumba, kCudaTargets},
    {"jax-0.10", "jax", "jax", "0.10.2", "3.11",
     "1979423f8118a3587f9675ea0f9ddaf355d8ece5f619d46937544aeb81d7925d", kPallas, kJaxTargets},
    {"tilelang-0.1", "tilelang", "tilelang", "0.1.15", "3.11",
     "6a24888226c67762ecac72bbe8b8b50e7dc91f652f17044e7bc774b86762f985", kTilelang, kCudaTargets},
};

constexpr absl::string_view kDevices[] = {"cpu", "cuda:80", "cuda:90", "cuda:100"};

constexpr absl::string_view kForms[] = {"ttir",   "ttgir",     "llir",  "ptx",
                                        "amdgcn", "stablehlo", "mosaic"};

}  // namespace

bool PinnedToolchain::HasLanguage(absl::string_view language) const {
  return std::find(languages.begin(), languages.end(), language) != languages.end();
}

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
  proto.set_version(std::string(toolchain.version));
  proto.set_python(std::string(toolchain.python));
  proto.set_requirements_sha256(std::string(toolchain.requirements_sha256));
  proto.set_compiler(std::string(toolchain.compiler));
  for (const absl::string_view language : toolchain.languages) {
    proto.add_languages(std::string(language));
  }
  for (const absl::string_view target : toolchain.targets) proto.add_targets(std::string(target));
  return proto;
}

absl::Span<const absl::string_view> CompileTargets() { return kTargets; }

absl::Span<const absl::string_view> RunDevices() { return kDevices; }

absl::Span<const absl::string_view> KeptForms() { return kForms; }

}  // namespace kernelmill::toolchains
