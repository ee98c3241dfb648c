#include "common/source_files/source_files.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelmill::source_files {
namespace {

TEST(GlobOfCode, NamesSayThatFilesHoldCode) {
  EXPECT_EQ(GlobOfCode("a/x.ipynb"), "**/*.ipynb");
  EXPECT_EQ(GlobOfCode("a/x.metal"), "**/*.metal");
  for (const char* path : {"a.cu", "b/a.cuh", "a.hip"}) {
    EXPECT_EQ(GlobOfCode(path), "**/*.{cu,cuh,hip}") << path;
  }
  for (const char* path : {"a.py", "a.h", "a.cpp", "README.md", "a.cu.license", "cu", ""}) {
    EXPECT_EQ(GlobOfCode(path), "") << path;
  }
}

TEST(GetKind, LicencesAreKnownByNameInAnyCase) {
  for (const char* path :
       {"LICENSE", "a/Licence.txt", "copying.lesser", "UNLICENSE", "unlicense.md", "LICENSE-APACHE",
        "x.dist-info/LICENSE", "x.dist-info/licenses/a/LICENSE", "LICENSES/vendor/LICENSE"}) {
    EXPECT_EQ(GetKind(path), Kind::kLicense) << path;
  }
  EXPECT_EQ(GetKind("LICENSES/MIT.txt"), Kind::kLicenseText);
  EXPECT_EQ(GetKind("a/licenses/LICENSE"), Kind::kLicenseText);
  EXPECT_EQ(GetKind("a/NOTICE"), Kind::kNotice);
  EXPECT_EQ(GetKind("licenses/notice.html"), Kind::kNotice);
  EXPECT_EQ(GetKind("a/setup.py"), Kind::kMetadata);
  EXPECT_EQ(GetKind("x-1.dist-info/licenses/LEGAL.txt"), Kind::kLicenseText);
  EXPECT_EQ(GetKind("a/ADDITIONAL_TERMS.md"), Kind::kTerms);
  EXPECT_EQ(GetKind("README.rst"), Kind::kReadme);
  EXPECT_EQ(GetKind("COPYRIGHT"), Kind::kNotice);
}

TEST(GetKind, CodeAndMarkupAboutLicencesAreNone) {
  for (const char* path : {"license.py", "LICENSE.html", "unlicense.json", "license_header.txt",
                           "notice.cc", "LICENSES/check.py", "LICENSES/third-party.txt",
                           "LICENSES/deep/MIT.txt", "relicense", "setup.pyc", "", "a/"}) {
    EXPECT_EQ(GetKind(path), Kind::kOther) << path;
  }
}

TEST(GetKind, ReusesFilesSayWhichLicenceIsWhose) {
  for (const char* path : {"REUSE.toml", "a/REUSE.toml", ".reuse/dep5", "a/.reuse/dep5"}) {
    EXPECT_EQ(GetKind(path), Kind::kAnnotations) << path;
  }
  EXPECT_EQ(GetKind("a/k.cu.license"), Kind::kSideTags);
  EXPECT_EQ(FileOfSideTags("a/k.cu.license"), "a/k.cu");
  for (const char* path :
       {"reuse.toml", "dep5", "a/.reuse/dep5.txt", "k.license", "a.b/.license"}) {
    EXPECT_EQ(GetKind(path), Kind::kOther) << path;
  }
  EXPECT_EQ(FolderItIsAbout(".reuse/dep5"), "");
  EXPECT_EQ(FolderItIsAbout("a/.reuse/dep5"), "a");
  EXPECT_EQ(FolderItIsAbout("a/REUSE.toml"), "a");
}

// "folder|container|certain" of a path, "" where it is in none.
std::string Vendored(absl::string_view path) {
  const auto folder = FindVendoredFolder(path);
  if (!folder.has_value()) return "";
  return std::string(folder->path) + "|" + std::string(folder->container) +
         (folder->certain ? "|certain" : "|likely");
}

TEST(FindVendoredFolder, IsTheInnermostByItsName) {
  EXPECT_EQ(Vendored("third_party/x/a/k.py"), "third_party/x|third_party|certain");
  EXPECT_EQ(Vendored("a/3rd-party/k.py"), "a/3rd-party|a/3rd-party|certain");
  EXPECT_EQ(Vendored("p/_vendor/q/r.py"), "p/_vendor/q|p/_vendor|certain");
  EXPECT_EQ(Vendored("third_party/x/deps/y/k.cu"),
            "third_party/x/deps/y|third_party/x/deps|likely");
  EXPECT_EQ(Vendored("External/x/k.cu"), "External/x|External|likely");
  for (const char* path : {"k.py", "third_party", "vendors/ascend/k.py", "a/thirdparty.py",
                           "my_third_party/k.py", "dependency/k.py", ""}) {
    EXPECT_EQ(Vendored(path), "") << path;
  }
}

TEST(FolderItIsAbout, IsItsOwnOrTheOneOfItsLicensesFolder) {
  EXPECT_EQ(FolderItIsAbout("LICENSE"), "");
  EXPECT_EQ(FolderItIsAbout("a/b/LICENSE"), "a/b");
  EXPECT_EQ(FolderItIsAbout("a/LICENSES/MIT.txt"), "a");
  EXPECT_EQ(FolderItIsAbout("LICENSES/MIT.txt"), "");
  EXPECT_EQ(FolderItIsAbout("x-1.dist-info/LICENSE"), "");
  EXPECT_EQ(FolderItIsAbout("x-1.dist-info/licenses/a/LICENSE"), "a");
  EXPECT_EQ(FolderItIsAbout("a/setup.py"), "a");
}

TEST(RequirementRank, AWheelsMetadataThenTheRootsFiles) {
  int rank = 0;
  for (const char* path : {"x.dist-info/METADATA", "pyproject.toml", "setup.cfg", "setup.py",
                           "requirements-dev.txt"}) {
    EXPECT_EQ(RequirementRank(path), rank++) << path;
  }
  for (const char* path : {"a/setup.py", "METADATA", "x/METADATA", "x.dist-info/a/METADATA",
                           "requirements/a.txt", "requirements.py"}) {
    EXPECT_EQ(RequirementRank(path), std::nullopt) << path;
  }
}

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
}  // namespace kernelmill::source_files
