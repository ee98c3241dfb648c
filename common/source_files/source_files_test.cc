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
