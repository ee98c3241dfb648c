#include "common/toolchains/toolchains.h"

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kernelmill::toolchains {
namespace {

constexpr int64_t kMaxRequirements = 1 << 20;

// REQUIREMENTS is deploy/toolchains, what the compilers are installed by.
std::string RequirementsFile(absl::string_view name) {
  return absl::StrCat(REQUIREMENTS, "/", name, ".txt");
}

TEST(ToolchainsTest, EachIsWhatItsRequirementsPin) {
  for (const PinnedToolchain& toolchain : PinnedToolchains()) {
    const auto requirements = ReadFile(RequirementsFile(toolchain.name), kMaxRequirements);
    ASSERT_TRUE(requirements.ok()) << requirements.status();
    EXPECT_EQ(Sha256Hex(*requirements), toolchain.requirements_sha256) << toolchain.name;
    EXPECT_TRUE(absl::StrContains(
        *requirements, absl::StrCat("\n", toolchain.package, "==", toolchain.version, " ")));
    EXPECT_TRUE(absl::StrContains(*requirements, absl::StrCat("CPython ", toolchain.python, ",")));
  }
}

TEST(ToolchainsTest, EveryRequirementsFileIsAToolchain) {
  std::vector<std::string> files, expected;
  for (const auto& entry : std::filesystem::directory_iterator(REQUIREMENTS)) {
    files.push_back(entry.path().string());
  }
  for (const PinnedToolchain& toolchain : PinnedToolchains()) {
    expected.push_back(RequirementsFile(toolchain.name));
  }
  EXPECT_THAT(files, testing::UnorderedElementsAreArray(expected));
}

TEST(ToolchainsTest, EachHasALanguageAndKnownTargets) {
  for (const PinnedToolchain& toolchain : PinnedToolchains()) {
    EXPECT_FALSE(toolchain.languages.empty()) << toolchain.name;
    EXPECT_THAT(toolchain.targets, testing::IsSubsetOf(CompileTargets())) << toolchain.name;
    EXPECT_TRUE(toolchain.HasLanguage(toolchain.languages[0]));
    EXPECT_FALSE(toolchain.HasLanguage("metal"));
  }
}

TEST(ToolchainsTest, AnUnknownNameIsNone) { EXPECT_EQ(FindToolchain("triton-2.0.0"), nullptr); }

}  // namespace
}  // namespace kernelmill::toolchains
