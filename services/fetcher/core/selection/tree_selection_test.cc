#include "services/fetcher/core/selection/tree_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Paths(const std::vector<Entry>& entries) {
  std::vector<std::string> paths;
  for (const Entry& entry : entries) paths.push_back(entry.path);
  return paths;
}

class TreeSelectionTest : public ::testing::Test {
 protected:
  Listing Select(const std::vector<std::string>& paths, TreeSelection::PathRule always = nullptr) {
    TreeSelection selection(&globs_, limits_);
    for (const std::string& path : paths) {
      EXPECT_THAT(selection.AddFile(path, EntryKind::kFile, path), IsOk());
    }
    Listing listing;
    selection.Finish(listing, always);
    return listing;
  }

  TreeLimits limits_;
  GlobSet globs_ = *GlobSet::Compile({"**/*.py"}, {"skip/**"});
};

TEST_F(TreeSelectionTest, TakesWhatGlobsNameSortedAndCountsTheRest) {
  const Listing listing = Select({"b.py", "a/x.py", "skip/y.py", "README", "B.py"});
  EXPECT_THAT(Paths(listing.files), ElementsAre("B.py", "a/x.py", "b.py"));
  EXPECT_EQ(listing.unselected, 2);
}

TEST_F(TreeSelectionTest, KindsOfCodeThatNoIncludeNamesAreCounted) {
  const auto unasked = [&](const std::vector<std::string>& paths) {
    std::vector<std::string> texts;
    for (const v1::UnaskedFiles& kind : Select(paths).unasked) {
      texts.push_back(
          absl::StrCat(kind.glob(), " ", kind.files(), " ", absl::StrJoin(kind.paths(), " ")));
    }
    return texts;
  };
  EXPECT_THAT(unasked({"a.py", "d.cu", "c.cuh", "b/x.cu", "a.cu", "skip/a.cu", "n.ipynb", "r.md",
                       "x.cpp", "skip/n.ipynb"}),
              ElementsAre("**/*.ipynb 1 n.ipynb", "**/*.{cu,cuh,hip} 4 a.cu b/x.cu c.cuh"));
  EXPECT_THAT(unasked({"a.py", "skip/a.cu"}), IsEmpty());
  globs_ = *GlobSet::Compile({"**/*.py", "k.cu"}, {});
  EXPECT_THAT(unasked({"k.cu", "l.cu"}), IsEmpty());
}

TEST_F(TreeSelectionTest, LicencesOfRootAndAncestorsAlone) {
  const Listing listing =
      Select({"LICENSE", "a/b/x.py", "a/Licence.txt", "a/b/copying", "a/b/c/LICENSE", "z/NOTICE",
              "LICENSES/MIT.txt", "a/licenses/BSD.txt", "z/LICENSES/GPL.txt", "a/license.py",
              "a/UNLICENSE"});
  EXPECT_THAT(Paths(listing.licenses),
              ElementsAre("LICENSE", "LICENSES/MIT.txt", "a/Licence.txt", "a/UNLICENSE",
                          "a/b/copying", "a/licenses/BSD.txt"));
}

TEST_F(TreeSelectionTest, ReusesFilesComeAlong) {
  const Listing listing =
      Select({"REUSE.toml", ".reuse/dep5", "a/x.py", "a/x.py.license", "a/x.png.license",
              "a/REUSE.toml", "z/REUSE.toml", "z/y.py.license"});
  EXPECT_THAT(Paths(listing.licenses),
              ElementsAre(".reuse/dep5", "REUSE.toml", "a/REUSE.toml", "a/x.py.license"));
}

TEST_F(TreeSelectionTest, MetadataOfPackagesGoesAlongBehindLicences) {
  const std::vector<std::string> paths = {"a/x.py", "a/setup.py", "a/LICENSE", "pyproject.toml",
                                          "z/setup.cfg"};
  EXPECT_THAT(Paths(Select(paths).licenses),
              ElementsAre("a/LICENSE", "a/setup.py", "pyproject.toml"));
  limits_.licenses = 1;
  EXPECT_THAT(Paths(Select(paths).licenses), ElementsAre("a/LICENSE"));
}

TEST_F(TreeSelectionTest, FilesThatStateRequirementsComeInTheOrderOfTheirRank) {
  const Listing listing = Select(
      {"requirements.txt", "a/setup.py", "setup.py", "pyproject.toml", "requirements-dev.txt"});
  EXPECT_THAT(Paths(listing.requirements), ElementsAre("pyproject.toml", "setup.py",
                                                       "requirements-dev.txt", "requirements.txt"));
}

TEST_F(TreeSelectionTest, RuleAddsLicencesFromElsewhere) {
  const Listing listing =
      Select({"pkg/x.py", "pkg-1.dist-info/LICENSE", "other/LICENSE"},
             [](absl::string_view path) { return absl::StrContains(path, ".dist-info/"); });
  EXPECT_THAT(Paths(listing.licenses), ElementsAre("pkg-1.dist-info/LICENSE"));
}

TEST_F(TreeSelectionTest, ShallowestLicencesAreKept) {
  limits_.licenses = 2;
  const Listing listing = Select({"a/b/x.py", "a/b/LICENSE", "a/LICENSE", "LICENSE"});
  EXPECT_THAT(Paths(listing.licenses), ElementsAre("LICENSE", "a/LICENSE"));
}

// row 23
TEST_F(TreeSelectionTest, BoundsFailTheSource) {
  limits_.entries = 3;
  limits_.depth = 5;
  limits_.path_bytes = 10;
  TreeSelection selection(&globs_, limits_);
  EXPECT_THAT(selection.AddFolder("d", 6), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(selection.AddFolder("d", 5), IsOk());
  EXPECT_THAT(selection.AddFile("a.py", EntryKind::kFile, ""), IsOk());
  EXPECT_THAT(selection.AddFile("12345678.py", EntryKind::kFile, ""),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(selection.AddFile("b", EntryKind::kFile, ""),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

// row 23
TEST_F(TreeSelectionTest, HeldPathsAreBounded) {
  limits_.held_bytes = 3 * (sizeof(Entry) + 8);
  TreeSelection selection(&globs_, limits_);
  absl::Status status;
  for (int i = 0; i < 5 && status.ok(); ++i) {
    status = selection.AddFile(absl::StrCat("f", i, ".py"), EntryKind::kFile, "");
  }
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace kernelmill::fetcher
