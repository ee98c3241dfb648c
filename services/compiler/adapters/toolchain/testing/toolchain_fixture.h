#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_TESTING_TOOLCHAIN_FIXTURE_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_TESTING_TOOLCHAIN_FIXTURE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "common/toolchains/toolchains.h"
#include "gtest/gtest.h"
#include "services/compiler/adapters/sandbox/support.h"
#include "services/compiler/adapters/toolchain/toolchain_compiler.h"
#include "services/compiler/core/compiler.h"

namespace kernelmill::compiler {

// Makes the job of a kernel that adds, for all four targets.
KernelJob AddJob(const std::string& toolchain);

// A test for each installed toolchain of a compiler. Skipped if a toolchain or the sandbox is
// missing.
class ToolchainTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;

  // Returns null and fails the test if the toolchain cannot be opened.
  static std::unique_ptr<Compiler> Open(bool unsafe_no_sandbox);

  // Compiles a kernel with and without the sandbox. Returns the results for its targets, which must
  // be the same and `ok`.
  std::vector<v1::CompileResult> CompileOnBoth(const KernelJob& job);

  std::unique_ptr<Compiler> compiler_;
};

// Returns the pinned toolchains of a compiler.
inline auto GetToolchains(absl::string_view compiler) {
  std::vector<std::string> names;
  for (const auto& toolchain : toolchains::PinnedToolchains()) {
    if (toolchain.compiler == compiler) names.emplace_back(toolchain.name);
  }
  return ::testing::ValuesIn(names);
}

// Names a test "triton_3_5_1".
inline auto ToolchainTestName() {
  return [](const ::testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    for (char& c : name) {
      if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
    }
    return name;
  };
}

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_TESTING_TOOLCHAIN_FIXTURE_H_
