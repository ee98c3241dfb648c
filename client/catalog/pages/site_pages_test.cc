#include "client/catalog/pages/site_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/catalog/pages/kernel_page.h"

namespace kernelmill::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

CatalogEntry Entry(const std::string& name, const std::string& repository, int lines) {
  CatalogEntry entry;
  entry.id = "0123456789abcdef0123456789abcdef";
  entry.name = entry.qualname = name;
  entry.repository = repository;
  entry.path = "a.py";
  entry.dsl = "triton";
  entry.kind = "operation";
  entry.tags = {"softmax"};
  entry.lines = lines;
  entry.standing = 0.9;
  entry.self_contained = true;
  return entry;
}

TEST(LearningPath, GoesFromSimpleToHardThroughSeveralRepositories) {
  std::vector<CatalogEntry> entries = {Entry("hard", "r", 90), Entry("easy", "r", 10),
                                       Entry("third", "r", 20), Entry("other", "s", 30),
                                       Entry("broken", "t", 5)};
  entries[2].standing = 0.1;
  entries[4].kind = "broken";
  EXPECT_THAT(LearningPaths(entries).at("softmax"), ElementsAre(1, 3, 0));
}

TEST(LearnPage, LinksEachStep) {
  const std::string page = LearnPage({Entry("a", "r", 9), Entry("b<i>", "s", 10)});
  EXPECT_THAT(page, HasSubstr("href=\"kernels/01/0123456789abcdef0123456789abcdef.html\""));
  EXPECT_THAT(page, HasSubstr("b&lt;i&gt;"));
  EXPECT_THAT(LearnPage({}), HasSubstr("No operation has two self-contained kernels"));
}

TEST(LearnPage, NamesOperationsInWords) {
  std::vector<CatalogEntry> entries = {Entry("a", "r", 9), Entry("b", "s", 10)};
  for (CatalogEntry& entry : entries) entry.tags = {"kv_cache"};
  EXPECT_THAT(LearnPage(entries), HasSubstr("A cache of keys and values"));
}

TEST(CoveragePage, ShowsWhatIsFoundAndWhatIsNeeded) {
  const std::vector<CatalogEntry> entries = {Entry("softmax", "r", 9)};
  Coverage coverage;
  coverage.Add(entries[0], 0);
  coverage.Finish();
  const std::string page = CoveragePage(coverage, entries);
  EXPECT_THAT(page, HasSubstr("aten._softmax</td><td><span class=\"ok\">1</span></td>"
                              "<td><span class=\"bad\">0</span>"));
  EXPECT_THAT(page, HasSubstr("no backward pass"));
  EXPECT_THAT(page, HasSubstr(" operations have a kernel among 1 kernel; "));
  EXPECT_LT(page.size(), kMaxPage);
}

TEST(Navigation, MarksThePageThatIsShown) {
  Coverage coverage;
  coverage.Finish();
  EXPECT_THAT(CoveragePage(coverage, {}),
              HasSubstr("<a href=\"coverage.html\" aria-current=\"page\">"));
  EXPECT_THAT(LearnPage({}), HasSubstr("<a href=\"learn.html\" aria-current=\"page\">"));
  EXPECT_THAT(NoticePage({"r", "LICENSE", "", "a"}), Not(HasSubstr("aria-current")));
}

TEST(NoticePage, ShowsTheTextAndCutsWhatIsTooLong) {
  EXPECT_THAT(NoticePage({"r", "LICENSE", "", "a <b> c"}), HasSubstr("a &lt;b&gt; c"));
  const std::string page = NoticePage({"r", "LICENSE", "", std::string(2'000'000, '"')});
  EXPECT_LT(page.size(), kMaxPage);
  EXPECT_THAT(page, HasSubstr("The rest is not shown."));
}

}  // namespace
}  // namespace kernelmill::client
