#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_PLAN_RUNNER_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_PLAN_RUNNER_H_

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/job/job_spec.h"
#include "services/coordinator/core/plan/plan.h"
#include "services/coordinator/core/testing/scripted_results.h"

namespace kernelmill::coordinator {

inline std::string TaskName(const TaskKey& key) {
  const std::string part = key.sub_shard == kWholeShard ? "" : absl::StrCat("/", key.sub_shard);
  return absl::StrCat(GetStageInfo(key.stage).name, " ", key.source, ".", key.shard, part);
}

inline std::vector<std::string> TaskNames(const std::vector<TaskKey>& keys) {
  std::vector<std::string> names;
  for (const TaskKey& key : keys) names.push_back(TaskName(key));
  return names;
}

inline std::vector<std::string> InputNames(const v1::Action& action) {
  std::vector<std::string> names;
  for (const v1::NamedDigest& input : action.inputs()) names.push_back(input.name());
  return names;
}

// A runner of a plan with scripted stages, for tests. Tasks named in `fails` fail with that error.
struct PlanRunner {
  explicit PlanRunner(const v1::JobSpec& spec) : plan(job::WithDefaults(spec)) {}

  // Runs the task `open[i]` and adds the tasks that follow.
  void Step(size_t i) {
    const TaskKey task = open[i];
    open.erase(open.begin() + static_cast<long>(i));
    if (splits.count(TaskName(task)) > 0) {
      Open(plan.Split(task));
      return;
    }
    const auto fail = fails.find(TaskName(task));
    if (fail != fails.end()) {
      Open(plan.Fail(task, fail->second));
      return;
    }
    const v1::Action action = plan.ActionFor(task);
    actions[TaskName(task)] = action;
    results[TaskName(task)] = stages.Run(action);
    const auto next = plan.Succeed(task, results[TaskName(task)]);
    ASSERT_TRUE(next.ok()) << next.status();
    Open(*next);
  }

  void Open(const std::vector<TaskKey>& tasks) {
    for (const TaskKey& task : tasks)
      EXPECT_TRUE(seen.insert(TaskName(task)).second) << TaskName(task);
    open.insert(open.end(), tasks.begin(), tasks.end());
  }

  // Runs all tasks, in an order that depends on `seed`; 0: in the order of creation.
  void RunAll(int seed = 0) {
    std::mt19937 random(seed);
    Open(plan.Start());
    while (!open.empty() && plan.state() == v1::JOB_STATE_RUNNING) {
      Step(seed == 0 ? 0 : random() % open.size());
    }
  }

  v1::JobStatus Status() const {
    v1::JobStatus status;
    plan.FillStatus(status);
    return status;
  }

  JobPlan plan;
  ScriptedStages stages;
  std::map<std::string, absl::Status> fails;
  std::set<std::string> splits;  // tasks that are split instead
  std::vector<TaskKey> open;
  std::set<std::string> seen;
  std::map<std::string, v1::Action> actions;
  std::map<std::string, v1::StageResult> results;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_PLAN_RUNNER_H_
