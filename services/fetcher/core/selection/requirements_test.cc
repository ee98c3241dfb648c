#include "services/fetcher/core/selection/requirements.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelmill::fetcher {
namespace {

std::string Required(const char* path, const char* content) {
  return RequiredVersion(path, content, "triton");
}

TEST(RequirementsTest, StringLiteralsOfPyprojectAndSetup) {
  EXPECT_EQ(Required("pyproject.toml", "dependencies = [\n  \"torch\",\n  'triton>=3.0.0',\n]\n"),
            ">=3.0.0");
  EXPECT_EQ(Required("setup.py", "setup(install_requires=['torch', \"triton >=2.1, <3\"])\n"),
            ">=2.1, <3");
  EXPECT_EQ(Required("setup.py", "r = ['triton==2.0.0.post1; platform_system == \"Linux\"']\n"),
            "==2.0.0.post1");
  EXPECT_EQ(Required("pyproject.toml", "triton = \">=2.3\"\n"), ">=2.3");
  EXPECT_EQ(Required("pyproject.toml", "triton = {version = '~=3.1', optional = true}\n"), "~=3.1");
}

TEST(RequirementsTest, LinesOfTheOthers) {
  EXPECT_EQ(Required("requirements.txt", "torch>=2\nTriton[tests] == 3.*  # pinned\n"), "== 3.*");
  EXPECT_EQ(Required("setup.cfg", "[options]\ninstall_requires =\n    torch\n    triton>=2.2\r\n"),
            ">=2.2");
  EXPECT_EQ(Required("p.dist-info/METADATA",
                     "Name: p\r\nRequires-Dist: torch\r\n"
                     "Requires-Dist: triton (>=2.3.1) ; extra == 'x'\r\n\r\n"),
            ">=2.3.1");
}

TEST(RequirementsTest, TheFirstWithAVersionCounts) {
  EXPECT_EQ(Required("requirements.txt", "triton\ntriton>=2.2\ntriton>=3\n"), ">=2.2");
}

TEST(RequirementsTest, OtherPackagesCommentsAndWhatIsNoSpecifierAreNone) {
  EXPECT_EQ(Required("requirements.txt", "triton-nightly>=3\npytorch-triton>=3\ntritonx==1\n"), "");
  EXPECT_EQ(Required("requirements.txt", "# triton>=3\ntriton @ file:x\ntriton=3\ntriton>=\n"), "");
  EXPECT_EQ(Required("pyproject.toml", "triton = \"^3.0\"\n# \"triton>=3\"\n"), "");
  EXPECT_EQ(Required("setup.py", "triton >= 3\nx = 'triton>=3\n"), "");
  EXPECT_EQ(Required("p.dist-info/METADATA", "Name: p\n\nRequires-Dist: triton>=3\n"), "");
  EXPECT_EQ(Required("requirements.txt", ("triton>=" + std::string(1000, '1')).c_str()), "");
}

}  // namespace
}  // namespace kernelmill::fetcher
