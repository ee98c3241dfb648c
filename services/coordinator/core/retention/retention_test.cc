#include "services/coordinator/core/retention/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "common/base/status.h"
#include "services/coordinator/core/testing/memory_state_store.h"

namespace kernelmill::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Keeps holds as a store does, and records its calls in order. The test decides when holds expire.
class FakeRetainer : public Retainer {
 public:
  absl::StatusOr<Held> List() override {
    RETURN_IF_ERROR(Note("list"));
    return Held{{runs.begin(), runs.end()}, {datasets.begin(), datasets.end()}, incomplete};
  }
  absl::Status HoldRun(const std::string& job, absl::Duration ttl) override {
    EXPECT_EQ(ttl, absl::Hours(1));
    RETURN_IF_ERROR(Note("hold run " + job));
    runs.insert(job);
    return absl::OkStatus();
  }
  absl::Status ReleaseRun(const std::string& job) override {
    RETURN_IF_ERROR(Note("release run " + job));
    runs.erase(job);
    return absl::OkStatus();
  }
  absl::Status HoldDataset(const std::string& job, const cas::Digest& manifest) override {
    RETURN_IF_ERROR(Note(absl::StrCat("hold dataset ", job, " ", manifest.hash())));
    datasets.insert(job);
    return absl::OkStatus();
  }
  absl::Status ReleaseDataset(const std::string& job) override {
    RETURN_IF_ERROR(Note("release dataset " + job));
    datasets.erase(job);
    return absl::OkStatus();
  }
  void Cancel() override { fail_all = absl::CancelledError("stopped"); }

  // Returns the calls since the last time, without the listings.
  std::vector<std::string> TakeCalls() {
    std::vector<std::string> taken = std::exchange(calls, {});
    taken.erase(std::remove(taken.begin(), taken.end(), "list"), taken.end());
    return taken;
  }

  std::set<std::string> runs, datasets;
  std::vector<std::string> incomplete;
  std::vector<std::string> calls;
  absl::Status fail_all;
  std::map<std::string, absl::Status> fail;  // by call

 private:
  absl::Status Note(const std::string& call) {
    calls.push_back(call);
    if (!fail_all.ok()) return fail_all;
    const auto failure = fail.find(call);
    return failure == fail.end() ? absl::OkStatus() : failure->second;
  }
};

class RetentionTest : public ::testing::Test {
 protected:
  Retention NewRetention() {
    return Retention(
        {}, retainer_, [this] { return jobs_; }, clock_);
  }
  void Done(const std::string& job, const std::string& hash) {
    auto& running = jobs_.running;
    running.erase(std::remove(running.begin(), running.end(), job), running.end());
    cas::Digest digest;
    digest.set_hash(hash);
    jobs_.datasets.push_back({job, digest});
  }
  void Pass(absl::Duration time) { clock_.Advance(absl::ToChronoNanoseconds(time)); }

  FakeRetainer retainer_;
  FakeClock clock_;
  HeldJobs jobs_;
};

TEST_F(RetentionTest, ARunIsHeldAndRenewedUntilItEnds) {
  Retention retention = NewRetention();
  jobs_.running = {"a"};
  EXPECT_EQ(retention.Step(), absl::Seconds(1));
  EXPECT_THAT(retainer_.TakeCalls(), ElementsAre("hold run a"));
  Pass(absl::Minutes(4));
  retention.Step();
  EXPECT_THAT(retainer_.TakeCalls(), IsEmpty());
  Pass(absl::Minutes(1));
  retention.Step();
  EXPECT_THAT(retainer_.TakeCalls(), ElementsAre("hold run a"));
  jobs_.running.clear();  // it has failed, or was cancelled
  retention.Step();
  EXPECT_THAT(retainer_.TakeCalls(), ElementsAre("release run a"));
  Pass(absl::Minutes(10));
  retention.Step();
  EXPECT_THAT(retainer_.TakeCalls(), IsEmpty());
}

TEST_F(RetentionTest, ADatasetIsHeldBeforeItsRunIsReleased) {
  Retention retention = NewRetention();
  jobs_.running = {"a"};
  retention.Step();
  retainer_.TakeCalls();
  Done("a", "d1");
  retention.Step();
  EXPECT_THAT(retainer_.TakeCalls(), ElementsAre("hold dataset a d1", "release run a"));
  Pass(absl::Hours(10));
  retention.Step();
  EXPECT_THAT(retainer_.TakeCalls(), IsEmpty());
  jobs_.datasets.clear();  // deleted
  retention.Step();
  EXPECT_THAT(retainer_.TakeCalls(), ElementsAre("release dataset a"));
}

TEST_F(RetentionTest, ARunStaysHeldAsLongAsItsDatasetCannotBe) {
  Retention retention = NewRetention();
  jobs_.running = {"a"};
  retention.Step();
  retainer_.TakeCalls();
  Done("a", "d1");
  retainer_.fail["hold dataset a d1"] = absl::ResourceExhaustedError("no room");
  for (int i = 0; i < 10; ++i) {
    Pass(absl::Minutes(5));
    retention.Step();
    EXPECT_THAT(retainer_.TakeCalls(), ElementsAre("hold run a", "hold dataset a d1"));
  }
  EXPECT_THAT(retainer_.runs, ElementsAre("a"));
}

TEST_F(RetentionTest, ARetryKeepsTheDatasetUntilThereIsANewOne) {
  Retention retention = NewRetention();
  Done("a", "d1");
  retention.Step();
  jobs_.datasets.clear();
  jobs_.running = {"a"};
  retention.Step();
  EXPECT_THAT(retainer_.datasets, ElementsAre("a"));
  EXPECT_THAT(retainer_.runs, ElementsAre("a"));
  Done("a", "d2");
  retainer_.TakeCalls();
  retention.Step();
  EXPECT_THAT(retainer_.TakeCalls(), ElementsAre("hold dataset a d2", "release run a"));
  EXPECT_THAT(retainer_.datasets, ElementsAre("a"));
}

// The coordinator is killed at any moment; meanwhile jobs end or are deleted.
TEST_F(RetentionTest, ANewCoordinatorTakesOverWhatTheOldOneHeld) {
  retainer_.runs = {"deleted", "ended", "running"};
  retainer_.datasets = {"deleted2", "kept"};
  jobs_.running = {"running", "new"};
  Done("kept", "d1");
  Done("ended", "d2");
  Retention retention = NewRetention();
  retention.Step();
  EXPECT_THAT(retainer_.runs, ElementsAre("new", "running"));
  EXPECT_THAT(retainer_.datasets, ElementsAre("ended", "kept"));
  EXPECT_EQ(retainer_.calls.front(), "list");
}

// Simulates that the store was restored from a backup.
TEST_F(RetentionTest, AHoldThatTheStoreHasLostIsMadeAgain) {
  Retention retention = NewRetention();
  Done("a", "d1");
  Done("b", "d2");
  jobs_.running = {"c"};
  retention.Step();
  retainer_.TakeCalls();
  retainer_.datasets = {"a", "older"};
  retainer_.runs = {};
  Pass(absl::Minutes(5));
  retention.Step();
  EXPECT_THAT(retainer_.TakeCalls(),
              ElementsAre("hold run c", "hold dataset b d2", "release dataset older"));
}

TEST_F(RetentionTest, AHoldThatSomebodyReleasedInPartIsMadeAgain) {
  Retention retention = NewRetention();
  Done("a", "one");
  retention.Step();
  EXPECT_THAT(retainer_.TakeCalls(), ElementsAre("hold dataset a one"));
  retainer_.incomplete = {"a"};
  Pass(absl::Minutes(5));
  retention.Step();
  EXPECT_THAT(retainer_.TakeCalls(), ElementsAre("hold dataset a one"));
  retainer_.incomplete = {};
  jobs_.datasets.clear();
  retention.Step();
  EXPECT_THAT(retainer_.TakeCalls(), ElementsAre("release dataset a"));
}

TEST_F(RetentionTest, AnUnreachableStoreIsTriedAgainWithBackoff) {
  Retention retention = NewRetention();
  jobs_.running = {"a"};
  retainer_.fail_all = absl::UnavailableError("unreachable");
  absl::Duration waited;
  for (int i = 0; i < 20; ++i) {
    const absl::Duration pause = retention.Step();
    EXPECT_GE(pause, absl::Milliseconds(500));
    EXPECT_LE(pause, absl::Minutes(1));
    // When it is woken early, it does not ask.
    EXPECT_LE(retention.Step(), pause);
    Pass(pause);
    waited += pause;
  }
  EXPECT_EQ(retainer_.calls.size(), 20u);
  EXPECT_GE(waited, absl::Minutes(5));
  retainer_.fail_all = absl::OkStatus();
  EXPECT_EQ(retention.Step(), absl::Seconds(1));
  EXPECT_THAT(retainer_.runs, ElementsAre("a"));
}

TEST_F(RetentionTest, AStoreThatKeepsNoHoldsIsLeftAlone) {
  Retention retention = NewRetention();
  jobs_.running = {"a"};
  retainer_.fail_all = absl::UnimplementedError("unknown service");
  EXPECT_EQ(retention.Step(), absl::InfiniteDuration());
  Pass(absl::Hours(1));
  EXPECT_EQ(retention.Step(), absl::InfiniteDuration());
  EXPECT_THAT(retainer_.calls, ElementsAre("list"));
}

TEST_F(RetentionTest, OneDatasetThatIsGoneDoesNotHoldUpTheOthers) {
  Retention retention = NewRetention();
  Done("a", "d1");
  Done("b", "d2");
  retainer_.fail["hold dataset a d1"] = absl::NotFoundError("gone");
  EXPECT_EQ(retention.Step(), absl::Seconds(1));
  EXPECT_THAT(retainer_.datasets, ElementsAre("b"));
  retainer_.TakeCalls();
  Pass(absl::Minutes(5));
  retention.Step();
  EXPECT_THAT(retainer_.TakeCalls(), IsEmpty());
  jobs_.datasets.clear();
  Done("a", "d3");  // a retry has made another
  retention.Step();
  EXPECT_THAT(retainer_.TakeCalls(), ElementsAre("hold dataset a d3", "release dataset b"));
}

// Blocks in List until it is cancelled, as a hanging store would.
class HangingRetainer : public FakeRetainer {
 public:
  absl::StatusOr<Held> List() override {
    listing.Notify();
    cancelled_.WaitForNotification();
    return absl::CancelledError("stopped");
  }
  void Cancel() override { cancelled_.Notify(); }
  absl::Notification listing;

 private:
  absl::Notification cancelled_;
};

TEST(RetentionThreadTest, EndsThoughTheStoreHangs) {
  HangingRetainer retainer;
  FakeClock clock;
  Retention retention(
      {}, retainer, [] { return HeldJobs(); }, clock);
  RetentionThread thread(retention);
  retainer.listing.WaitForNotification();
}

TEST(RetentionThreadTest, StepsWhenWoken) {
  FakeRetainer retainer;
  FakeClock clock;
  Retention::Options options;
  options.look_every = absl::Hours(24);
  absl::Mutex mutex;
  int steps = 0;
  const auto jobs = [&] {
    absl::MutexLock lock(&mutex);
    ++steps;
    return HeldJobs();
  };
  Retention retention(options, retainer, jobs, clock);
  RetentionThread thread(retention);
  for (int expected = 1; expected <= 3; ++expected) {
    const auto stepped = [&] { return steps >= expected; };
    mutex.LockWhen(absl::Condition(&stepped));
    mutex.Unlock();
    thread.Wake();
  }
}

}  // namespace
}  // namespace kernelmill::coordinator
