#include "services/coordinator/core/dispatch/pin_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "common/cas/digest.h"
#include "common/job/job_spec.h"
#include "common/testing/status_matchers.h"
#include "services/coordinator/core/testing/scheduler_fixture.h"

namespace kernelmill::coordinator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

v1::VisitPolicy DefaultPolicy() {
  v1::JobSpec spec;
  spec.mutable_visits();
  return job::WithDefaults(spec).visits();
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

TEST(PinRecord, CooldownsAreThoseOfSoftwareHeritageByDefault) {
  const v1::VisitPolicy policy = DefaultPolicy();
  EXPECT_EQ(CooldownAfter(*MakePinRecord(Git(), PinnedTo("c"), kNow), policy), absl::Hours(12));
  EXPECT_EQ(CooldownAfter(*MakePinRecord(Git(), absl::UnavailableError(""), kNow), policy),
            absl::Hours(24 * 14));
  EXPECT_EQ(CooldownAfter(*MakePinRecord(Git(), absl::NotFoundError(""), kNow), policy),
            absl::Hours(24 * 31));
}

TEST(PinRecord, ARecordIsRecentUntilItsCooldownIsOver) {
  const PinRecord last = *MakePinRecord(Git(), PinnedTo("c"), kNow);
  const v1::VisitPolicy policy = DefaultPolicy();
  EXPECT_TRUE(IsRecent(last, policy, kNow));
  EXPECT_TRUE(IsRecent(last, policy, kNow + absl::Hours(12) - absl::Seconds(1)));
  EXPECT_FALSE(IsRecent(last, policy, kNow + absl::Hours(12)));
}

TEST(PinRecord, ARecordOfTheFutureDoesNotCount) {
  const PinRecord last = *MakePinRecord(Git(), PinnedTo("c"), kNow);
  EXPECT_FALSE(IsRecent(last, DefaultPolicy(), kNow - absl::Seconds(1)));
}

TEST(PinRecord, NoCooldownMeansThatItIsNeverRecent) {
  v1::VisitPolicy policy = DefaultPolicy();
  policy.set_success_hours(0);
  EXPECT_FALSE(IsRecent(*MakePinRecord(Git(), PinnedTo("c"), kNow), policy, kNow));
}

TEST(PinRecord, OnlyGitAndOnlyWhatIsTheRepositorysDoing) {
  v1::Source package;
  package.set_package("a==1");
  EXPECT_FALSE(MakePinRecord(package, v1::StageResult(), kNow).has_value());
  EXPECT_FALSE(MakePinRecord(Git(), absl::ResourceExhaustedError("our disk"), kNow).has_value());
  EXPECT_FALSE(MakePinRecord(Git(), absl::InvalidArgumentError("malformed"), kNow).has_value());
}

TEST(PinRecord, ARecentRecordPinsToItsCommitOrSaysWhyNot) {
  const auto pinned = ResultFrom(*MakePinRecord(Git(), PinnedTo("c"), kNow), Git());
  ASSERT_THAT(pinned, IsOk());
  EXPECT_EQ(pinned->pinned().ref(), "c");
  EXPECT_EQ(pinned->pinned().git(), Git().git());
  const auto gone = ResultFrom(*MakePinRecord(Git(), absl::NotFoundError(""), kNow), Git());
  EXPECT_THAT(gone, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(gone.status().message()), ::testing::HasSubstr("2023-11-14T22:13:20Z"));
}

// Tests with whole jobs.
class PinHistoryTest : public SchedulerTest {
 protected:
  static v1::JobSpec JobWithPinHistory() {
    v1::JobSpec spec = GitJob(1);
    spec.mutable_visits();
    return spec;
  }
  static int64_t PinsFromHistory(const v1::JobStatus& status) {
    return status.stages(static_cast<int>(StageId::kPin)).cached();
  }
};

TEST_F(PinHistoryTest, ARepositoryThatWasPinnedLatelyIsNotAskedAgain) {
  const v1::JobStatus first = (Submit(JobWithPinHistory()), RunAll(), Get("job-000001"));
  EXPECT_EQ(PinsFromHistory(first), 0);
  Open();  // the history is kept
  clock_.Advance(std::chrono::hours(11));
  const std::string second = Submit(JobWithPinHistory());
  RunAll();
  const v1::JobStatus status = Get(second);
  EXPECT_EQ(PinsFromHistory(status), 1);
  EXPECT_EQ(Lock(second).sources(0).ref(), Lock("job-000001").sources(0).ref());
  EXPECT_TRUE(cas::SameDigest(status.dataset(), first.dataset()));
  clock_.Advance(std::chrono::hours(2));
  const std::string third = Submit(JobWithPinHistory());
  RunAll();
  EXPECT_EQ(PinsFromHistory(Get(third)), 0);
}

TEST_F(PinHistoryTest, AJobWithoutAPolicyAsksEveryTime) {
  Submit(JobWithPinHistory());
  RunAll();
  const std::string job = Submit(GitJob(1));
  RunAll();
  EXPECT_EQ(PinsFromHistory(Get(job)), 0);
}

TEST_F(PinHistoryTest, ARepositoryThatWasNotThereIsLeftAloneUntilSomebodyRetries) {
  Submit(JobWithPinHistory());
  EXPECT_THAT(Complete(Error(LeaseOne(), absl::StatusCode::kNotFound)), IsOk());
  RunAll();
  clock_.Advance(std::chrono::hours(24 * 30));
  const std::string job = Submit(JobWithPinHistory());
  RunAll();
  ASSERT_EQ(Get(job).failures_size(), 1);
  EXPECT_EQ(Get(job).failures(0).code(), "NOT_FOUND");
  EXPECT_THAT(Get(job).failures(0).message(), HasSubstr("not visited"));
  ASSERT_THAT(scheduler_->Retry(job), IsOk());
  RunAll();
  EXPECT_EQ(Get(job).failures_size(), 0);
}

TEST_F(PinHistoryTest, AFailureThatIsTriedAgainIsNotRecorded) {
  const std::string job = Submit(JobWithPinHistory());
  EXPECT_THAT(Complete(Error(LeaseOne(), absl::StatusCode::kUnavailable)), IsOk());
  clock_.Advance(std::chrono::minutes(1));
  RunAll();
  EXPECT_EQ(Get(job).state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(Get(job).failures_size(), 0);
}

}  // namespace
}  // namespace kernelmill::coordinator
