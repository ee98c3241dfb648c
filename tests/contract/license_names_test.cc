// The fetcher fetches every file that the validator reads as a licence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "services/fetcher/adapters/local/local_tree.h"
#include "services/fetcher/core/assemble.h"
#include "services/validator/core/license/finder.h"

namespace kernelmill {
namespace {

using ::kernelmill::testing::IsOk;

constexpr char kUnlicense[] =
    R"(This is free and unencumbered software released into the public domain.

Anyone is free to copy, modify, publish, use, compile, sell, or
distribute this software, either in source code form or as a compiled
binary, for any purpose, commercial or non-commercial, and by any
means.

In jurisdictions that recognize copyright laws, the author or authors
of this software dedicate any and all copyright interest in the
software to the public domain. We make this dedication for the benefit
of the public at large and to the detriment of our heirs and
successors. We intend this dedication to be an overt act of
relinquishment in perpetuity of all present and future rights to this
software under copyright law.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND,
EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT.
IN NO EVENT SHALL THE AUTHORS BE LIABLE FOR ANY CLAIM, DAMAGES OR
OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR
OTHER DEALINGS IN THE SOFTWARE.

For more information, please refer to <https://unlicense.org/>
)";

// Returns the licence of a.py in a repository with one other file.
std::string LicenseBeside(const std::string& path, const std::string& content) {
  const absl::StatusOr<TempDir> folder = TempDir::Create();
  EXPECT_THAT(folder, IsOk());
  const std::string file = folder->path() + "/" + path;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path());
  EXPECT_THAT(WriteFile(file, content), IsOk());
  EXPECT_THAT(WriteFile(folder->path() + "/a.py", "import triton\n"), IsOk());
  const auto globs = GlobSet::Compile({"**/*.py"}, {});
  auto snapshot = fetcher::OpenLocalTree(folder->path(), *globs, {});
  EXPECT_THAT(snapshot, IsOk());
  const absl::StatusOr<v1::SourceTree> tree = fetcher::DescribeTree(**snapshot, "r", {});
  EXPECT_THAT(tree, IsOk());
  return validator::LicenseFinder(*tree).Find("a.py", "import triton\n").expression();
}

TEST(LicenseNames, ARepositoryWhoseOnlyLicenceIsUnlicenseGetsIt) {
  for (const char* path : {"UNLICENSE", "unlicense.txt", "LICENSE", "LICENCE.md", "COPYING",
                           "LICENSES/Unlicense.txt"}) {
    EXPECT_EQ(LicenseBeside(path, kUnlicense), "Unlicense") << path;
  }
}

TEST(LicenseNames, MetadataOfAPackageCounts) {
  EXPECT_EQ(LicenseBeside("pyproject.toml", "[project]\nlicense = \"MIT\"\n"), "MIT");
  EXPECT_EQ(LicenseBeside("setup.cfg", "[metadata]\nlicense = MIT\n"), "MIT");
  EXPECT_EQ(LicenseBeside("setup.py", "setup(license='MIT')\n"), "MIT");
}

TEST(LicenseNames, ReusesFilesCount) {
  const std::string table =
      "[[annotations]]\npath = \"*.py\"\nSPDX-License-Identifier = \"Zlib\"\n";
  EXPECT_EQ(LicenseBeside("REUSE.toml", table), "Zlib");
  EXPECT_EQ(LicenseBeside(".reuse/dep5", "Files: *.py\nCopyright: X\nLicense: Zlib\n"), "Zlib");
  EXPECT_EQ(LicenseBeside("a.py.license", "SPDX-License-Identifier: Zlib\n"), "Zlib");
  EXPECT_EQ(LicenseBeside("b.py.license", "SPDX-License-Identifier: Zlib\n"), "NOASSERTION");
}

TEST(LicenseNames, CodeAboutLicencesIsNone) {
  EXPECT_EQ(LicenseBeside("license.json", kUnlicense), "NOASSERTION");
  EXPECT_EQ(LicenseBeside("unlicense.py", kUnlicense), "NOASSERTION");
}

}  // namespace
}  // namespace kernelmill
