#include "common/worker/task_store.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/cas/blob_store.h"
#include "common/cas/result_origin.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/testing/status_matchers.h"
#include "common/worker/stage.h"

namespace kernelmill::worker {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

// Records the grants that came with results.
class GrantingStore : public cas::MemoryBlobStore, public cas::GrantedResults {
 public:
  absl::Status PutGrantedResult(const cas::Digest& action, const cas::ActionResult& result,
                                const std::string& grant) override {
    grants.push_back(grant);
    return PutActionResult(action, result);
  }
  std::vector<std::string> grants;
};

class TaskStoreTest : public ::testing::Test {
 protected:
  TaskStoreTest() {
    task_.mutable_action()->set_stage("fetch");
    task_.mutable_action()->set_stage_version(5);
    task_.set_grant("signed");
    action_ = ActionDigest(task_.action());
  }
  cas::ResultOrigin OriginAt(const cas::Digest& action) {
    const auto kept = store_.GetActionResult(action);
    EXPECT_THAT(kept, IsOk());
    return cas::ReadOrigin(kept.value_or(cas::ActionResult()));
  }

  v1::LeasedTask task_;
  cas::Digest action_;
  const cas::Digest side_ = cas::ComputeDigest("an entry of a cache of the stage's own");
  const std::string worker_ = "w3";
  GrantingStore store_;
  TaskStore of_task_{store_, task_, action_, worker_};
};

TEST_F(TaskStoreTest, ResultsGoUnderTheGrantAndSayWhoAndWhatMadeThem) {
  ASSERT_THAT(of_task_.PutActionResult(action_, {}), IsOk());
  cas::ActionResult entry;
  cas::SetStage("fetch/pack", 5, &entry);
  ASSERT_THAT(of_task_.PutActionResult(side_, entry), IsOk());
  EXPECT_EQ(store_.grants, std::vector<std::string>({"signed", "signed"}));
  EXPECT_EQ(OriginAt(action_).stage, "fetch");
  EXPECT_EQ(OriginAt(action_).version, 5);
  EXPECT_EQ(OriginAt(action_).worker, "w3");
  EXPECT_EQ(OriginAt(side_).stage, "fetch/pack");
  EXPECT_EQ(OriginAt(side_).worker, "w3");
}

TEST_F(TaskStoreTest, AStoreThatAsksForNoGrantTakesResultsToo) {
  cas::MemoryBlobStore plain;
  TaskStore of_task(plain, task_, action_, worker_);
  EXPECT_THAT(of_task.PutActionResult(action_, {}), IsOk());
  EXPECT_EQ(plain.results(), 1);
}

TEST_F(TaskStoreTest, ATaskThatIsToUseNoCacheFindsNothingAndReplacesWhatIsThere) {
  cas::ActionResult poisoned;
  poisoned.set_stdout_raw("forged");
  ASSERT_THAT(store_.PutActionResult(action_, poisoned), IsOk());
  ASSERT_THAT(store_.PutActionResult(side_, poisoned), IsOk());
  task_.set_no_cache(true);
  EXPECT_THAT(of_task_.GetActionResult(action_), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(of_task_.GetActionResult(side_), StatusIs(absl::StatusCode::kNotFound));
  ASSERT_THAT(of_task_.PutActionResult(action_, {}), IsOk());
  EXPECT_EQ(store_.GetActionResult(action_)->stdout_raw(), "");
}

TEST_F(TaskStoreTest, WhatAnotherStageMadeIsNoResultOfTheAction) {
  cas::ActionResult kept;
  ASSERT_THAT(store_.PutActionResult(action_, kept), IsOk());
  EXPECT_THAT(of_task_.GetActionResult(action_), IsOk()) << "from an older worker";
  for (const auto& [stage, version] :
       {std::pair("fetch/pack", 5), std::pair("fetch", 4), std::pair("extract", 5)}) {
    cas::SetStage(stage, version, &kept);
    ASSERT_THAT(store_.PutActionResult(action_, kept), IsOk());
    EXPECT_THAT(of_task_.GetActionResult(action_), StatusIs(absl::StatusCode::kNotFound)) << stage;
    ASSERT_THAT(store_.PutActionResult(side_, kept), IsOk());
    EXPECT_THAT(of_task_.GetActionResult(side_), IsOk()) << "the cache knows what it keeps";
  }
  cas::SetStage("fetch", 5, &kept);
  ASSERT_THAT(store_.PutActionResult(action_, kept), IsOk());
  EXPECT_THAT(of_task_.GetActionResult(action_), IsOk());
}

}  // namespace
}  // namespace kernelmill::worker
