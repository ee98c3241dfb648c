#include "common/source_files/source_files.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelmill::source_files {
namespace {

TEST(KindOf, LicencesAreKnownByNameInAnyCase) {
  for (const char* path :
       {"LICENSE", "a/Licence.txt", "copying.lesser", "UNLICENSE", "unlicense.md", "LICENSE-APACHE",
        "x.dist-info/LICENSE", "x.dist-info/licenses/a/LICENSE", "LICENSES/vendor/LICENSE"}) {
    EXPECT_EQ(KindOf(path), Kind::kLicense) << path;
  }
  EXPECT_EQ(KindOf("LICENSES/MIT.txt"), Kind::kLicenseText);
  EXPECT_EQ(KindOf("a/licenses/LICENSE"), Kind::kLicenseText);
  EXPECT_EQ(KindOf("a/NOTICE"), Kind::kNotice);
  EXPECT_EQ(KindOf("licenses/notice.html"), Kind::kNotice);
  EXPECT_EQ(KindOf("a/setup.py"), Kind::kMetadata);
}

TEST(KindOf, CodeAndMarkupAboutLicencesAreNone) {
  for (const char* path : {"license.py", "LICENSE.html", "unlicense.json", "license_header.txt",
                           "notice.cc", "LICENSES/check.py", "LICENSES/third-party.txt",
                           "LICENSES/deep/MIT.txt", "relicense", "setup.pyc", "", "a/"}) {
    EXPECT_EQ(KindOf(path), Kind::kOther) << path;
  }
}

TEST(KindOf, ReusesFilesSayWhichLicenceIsWhose) {
  for (const char* path : {"REUSE.toml", "a/REUSE.toml", ".reuse/dep5", "a/.reuse/dep5"}) {
    EXPECT_EQ(KindOf(path), Kind::kAnnotations) << path;
  }
  EXPECT_EQ(KindOf("a/k.cu.license"), Kind::kSideTags);
  EXPECT_EQ(FileOfSideTags("a/k.cu.license"), "a/k.cu");
  for (const char* path :
       {"reuse.toml", "dep5", "a/.reuse/dep5.txt", "k.license", "a.b/.license"}) {
    EXPECT_EQ(KindOf(path), Kind::kOther) << path;
  }
  EXPECT_EQ(FolderItIsAbout(".reuse/dep5"), "");
  EXPECT_EQ(FolderItIsAbout("a/.reuse/dep5"), "a");
  EXPECT_EQ(FolderItIsAbout("a/REUSE.toml"), "a");
}

// "folder|container|certain" of a path, "" where it is in none.
std::string Vendored(absl::string_view path) {
  const auto folder = VendoredFolderOf(path);
  if (!folder.has_value()) return "";
  return std::string(folder->path) + "|" + std::string(folder->container) +
         (folder->certain ? "|certain" : "|likely");
}

TEST(VendoredFolderOf, IsTheInnermostByItsName) {
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

}  // namespace
}  // namespace kernelmill::source_files
