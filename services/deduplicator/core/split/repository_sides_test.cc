#include "services/deduplicator/core/split/repository_sides.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "absl/strings/str_cat.h"

namespace kernelmill::deduplicator {
namespace {

v1::SplitPolicy Policy(double validation, double test, const std::string& seed = "") {
  v1::SplitPolicy policy;
  policy.set_validation(validation);
  policy.set_test(test);
  policy.set_seed(seed);
  return policy;
}

std::map<std::string, v1::Split> SidesOf(const v1::SplitPolicy& policy, int repositories) {
  const RepositorySides sides(policy);
  std::map<std::string, v1::Split> found;
  for (int i = 0; i < repositories; ++i) {
    const std::string name = absl::StrCat("https://example.org/owner/r", i);
    found[name] = sides.SideOf(name, name);
  }
  return found;
}

TEST(RepositorySides, SharesAreThoseOfThePolicy) {
  int test = 0;
  int validation = 0;
  for (const auto& [name, side] : SidesOf(Policy(0.05, 0.2), 10'000)) {
    test += side == v1::SPLIT_TEST;
    validation += side == v1::SPLIT_VALIDATION;
  }
  EXPECT_NEAR(test, 2000, 150);
  EXPECT_NEAR(validation, 500, 100);
}

TEST(RepositorySides, ARaisedShareOnlyTakesRepositoriesFromTrain) {
  const auto before = SidesOf(Policy(0.1, 0.1), 2000);
  const auto after = SidesOf(Policy(0.3, 0.25), 2000);
  int moved = 0;
  for (const auto& [name, side] : before) {
    if (side == after.at(name)) continue;
    EXPECT_EQ(side, v1::SPLIT_TRAIN) << name;
    ++moved;
  }
  EXPECT_GT(moved, 400);
}

TEST(RepositorySides, AnotherSeedMakesAnotherChoice) {
  const auto one = SidesOf(Policy(0.1, 0.1, "1"), 2000);
  EXPECT_EQ(one, SidesOf(Policy(0.1, 0.1, "1"), 2000));
  EXPECT_NE(one, SidesOf(Policy(0.1, 0.1, "2"), 2000));
}

// These are in datasets: a change here moves their rows.
TEST(RepositorySides, KnownAnswers) {
  // As Python says: int.from_bytes(sha256(b"\0" + key).digest()[:7]) / 2**56.
  const auto side = [](double test, const char* name) {
    return RepositorySides(Policy(0, test)).SideOf(name, "");
  };
  EXPECT_EQ(side(0.196302, "fla-core==0.6.0"), v1::SPLIT_TEST);
  EXPECT_EQ(side(0.196301, "fla-core==0.6.0"), v1::SPLIT_TRAIN);
  EXPECT_EQ(side(0.334338, "https://github.com/linkedin/Liger-Kernel"), v1::SPLIT_TEST);
  EXPECT_EQ(side(0.334337, "https://github.com/linkedin/Liger-Kernel"), v1::SPLIT_TRAIN);
}

TEST(RepositorySides, ANamedRepositoryIsOfItsSplitHoweverItIsWritten) {
  v1::SplitPolicy policy = Policy(0, 0);
  policy.add_test_repositories("github.com/A/b");
  policy.add_validation_repositories("mirror");
  const RepositorySides sides(policy);
  EXPECT_EQ(sides.SideOf("https://github.com/a/B.git", ""), v1::SPLIT_TEST);
  EXPECT_EQ(sides.SideOf("b", "https://github.com/a/b"), v1::SPLIT_TEST);
  EXPECT_EQ(sides.SideOf("mirror", "https://github.com/c/d"), v1::SPLIT_VALIDATION);
  EXPECT_EQ(sides.SideOf("https://github.com/c/d", "https://github.com/c/d"), v1::SPLIT_TRAIN);
}

TEST(RepositorySides, ARepositoryIsOfOneSplitByWhateverNameOrVersion) {
  const RepositorySides sides(Policy(0.3, 0.4));
  for (int i = 0; i < 50; ++i) {
    const std::string url = absl::StrCat("https://example.org/o/r", i);
    const v1::Split side = sides.SideOf(url, url);
    EXPECT_EQ(sides.SideOf("a mirror", url), side);
    EXPECT_EQ(sides.SideOf(absl::StrCat("git@example.org:o/r", i, ".git"), ""), side);
    EXPECT_EQ(sides.SideOf(absl::StrCat("p", i, "==1.0"), ""),
              sides.SideOf(absl::StrCat("p", i, "==2.0"), ""));
  }
}

}  // namespace
}  // namespace kernelmill::deduplicator
