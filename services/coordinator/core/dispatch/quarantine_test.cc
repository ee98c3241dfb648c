#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "common/testing/status_matchers.h"
#include "services/coordinator/core/testing/scheduler_fixture.h"

namespace kernelmill::coordinator {
namespace {

using ::kernelmill::testing::IsOk;
using std::chrono::seconds;
using ::testing::ElementsAre;

// A worker that crashes on one file of the source. It runs all tasks and crashes in extractions
// that read the file.
class QuarantineTest : public SchedulerTest {
 protected:
  // Returns whether an extraction of a shard or a part of it reads file `poison_`.
  bool Ends(const v1::Action& action) const {
    if (action.stage() != "extract" || action.params().extract().quarantine_reason() != "")
      return false;
    if (!action.params().has_extract()) return true;
    const v1::ExtractParams& part = action.params().extract();
    return part.first() <= poison_ && poison_ < part.first() + part.count();
  }
  v1::JobStatus Run(const std::string& job) {
    while (Get(job).state() == v1::JOB_STATE_RUNNING) {
      ++incarnation_;
      for (bool alive = true; alive && Get(job).state() == v1::JOB_STATE_RUNNING;) {
        const auto tasks = Ask({.stages = StageSet().set(),
                                .worker = {"", "w"},
                                .facts = {.incarnation = incarnation_}})
                               .tasks;
        if (tasks.empty()) {
          clock_.Advance(seconds(31));
          continue;
        }
        actions_.push_back(tasks[0].action());
        alive = !Ends(tasks[0].action());
        deaths_ += alive ? 0 : 1;
        if (alive) {
          EXPECT_THAT(Complete(Done(tasks[0])), IsOk());
        }
        if (reopen_) Open();
      }
    }
    return Get(job);
  }

  int poison_ = 6;
  bool reopen_ = false;
  uint64_t incarnation_ = 0;
  int deaths_ = 0;
  std::vector<v1::Action> actions_;
};

TEST_F(QuarantineTest, AShardIsHalvedUntilTheFileThatEndsItsWorkerStandsAlone) {
  stages_.shards = {{"r0", 1}};  // with 10 files
  for (const bool reopen : {false, true}) {
    reopen_ = reopen;
    actions_.clear();
    deaths_ = 0;
    const v1::JobStatus status = Run(Submit(GitJob(1)));
    EXPECT_EQ(status.state(), v1::JOB_STATE_DONE);
    ASSERT_EQ(status.failures_size(), 1);
    EXPECT_EQ(status.failures(0).stage(), "extract");
    EXPECT_EQ(status.failures(0).path(), "file 6");
    EXPECT_EQ(status.failures(0).files(), 1);
    const v1::Action* link = nullptr;
    for (const v1::Action& action : actions_) {
      if (action.stage() == "link") link = &action;
      if (action.stage() == "extract" && action.params().extract().quarantine_reason() != "") {
        EXPECT_EQ(action.params().extract().first(), poison_);
        EXPECT_EQ(action.params().extract().count(), 1);
      }
    }
    ASSERT_NE(link, nullptr);
    // [0,5) [5,8)->[5,7)->[5,6) [6,7) [7,8); [8,10): 5 sub-shards of the one shard.
    EXPECT_THAT(link->params().link().parts(), ElementsAre(5));
    EXPECT_EQ(link->inputs_size(), 1 + 5);
    EXPECT_LT(deaths_, 15) << "every level must cost a few lives only";
  }
}

// A kernel that kills its compilers is reported as ABORTED, because the worker survives.
TEST_F(QuarantineTest, AShardIsHalvedUntilTheKernelThatEndsItsCompilersStandsAlone) {
  v1::JobSpec spec = GitJob(1);
  spec.mutable_compile()->add_targets("cuda:90");
  stages_.shards = {{"r0", 1}};
  stages_.kernels = 10;
  for (const bool reopen : {false, true}) {
    const std::string job = Submit(spec);
    int aborted = 0;
    std::vector<v1::Action> compiled;
    while (Get(job).state() == v1::JOB_STATE_RUNNING) {
      const std::vector<v1::LeasedTask> tasks = Lease();
      if (tasks.empty()) {
        clock_.Advance(seconds(31));
        continue;
      }
      const v1::CompileParams& part = tasks[0].action().params().compile();
      const bool poisoned = tasks[0].action().stage() == "compile" &&
                            part.quarantine_reason().empty() && part.first() <= 6 &&
                            (part.count() == 0 || 6 < part.first() + part.count());
      aborted += poisoned ? 1 : 0;
      if (!poisoned && tasks[0].action().stage() == "compile") {
        compiled.push_back(tasks[0].action());
      }
      EXPECT_THAT(Complete(poisoned ? Error(tasks[0], absl::StatusCode::kAborted) : Done(tasks[0])),
                  IsOk());
      if (reopen) Open();
    }
    const v1::JobStatus status = Get(job);
    EXPECT_EQ(status.state(), v1::JOB_STATE_DONE);
    ASSERT_EQ(status.failures_size(), 1);
    EXPECT_EQ(status.failures(0).stage(), "compile");
    EXPECT_EQ(status.failures(0).path(), "file of kernel 6");
    EXPECT_EQ(status.failures(0).files(), 0);
    // [0,5) [5,6) [6,7) [7,8) [8,10)
    EXPECT_EQ(compiled.size(), 5u);
    EXPECT_LT(aborted, 15) << "every level must cost a few lives only";
  }
}

TEST_F(QuarantineTest, TheDatasetDoesNotDependOnWhereWorkersEndedByChance) {
  stages_.shards = {{"r0", 1}};
  poison_ = -1;  // only the whole shard ends its worker, as by a machine that was too small
  const v1::JobStatus status = Run(Submit(GitJob(1)));
  EXPECT_EQ(status.state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(status.failures_size(), 0) << "halves that succeed lose nothing";
}

}  // namespace
}  // namespace kernelmill::coordinator
