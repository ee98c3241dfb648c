#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/job/source_spec.h"
#include "common/testing/status_matchers.h"
#include "services/coordinator/core/plan/plan_runner.h"
#include "services/coordinator/core/testing/scripted_results.h"

namespace kernelmill::coordinator {
namespace {

using ::kernelmill::testing::StatusIs;

// A worker may send any result. One that is wrong on purpose must change nothing.
class RefusedResult : public ::testing::Test {
 protected:
  explicit RefusedResult(const v1::JobSpec& spec = GitJob(1)) : run(spec) {
    run.Open(run.plan.Start());
  }

  void StepTo(StageId stage) {
    while (run.open[0].stage != stage) run.Step(0);
  }
  // Returns a correct result of the first open task.
  v1::StageResult Good() { return run.stages.Run(run.plan.ActionFor(run.open[0])); }
  void ExpectRefused(const v1::StageResult& result) {
    EXPECT_THAT(run.plan.Succeed(run.open[0], result),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  // Every false result of the first open task is refused, and the true one is accepted afterwards.
  void ExpectAllRefused(const std::vector<std::function<void(v1::StageResult&)>>& lies) {
    for (size_t i = 0; i < lies.size(); ++i) {
      SCOPED_TRACE(absl::StrCat("lie ", i));
      v1::StageResult result = Good();
      lies[i](result);
      ExpectRefused(result);
    }
    const size_t open = run.open.size();
    run.Step(0);
    EXPECT_GE(run.open.size() + 1, open);
  }

  PlanRunner run;
};

TEST_F(RefusedResult, OfAPinThatIsOpenOrOfAnotherSource) {
  ExpectAllRefused({
      [](auto& result) { result.clear_pinned(); },
      [](auto& result) { result.mutable_pinned()->set_ref("main"); },
      [](auto& result) { result.mutable_pinned()->set_ref(std::string(40, 'A')); },
      [](auto& result) { result.mutable_pinned()->set_git("https://evil.example/r0"); },
      [](auto& result) { result.mutable_pinned()->set_name("r1"); },
      [](auto& result) { result.mutable_pinned()->add_include("**"); },
      [](auto& result) { result.mutable_pinned()->set_license("MIT"); },
      [](auto& result) { result.mutable_pinned()->set_sha256(std::string(64, 'a')); },
  });
  EXPECT_EQ(run.plan.Spec().sources(0).git(), "r0");
  EXPECT_TRUE(job::IsPinned(run.plan.Spec().sources(0)));
}

TEST_F(RefusedResult, OfAFetch) {
  StepTo(StageId::kFetch);
  ExpectAllRefused({
      [](auto& result) { result.clear_outputs(); },
      [](auto& result) { result.mutable_outputs(0)->set_name("files"); },
      [](auto& result) { result.mutable_outputs(1)->mutable_digest()->set_hash("../../etc"); },
      [](auto& result) { result.mutable_outputs(1)->mutable_digest()->set_size_bytes(-1); },
      [](auto& result) { result.mutable_outputs(1)->set_items(0); },
      [](auto& result) { result.mutable_outputs(1)->set_items(1 << 30); },
      [](auto& result) { result.mutable_counters(0)->set_value(int64_t{1} << 60); },
      [](auto& result) { result.mutable_counters(0)->set_value(-(int64_t{1} << 60)); },
      [](auto& result) { result.mutable_counters(0)->set_name(std::string(1000, 'n')); },
      [](auto& result) {
        for (int i = 0; i < 101; ++i) result.add_failures();
      },
      [](auto& result) {
        for (int i = 0; i < 1000; ++i) *result.add_counters() = result.counters(0);
      },
  });
}

TEST_F(RefusedResult, OfAnExtractionOrALink) {
  StepTo(StageId::kExtract);
  ExpectAllRefused({
      [](auto& result) { result.clear_outputs(); },
      [](auto& result) { *result.add_outputs() = result.outputs(0); },
      [](auto& result) { result.mutable_outputs(0)->set_items(int64_t{1} << 40); },
  });
  StepTo(StageId::kLink);
  ExpectAllRefused({
      [](auto& result) { result.mutable_outputs()->RemoveLast(); },
      [](auto& result) { result.mutable_outputs(1)->set_items(-1); },
  });
}

class RefusedCompile : public RefusedResult {
 protected:
  RefusedCompile() : RefusedResult(Job()) {}

 public:
  static v1::JobSpec Job() {
    v1::JobSpec spec = GitJob(1);
    spec.mutable_compile()->add_keep("ptx");
    return spec;
  }
};

TEST_F(RefusedCompile, ThatSaysSomethingElseThanWhatCameOfEachKernel) {
  StepTo(StageId::kCompile);
  ExpectAllRefused({
      [](auto& result) { result.clear_outputs(); },
      [](auto& result) { result.mutable_outputs(0)->set_items(4); },
      [](auto& result) { result.mutable_outputs(0)->set_name("ir"); },
      [](auto& result) { result.mutable_outputs(1)->set_name("compiled"); },
      [](auto& result) { result.mutable_outputs(1)->mutable_digest()->set_hash("x"); },
      [](auto& result) {
        while (result.outputs_size() < 5000) *result.add_outputs() = result.outputs(1);
      },
  });
  while (!run.open.empty()) run.Step(0);
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
}

class RefusedHistory : public RefusedResult {
 protected:
  RefusedHistory() : RefusedResult(Job()) {}
  static v1::JobSpec Job() {
    v1::JobSpec spec = RefusedCompile::Job();
    spec.mutable_sources(0)->mutable_history()->set_depth(5);
    return spec;
  }
};

TEST_F(RefusedHistory, AndFormsOfItsKernels) {
  StepTo(StageId::kHistory);
  ExpectAllRefused({
      [](auto& result) { result.mutable_outputs(0)->set_name("kernels"); },
      [](auto& result) { *result.add_outputs() = result.outputs(0); },  // behind the kernels
      [](auto& result) { result.mutable_outputs(1)->set_items(0); },
      [](auto& result) { result.mutable_outputs(2)->set_items(1 << 20); },
  });
  while (run.open[0].stage != StageId::kCompile || run.open[0].shard < 2) run.Step(0);
  ExpectAllRefused({
      [](auto& result) {
        *result.add_outputs() = result.outputs(0);
        result.mutable_outputs(1)->set_name("ir");
      },
      [](auto& result) { result.mutable_outputs(0)->set_items(4); },
  });
  while (!run.open.empty()) run.Step(0);
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
}

TEST_F(RefusedResult, ThatSaysSomethingOfMoreKernelsThanThereAre) {
  StepTo(StageId::kValidate);
  ExpectAllRefused({[](auto& result) { result.mutable_outputs(0)->set_items(4); }});
  StepTo(StageId::kSign);
  ExpectAllRefused({[](auto& result) { result.mutable_outputs(0)->set_items(2); },
                    [](auto& result) { result.mutable_outputs(1)->set_items(4); }});
  while (!run.open.empty()) run.Step(0);
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
}

}  // namespace
}  // namespace kernelmill::coordinator
