#include "services/validator/core/license/tree/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "services/validator/core/license/text/samples.h"

namespace kernelmill::validator {
namespace {

v1::SourceTree MakeTree(const std::vector<std::pair<std::string, std::string>>& files) {
  v1::SourceTree tree;
  for (const auto& [path, text] : files) {
    v1::SourceFile& file = *tree.add_license_files();
    file.set_path(path);
    file.set_content(text);
  }
  return tree;
}

// The expression for a file of the tree; "" where no folder has a licence file.
std::string Nearest(const v1::SourceTree& tree, const std::string& path) {
  LicenseFiles files(tree);
  const std::vector<const LicenseFinding*> findings = files.Above(path);
  if (findings.empty()) return "";
  const LicenseFinding& finding = *findings.front();
  return finding.license.has_value() ? finding.license->ToString() : kNoAssertion;
}

TEST(LicenseFilesTest, TheNearestFolderWins) {
  const v1::SourceTree tree = MakeTree({{"LICENSE", SampleText("MIT")},
                                        {"a/b/COPYING", SampleText("GPL-3.0-only")},
                                        {"c/LICENCE.txt", "some terms of our own"}});
  EXPECT_EQ(Nearest(tree, "k.py"), "MIT");
  EXPECT_EQ(Nearest(tree, "a/k.py"), "MIT");
  EXPECT_EQ(Nearest(tree, "a/b/k.py"), "GPL-3.0-only");
  EXPECT_EQ(Nearest(tree, "a/b/d/e/k.py"), "GPL-3.0-only");
  EXPECT_EQ(Nearest(tree, "a/bc/k.py"), "MIT");
  EXPECT_EQ(Nearest(tree, "c/d/k.py"), kNoAssertion);
  EXPECT_EQ(Nearest(MakeTree({{"a/LICENSE", SampleText("MIT")}}), "b/k.py"), "");
}

TEST(LicenseFilesTest, VariantsInOneFolderAreAChoice) {
  const std::string mit = SampleText("MIT");
  const std::string apache = SampleText("Apache-2.0");
  EXPECT_EQ(Nearest(MakeTree({{"LICENSE-APACHE", apache}, {"LICENSE-MIT", mit}}), "k.py"),
            "Apache-2.0 OR MIT");
  EXPECT_EQ(Nearest(MakeTree({{"LICENSE",
                               "Available under the terms of *either* of the licenses found in "
                               "LICENSE.APACHE or LICENSE.BSD."},
                              {"LICENSE.APACHE", apache},
                              {"LICENSE.BSD", SampleText("BSD-2-Clause")}}),
                    "k.py"),
            "Apache-2.0 OR BSD-2-Clause");
  EXPECT_EQ(Nearest(MakeTree({{"LICENSE", mit}, {"LICENSE-APACHE", apache}, {"LICENSE-MIT", mit}}),
                    "k.py"),
            "Apache-2.0 OR MIT");
}

TEST(LicenseFilesTest, APlainLicenceHoldsBesideOthers) {
  const std::string mit = SampleText("MIT");
  EXPECT_EQ(Nearest(MakeTree({{"COPYING", SampleText("GPL-2.0-only")}, {"LICENSE", mit}}), "k.py"),
            "GPL-2.0-only AND MIT");
  EXPECT_EQ(Nearest(MakeTree({{"LICENSE", "terms of our own"}, {"LICENSE-MIT", mit}}), "k.py"),
            kNoAssertion);
}

TEST(LicenseFilesTest, NoticesAndOthersLicencesAreNotTheFolders) {
  const std::string mit = SampleText("MIT");
  const std::string gpl = SampleText("GPL-3.0-only");
  EXPECT_EQ(Nearest(MakeTree({{"LICENSE", mit}, {"NOTICE", gpl}}), "k.py"), "MIT");
  EXPECT_EQ(Nearest(MakeTree({{"NOTICE", mit}}), "k.py"), "");
  EXPECT_EQ(Nearest(MakeTree({{"LICENSE", mit}, {"LICENSE-THIRD-PARTY", gpl}}), "k.py"), "MIT");
  EXPECT_EQ(Nearest(MakeTree({{"LICENSE", mit}, {"licenses/LICENSE-GPL", gpl}}), "k.py"), "MIT");
  EXPECT_EQ(Nearest(MakeTree({{"license.py", gpl}, {"LICENSE", mit}}), "k.py"), "MIT");
  EXPECT_EQ(Nearest(MakeTree({{"a/LICENSE", " \n"}, {"LICENSE", mit}}), "a/k.py"), "MIT");
}

TEST(LicenseFilesTest, AFolderOfTextsCountsWhereNothingElseDoes) {
  EXPECT_EQ(Nearest(MakeTree({{"LICENSES/MIT.txt", SampleText("MIT")}}), "a/k.py"), "MIT");
  EXPECT_EQ(Nearest(MakeTree({{"LICENSES/GPL-3.0-only.txt", SampleText("GPL-3.0-only")},
                              {"LICENSES/MIT.txt", SampleText("MIT")}}),
                    "k.py"),
            "GPL-3.0-only AND MIT");
}

TEST(LicenseFilesTest, AWheelsFilesStandForItsRoot) {
  EXPECT_EQ(Nearest(MakeTree({{"p-1.dist-info/licenses/LICENSE", SampleText("BSD-2-Clause")},
                              {"p-1.dist-info/licenses/NOTICE", SampleText("GPL-3.0-only")}}),
                    "p/ops/k.py"),
            "BSD-2-Clause");
  EXPECT_EQ(Nearest(MakeTree({{"p-1.dist-info/LICENSE", SampleText("MIT")}}), "p/k.py"), "MIT");
  const v1::SourceTree nested =
      MakeTree({{"p-1.dist-info/licenses/LICENSE", SampleText("MIT")},
                {"p-1.dist-info/licenses/p/x/LICENSE", SampleText("ISC")}});
  EXPECT_EQ(Nearest(nested, "p/x/k.py"), "ISC");
  EXPECT_EQ(Nearest(nested, "p/k.py"), "MIT");
}

TEST(LicenseFilesTest, EndlessPathsAreBounded) {
  const v1::SourceTree tree = MakeTree({{"LICENSE", SampleText("MIT")}});
  EXPECT_EQ(Nearest(tree, std::string(1 << 20, '/')), "MIT");
}

}  // namespace
}  // namespace kernelmill::validator
