#include "services/compiler/server/compiler_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/counter.h>

#include <algorithm>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/cas/blob_store.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/metrics/metrics.h"
#include "common/testing/status_matchers.h"
#include "common/toolchains/toolchains.h"
#include "common/worker/stage.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/compile.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/compiler/server/fake_compiler.h"

namespace kernelmill::compiler {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

class CompileStageTest : public ::testing::Test {
 protected:
  CompileStageTest() {
    action_.set_stage("compile");
    v1::CompileParams& params = *action_.mutable_params()->mutable_compile();
    *params.add_toolchains() = toolchains::ToProto(toolchains::PinnedToolchains()[0]);
    params.add_targets("cuda:90");
    params.set_max_seconds(60);
    const absl::StatusOr<cas::Digest> digest = cas::PutMessage(store_, Kernels());
    EXPECT_THAT(digest, IsOk());
    v1::NamedDigest& input = *action_.add_inputs();
    input.set_name("kernels");
    *input.mutable_digest() = *digest;
  }

  cas::MemoryBlobStore store_;
  v1::Action action_;
  FakeCompiler compiler_;
  std::vector<std::unique_ptr<worker::Stage>> stages_ = NewCompilerStages(compiler_);
};

TEST_F(CompileStageTest, OneResultAKernelAndCountersComeOut) {
  auto& compiled_before =
      metrics::Counter(metrics::kCompiledKernels,
                       {{"toolchain", "triton-3.5.1"}, {"target", "cuda:90"}, {"status", "ok"}});
  const double before = compiled_before.Value();
  ASSERT_EQ(stages_.size(), 1u);
  EXPECT_EQ(stages_[0]->id(), worker::StageId::kCompile);
  const absl::StatusOr<v1::StageResult> result = stages_[0]->Run(action_, store_);
  ASSERT_THAT(result, IsOk());
  ASSERT_EQ(result->outputs_size(), 1) << "nothing is kept";
  EXPECT_EQ(result->outputs(0).name(), "compiled");
  EXPECT_EQ(result->outputs(0).items(), 2);
  const auto compiled = cas::GetMessage<v1::CompiledShard>(store_, result->outputs(0).digest());
  ASSERT_THAT(compiled, IsOk());
  ASSERT_EQ(compiled->kernels_size(), 2);
  ASSERT_EQ(compiled->kernels(0).results_size(), 1) << compiled->DebugString();
  EXPECT_EQ(compiled->kernels(0).results(0).status(), v1::COMPILE_STATUS_OK);
  EXPECT_EQ(compiled->kernels(1).not_attempted(), "dsl:cuda");
  std::vector<std::string> counters;
  for (const v1::Counter& counter : result->counters()) counters.push_back(counter.name());
  EXPECT_THAT(counters, ::testing::ElementsAre("compile.not_attempted.dsl:cuda",
                                               "compile.triton-3.5.1.cuda:90.ok"));
  EXPECT_EQ(compiled_before.Value(), before + 1);
}

TEST_F(CompileStageTest, KeptFormsAreCutIntoShardsOfABoundedSize) {
  action_.mutable_params()->mutable_compile()->add_keep("ptx");
  action_.mutable_params()->mutable_compile()->add_targets("cuda:80");
  compiler_.text_bytes = 3u << 20;
  const absl::StatusOr<v1::StageResult> result = stages_[0]->Run(action_, store_);
  ASSERT_THAT(result, IsOk());
  ASSERT_EQ(result->outputs_size(), 3);
  EXPECT_EQ(result->outputs(1).name(), "ir");
  EXPECT_EQ(result->outputs(2).name(), "ir");
  const auto ir = cas::GetMessage<v1::IrShard>(store_, result->outputs(2).digest());
  ASSERT_THAT(ir, IsOk());
  ASSERT_EQ(ir->texts_size(), 1);
  EXPECT_EQ(ir->texts(0).text().size(), compiler_.text_bytes);
}

TEST_F(CompileStageTest, TheSameActionGivesTheSameBytes) {
  const auto first = stages_[0]->Run(action_, store_);
  const auto second = NewCompilerStages(compiler_)[0]->Run(action_, store_);
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(first->SerializeAsString(), second->SerializeAsString());
}

TEST_F(CompileStageTest, APartIsOfItsKernelsAndItsTextsSayWhichTheyAreOf) {
  v1::KernelShard kernels;
  for (int i = 0; i < 4; ++i) *kernels.add_kernels() = Kernels().kernels(0);
  const absl::StatusOr<cas::Digest> digest = cas::PutMessage(store_, kernels);
  ASSERT_THAT(digest, IsOk());
  *action_.mutable_inputs(0)->mutable_digest() = *digest;
  v1::CompileParams& params = *action_.mutable_params()->mutable_compile();
  params.add_keep("ptx");
  params.set_first(1);
  params.set_count(2);
  const absl::StatusOr<v1::StageResult> result = stages_[0]->Run(action_, store_);
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->outputs(0).items(), 2);
  const auto ir = cas::GetMessage<v1::IrShard>(store_, result->outputs(1).digest());
  ASSERT_THAT(ir, IsOk());
  ASSERT_EQ(ir->texts_size(), 2);
  EXPECT_EQ(ir->texts(0).kernel(), 1u);
  EXPECT_EQ(ir->texts(1).kernel(), 2u);
  params.set_count(4);
  EXPECT_THAT(stages_[0]->Run(action_, store_), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(CompileStageTest, WhatIsQuarantinedIsUnknownAndNoCompilerIsAsked) {
  compiler_.status = absl::AbortedError("killed");
  v1::CompileParams& params = *action_.mutable_params()->mutable_compile();
  params.set_count(1);
  const absl::Status killed = stages_[0]->Run(action_, store_).status();
  EXPECT_THAT(killed, StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(killed.message(), ::testing::StartsWith("a.py: k: "));
  params.set_quarantine_reason("crash");
  const absl::StatusOr<v1::StageResult> result = stages_[0]->Run(action_, store_);
  ASSERT_THAT(result, IsOk());
  ASSERT_EQ(result->failures_size(), 1);
  EXPECT_EQ(result->failures(0).path(), "a.py");
  const auto compiled = cas::GetMessage<v1::CompiledShard>(store_, result->outputs(0).digest());
  ASSERT_THAT(compiled, IsOk());
  ASSERT_EQ(compiled->kernels(0).results_size(), 1);
  EXPECT_EQ(compiled->kernels(0).results(0).status(), v1::COMPILE_STATUS_UNKNOWN);
  EXPECT_EQ(compiled->kernels(0).results(0).missing(), "crash");
}

TEST_F(CompileStageTest, ABoundThatStoppedAKernelIsCountedWhateverItSaysOfTheKernel) {
  compiler_.refused_by = "limit";
  auto& refused = metrics::Counter(metrics::kRefusedKernels,
                                   {{"toolchain", "triton-3.5.1"}, {"stage", "limit"}});
  const double before = refused.Value();
  const absl::StatusOr<v1::StageResult> result = stages_[0]->Run(action_, store_);
  ASSERT_THAT(result, IsOk());
  const auto compiled = cas::GetMessage<v1::CompiledShard>(store_, result->outputs(0).digest());
  ASSERT_THAT(compiled, IsOk());
  EXPECT_EQ(compiled->kernels(0).results(0).status(), v1::COMPILE_STATUS_UNKNOWN) << "guessed";
  EXPECT_EQ(refused.Value(), before + 1);
}

TEST_F(CompileStageTest, WhyNothingCameOfAKernelIsCounted) {
  const std::unique_ptr<Compiler> timed = NewTimedCompiler(compiler_);
  const auto lost = [](const std::string& reason) {
    return metrics::Counter(metrics::kCompilesLost,
                            {{"toolchain", "triton-3.5.1"}, {"reason", reason}})
        .Value();
  };
  const auto stages = NewCompilerStages(*timed);
  for (const auto& [status, reason] : std::vector<std::pair<absl::Status, std::string>>{
           {absl::AbortedError(""), "lost"},
           {absl::UnavailableError(""), "machine"},
           {absl::FailedPreconditionError(""), "toolchain"},
           {absl::CancelledError(""), "unwanted"},
           {absl::InternalError(""), "broken"}}) {
    compiler_.status = status;
    const double before = lost(reason);
    EXPECT_FALSE(stages[0]->Run(action_, store_).ok());
    EXPECT_EQ(lost(reason), before + 1) << reason;
  }
}

TEST_F(CompileStageTest, AStopReachesTheCompilerAndWhoWaitsForItAndNothingIsStored) {
  v1::KernelShard kernels;
  for (int i = 0; i < 8; ++i) *kernels.add_kernels() = Kernels().kernels(0);
  const absl::StatusOr<cas::Digest> digest = cas::PutMessage(store_, kernels);
  ASSERT_THAT(digest, IsOk());
  *action_.mutable_inputs(0)->mutable_digest() = *digest;
  EndlessCompiler endless;
  const std::unique_ptr<Compiler> limited = NewLimitedCompiler(endless, 1);
  const auto stages = NewCompilerStages(*limited, 4);
  std::stop_source stop;
  absl::Status ended;
  std::thread task(
      [&] { ended = stages[0]->RunUntil(action_, store_, stop.get_token()).status(); });
  endless.began.WaitForNotification();
  const int64_t before = store_.blobs();
  stop.request_stop();
  task.join();
  EXPECT_THAT(ended, StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(store_.blobs(), before);
}

// A fake that counts its concurrent calls.
class CrowdedCompiler : public FakeCompiler {
 public:
  absl::StatusOr<KernelReport> Compile(const KernelJob& job) override {
    {
      const absl::MutexLock lock(&mutex_);
      most_ = std::max(most_, ++inside_);
    }
    const auto full = [this] {
      mutex_.AssertReaderHeld();
      return most_ >= 2;
    };
    {
      const absl::MutexLock lock(&mutex_);
      mutex_.AwaitWithTimeout(absl::Condition(&full), absl::Seconds(5));
      --inside_;
    }
    return FakeCompiler::Compile(job);
  }

  int most() const {
    const absl::MutexLock lock(&mutex_);
    return most_;
  }

 private:
  mutable absl::Mutex mutex_;
  int inside_ ABSL_GUARDED_BY(mutex_) = 0;
  int most_ ABSL_GUARDED_BY(mutex_) = 0;
};

TEST_F(CompileStageTest, OneTaskTakesAllSlotsAndNoMoreAndGivesTheSameBytes) {
  v1::KernelShard kernels;
  for (int i = 0; i < 8; ++i) *kernels.add_kernels() = Kernels().kernels(0);
  const absl::StatusOr<cas::Digest> digest = cas::PutMessage(store_, kernels);
  ASSERT_THAT(digest, IsOk());
  *action_.mutable_inputs(0)->mutable_digest() = *digest;
  CrowdedCompiler crowded;
  const std::unique_ptr<Compiler> limited = NewLimitedCompiler(crowded, 2);
  const auto parallel = NewCompilerStages(*limited, 4)[0]->Run(action_, store_);
  const auto alone = stages_[0]->Run(action_, store_);
  ASSERT_THAT(parallel, IsOk());
  ASSERT_THAT(alone, IsOk());
  EXPECT_EQ(crowded.most(), 2);
  EXPECT_EQ(parallel->SerializeAsString(), alone->SerializeAsString());
}

TEST_F(CompileStageTest, WrongActionsAreRefused) {
  v1::Action no_params = action_;
  no_params.clear_params();
  EXPECT_THAT(stages_[0]->Run(no_params, store_), StatusIs(absl::StatusCode::kInvalidArgument));
  v1::Action no_kernels = action_;
  no_kernels.clear_inputs();
  EXPECT_THAT(stages_[0]->Run(no_kernels, store_), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(CompileStageTest, AMachineThatLostItsToolchainLeavesTheTaskToAnother) {
  compiler_.status = absl::FailedPreconditionError("not installed");
  EXPECT_THAT(stages_[0]->Run(action_, store_), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(CompileStageTest, AnActionOfOtherPinsIsRefused) {
  v1::Toolchain& toolchain = *action_.mutable_params()->mutable_compile()->mutable_toolchains(0);
  toolchain.set_requirements_sha256(std::string(64, '0'));
  const absl::Status refused = stages_[0]->Run(action_, store_).status();
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(refused.message(), ::testing::HasSubstr("different builds"));
  toolchain.set_name("triton-0.0");
  EXPECT_THAT(stages_[0]->Run(action_, store_), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace kernelmill::compiler
