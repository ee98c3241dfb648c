#include "common/words/suggestion.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelmill {
namespace {

const std::vector<std::string>& Known() {
  static const auto* const known = new std::vector<std::string>{
      "crawl", "check", "cancel", "jobs", "report", "--no-cache", "--workers", "Apache-2.0"};
  return *known;
}

TEST(CountEdits, AddsLeavesOutReplacesAndSwaps) {
  EXPECT_EQ(CountEdits("", ""), 0u);
  EXPECT_EQ(CountEdits("", "abc"), 3u);
  EXPECT_EQ(CountEdits("crawl", "crawl"), 0u);
  EXPECT_EQ(CountEdits("crwl", "crawl"), 1u);
  EXPECT_EQ(CountEdits("crawll", "crawl"), 1u);
  EXPECT_EQ(CountEdits("crowl", "crawl"), 1u);
  EXPECT_EQ(CountEdits("cralw", "crawl"), 1u);
  EXPECT_EQ(CountEdits("ca", "abc"), 3u) << "letters that were swapped stay together";
  EXPECT_EQ(CountEdits("kitten", "sitting"), 3u);
}

TEST(DidYouMean, NamesTheWordThatIsNear) {
  for (const auto& [written, meant] :
       {std::pair("cralw", "crawl"), std::pair("Repotr", "report"), std::pair("chekc", "check"),
        std::pair("job", "jobs"), std::pair("--wrokers", "--workers"),
        std::pair("--no_cache", "--no-cache"), std::pair("rep", "report"),
        std::pair("apache 2", "Apache-2.0")}) {
    EXPECT_EQ(DidYouMean(written, Known()), std::string(" (did you mean ") + meant + "?)");
  }
}

TEST(DidYouMean, SaysNothingOfWhatIsFar) {
  for (const char* written : {"frob", "x", "", "--", "evaluate", "verylongwordofnothing"}) {
    EXPECT_EQ(DidYouMean(written, Known()), "") << written;
  }
  EXPECT_EQ(DidYouMean("crawl", {}), "");
}

TEST(FindNearest, ThereIsAlwaysOne) {
  EXPECT_EQ(FindNearest("frob", Known()), "jobs");
  EXPECT_EQ(FindNearest("crawl", {}), "");
}

TEST(DidYouMean, LongTextTakesNoTime) {
  EXPECT_EQ(DidYouMean(std::string(10'000'000, 'x'), Known()), "");
}

}  // namespace
}  // namespace kernelmill
