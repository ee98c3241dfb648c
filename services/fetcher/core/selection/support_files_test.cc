#include "services/fetcher/core/selection/support_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/fetcher/core/selection/file_policy.h"

namespace kernelmill::fetcher {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kJit[] = "import triton\n@triton.jit\ndef k(): pass\n";

class SupportFilesTest : public ::testing::Test {
 protected:
  // The paths of the files, sorted by them, that are handed on for others.
  std::vector<std::string> Support(const std::vector<std::pair<std::string, std::string>>& texts) {
    std::vector<Entry> files;
    v1::SourceTree tree;
    for (const auto& [path, text] : texts) {
      files.push_back({path, EntryKind::kFile, ""});
      v1::FileEntry& file = *tree.add_files();
      const absl::string_view reason = ContentSkipReason(text);
      file.set_path(path);
      file.set_size_bytes(static_cast<int64_t>(text.size()));
      file.set_fate(reason.empty() ? v1::FILE_FATE_SHARDED : v1::FILE_FATE_SKIPPED);
      file.set_reason(std::string(reason));
    }
    SupportFiles support(files, limits_, {});
    for (size_t i = 0; i < texts.size(); ++i) {
      support.AddContent(i, texts[i].second, ContentSkipReason(texts[i].second).empty());
    }
    support.Mark(tree);
    std::vector<std::string> found;
    for (const v1::FileEntry& file : tree.files()) {
      if (!file.support()) continue;
      EXPECT_EQ(file.fate(), v1::FILE_FATE_SHARDED);
      EXPECT_EQ(file.reason(), "");
      found.push_back(file.path());
    }
    return found;
  }

  SupportLimits limits_;
};

TEST_F(SupportFilesTest, WhatKernelsFilesImportIsHandedOnAndWhatThatImports) {
  EXPECT_THAT(Support({{"p/__init__.py", ""},
                       {"p/a.py", absl::StrCat("from .b import N\n", kJit)},
                       {"p/b.py", "from p.c import *\n"},
                       {"p/c.py", "N = 1\n"},
                       {"p/d.py", "from .a import k\n"}}),
              ElementsAre("p/b.py", "p/c.py"));
}

TEST_F(SupportFilesTest, FilesWithAMarkerLeadOnButAreNotCounted) {
  EXPECT_THAT(Support({{"a.py", absl::StrCat("from b import f\n", kJit)},
                       {"b.py", "import triton\nfrom c import f\n"},
                       {"c.py", "def f(): pass\n"}}),
              ElementsAre("c.py"));
}

TEST_F(SupportFilesTest, AMarkerWithoutAnyWayToMakeKernelsWantsNothing) {
  EXPECT_THAT(Support({{"a.py", "from b import f  # as triton does\n"}, {"b.py", "f = 1\n"}}),
              IsEmpty());
  EXPECT_THAT(Support({{"a.cu", absl::StrCat("from b import f\n", kJit)}, {"b.py", "f = 1\n"}}),
              IsEmpty());
}

TEST_F(SupportFilesTest, FilesThatWereSkippedForOtherReasonsStaySo) {
  EXPECT_THAT(Support({{"a.py", absl::StrCat("from b import f\n", kJit)},
                       {"b.py", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n"}}),
              IsEmpty());
}

TEST_F(SupportFilesTest, NearerFilesComeFirstUntilALimit) {
  const std::string b = "from c import f\n", c = "from d import f\n", d = "f = 1\n";
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a.py", absl::StrCat("from b import f\nfrom d import f\n", kJit)},
      {"b.py", b},
      {"c.py", c},
      {"d.py", d}};
  EXPECT_THAT(Support(files), ElementsAre("b.py", "c.py", "d.py"));
  limits_.most_bytes = static_cast<int64_t>(b.size() + d.size());
  EXPECT_THAT(Support(files), ElementsAre("b.py", "d.py"));
  limits_ = {};
  limits_.file_bytes = static_cast<int64_t>(d.size());
  EXPECT_THAT(Support(files), ElementsAre("d.py"));
}

TEST_F(SupportFilesTest, ThereIsNotMoreOfThemThanOfWhatImportsThemButForALeast) {
  const std::string kernel = absl::StrCat("from b import f\nfrom c import f\n", kJit);
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a.py", kernel}, {"b.py", std::string(kernel.size(), '#')}, {"c.py", "#"}};
  EXPECT_THAT(Support(files), ElementsAre("b.py", "c.py"));
  limits_.least_bytes = 0;
  EXPECT_THAT(Support(files), ElementsAre("b.py"));
}

TEST_F(SupportFilesTest, BoundsOnImportsAndPathsLeaveTheRestAsItWas) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a.py", absl::StrCat("from b import f\nfrom c import f\n", kJit)},
      {"b.py", ""},
      {"c.py", ""}};
  limits_.imports_of_file = 1;
  EXPECT_THAT(Support(files), ElementsAre("b.py"));
  limits_ = {};
  limits_.imports = 1;
  EXPECT_THAT(Support(files), ElementsAre("b.py"));
  limits_ = {};
  limits_.path_bytes = 11;
  EXPECT_THAT(Support(files), IsEmpty());
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Found(absl::string_view text, size_t most = 100) {
  std::vector<std::string> found;
  for (const ImportedModule& module : FindImportLines(text, most)) {
    found.push_back(absl::StrCat(std::string(module.level, '.'), module.module));
  }
  return found;
}

TEST(ImportLinesTest, FindsWhatNamesAreImportedFrom) {
  EXPECT_THAT(Found("from a.b import c\n  from .d import (\n    e,\n)\nfrom.. import f\r\n"
                    "\tfrom\t...g\timport *"),
              ElementsAre("a.b", ".d", "..", "...g"));
}

TEST(ImportLinesTest, NamesEachModuleOnceAndNoMoreThanAsked) {
  EXPECT_THAT(Found("from a import b\nfrom a import c\nfrom d import e\n"), ElementsAre("a", "d"));
  EXPECT_THAT(Found("from a import b\nfrom c import d\n", 1), ElementsAre("a"));
}

TEST(ImportLinesTest, OtherLinesThatSayImportAreNone) {
  EXPECT_THAT(Found("import a\nfromage import b\nfrom  import c\nx = 'from'; import d\n"
                    "# from e import f\nimportlib.reload(g)\nfrom h(i) import j\n"),
              IsEmpty());
}

TEST(ImportLinesTest, LongLinesAreNotSearchedForTheirBeginning) {
  std::string text = "from a import b\n" + std::string(1000, ' ') + "from c import d\n";
  for (int i = 0; i < 100'000; ++i) text += "import ";
  EXPECT_THAT(Found(text), ElementsAre("a"));
}

}  // namespace
}  // namespace kernelmill::fetcher
