#include "services/coordinator/core/visits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/config/job_spec.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::coordinator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

v1::VisitPolicy DefaultPolicy() {
  v1::JobSpec spec;
  spec.mutable_visits();
  return config::WithDefaults(spec).visits();
}

v1::Source Git() {
  v1::Source source;
  source.set_git("https://a.org/r");
  source.set_ref("main");
  return source;
}

v1::StageResult PinnedTo(const std::string& commit) {
  v1::StageResult result;
  *result.mutable_pinned() = Git();
  result.mutable_pinned()->set_ref(commit);
  return result;
}

TEST(Visits, CooldownsAreThoseOfSoftwareHeritageByDefault) {
  const v1::VisitPolicy policy = DefaultPolicy();
  EXPECT_EQ(CooldownAfter(*VisitOf(Git(), PinnedTo("c"), kNow), policy), absl::Hours(12));
  EXPECT_EQ(CooldownAfter(*VisitOf(Git(), absl::UnavailableError(""), kNow), policy),
            absl::Hours(24 * 14));
  EXPECT_EQ(CooldownAfter(*VisitOf(Git(), absl::NotFoundError(""), kNow), policy),
            absl::Hours(24 * 31));
}

TEST(Visits, AVisitIsRecentUntilItsCooldownIsOver) {
  const Visit visit = *VisitOf(Git(), PinnedTo("c"), kNow);
  const v1::VisitPolicy policy = DefaultPolicy();
  EXPECT_TRUE(IsRecent(visit, policy, kNow));
  EXPECT_TRUE(IsRecent(visit, policy, kNow + absl::Hours(12) - absl::Seconds(1)));
  EXPECT_FALSE(IsRecent(visit, policy, kNow + absl::Hours(12)));
}

TEST(Visits, AVisitInTheFutureIsNone) {
  const Visit visit = *VisitOf(Git(), PinnedTo("c"), kNow);
  EXPECT_FALSE(IsRecent(visit, DefaultPolicy(), kNow - absl::Seconds(1)));
}

TEST(Visits, NoCooldownMeansThatItIsNeverRecent) {
  v1::VisitPolicy policy = DefaultPolicy();
  policy.set_success_hours(0);
  EXPECT_FALSE(IsRecent(*VisitOf(Git(), PinnedTo("c"), kNow), policy, kNow));
}

TEST(Visits, OnlyGitAndOnlyWhatIsTheRepositorysDoing) {
  v1::Source package;
  package.set_package("a==1");
  EXPECT_FALSE(VisitOf(package, v1::StageResult(), kNow).has_value());
  EXPECT_FALSE(VisitOf(Git(), absl::ResourceExhaustedError("our disk"), kNow).has_value());
  EXPECT_FALSE(VisitOf(Git(), absl::InvalidArgumentError("malformed"), kNow).has_value());
}

TEST(Visits, ARecentVisitPinsToItsCommitOrSaysWhyNot) {
  const auto pinned = PinFrom(*VisitOf(Git(), PinnedTo("c"), kNow), Git());
  ASSERT_THAT(pinned, IsOk());
  EXPECT_EQ(pinned->pinned().ref(), "c");
  EXPECT_EQ(pinned->pinned().git(), Git().git());
  const auto gone = PinFrom(*VisitOf(Git(), absl::NotFoundError(""), kNow), Git());
  EXPECT_THAT(gone, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(gone.status().message()), ::testing::HasSubstr("2023-11-14T22:13:20Z"));
}

}  // namespace
}  // namespace kernelmill::coordinator
