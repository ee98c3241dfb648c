#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_TESTING_SCHEDULER_FIXTURE_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_TESTING_SCHEDULER_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/testing/status_matchers.h"
#include "services/coordinator/core/scheduler.h"
#include "services/coordinator/core/testing/memory_state_store.h"
#include "services/coordinator/core/testing/scripted_results.h"

namespace kernelmill::coordinator {

// A scheduler with a store in memory, a fake clock, and one worker.
class SchedulerTest : public ::testing::Test {
 protected:
  void Open() {
    scheduler_.reset();
    auto opened = Scheduler::Open(options_, store_, clock_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    scheduler_ = *std::move(opened);
  }
  void SetUp() override { Open(); }

  std::string Submit(const v1::JobSpec& spec, const std::string& request = "") {
    const auto job = scheduler_->Submit(spec, request);
    EXPECT_TRUE(job.ok()) << job.status();
    return job.value_or("");
  }

  std::vector<v1::LeasedTask> Lease(int max = 1) {
    return Ask({.stages = StageSet().set(), .max_tasks = max}).tasks;
  }
  Leases Ask(const LeaseQuery& query) {
    auto leases = scheduler_->Lease(query);
    EXPECT_TRUE(leases.ok()) << leases.status();
    return leases.value_or(Leases());
  }
  v1::LeasedTask LeaseOne() {
    const std::vector<v1::LeasedTask> tasks = Lease();
    EXPECT_EQ(tasks.size(), 1u);
    return tasks.empty() ? v1::LeasedTask() : tasks[0];
  }

  static v1::Completion For(const v1::LeasedTask& task) {
    v1::Completion completion;
    completion.mutable_lease()->set_task(task.task());
    completion.mutable_lease()->set_token(task.token());
    return completion;
  }
  v1::Completion Done(const v1::LeasedTask& task) {
    v1::Completion completion = For(task);
    *completion.mutable_result() = stages_.Run(task.action());
    return completion;
  }
  static v1::Completion Error(const v1::LeasedTask& task, absl::StatusCode code) {
    v1::Completion completion = For(task);
    completion.mutable_error()->set_code(static_cast<int>(code));
    completion.mutable_error()->set_message("why");
    return completion;
  }
  absl::Status Complete(const v1::Completion& completion) {
    const auto statuses = scheduler_->Complete({completion});
    return statuses.ok() ? statuses->at(0) : statuses.status();
  }

  // Runs tasks until no task is left.
  void RunAll() {
    for (std::vector<v1::LeasedTask> tasks = Lease(); !tasks.empty(); tasks = Lease()) {
      EXPECT_THAT(Complete(Done(tasks[0])), kernelmill::testing::IsOk());
    }
  }
  v1::JobStatus Get(const std::string& job) {
    auto status = scheduler_->GetJob(job);
    EXPECT_TRUE(status.ok()) << status.status();
    return status.value_or(v1::JobStatus());
  }

  // Returns the whole lock; fails the test if the job has not ended.
  v1::JobSpec Lock(const std::string& job) {
    v1::JobSpec lock;
    EXPECT_THAT(scheduler_->ReadLock(job,
                                     [&](const v1::JobSpec& part) {
                                       lock.MergeFrom(part);
                                       return true;
                                     }),
                kernelmill::testing::IsOk());
    return lock;
  }

  Scheduler::Options options_;
  MemoryStateStore store_;
  FakeClock clock_;
  ScriptedStages stages_;
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_TESTING_SCHEDULER_FIXTURE_H_
