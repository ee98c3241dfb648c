#include "services/fetcher/core/import_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kernelmill::fetcher {
namespace {

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
