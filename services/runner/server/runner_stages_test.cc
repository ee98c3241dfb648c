#include "services/runner/server/runner_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/hash.h"
#include "common/cas/blob_store.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/dsl/names.h"
#include "common/testing/status_matchers.h"
#include "common/worker/stage.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/runner/core/case_index.h"
#include "services/runner/core/runner.h"

namespace kernelmill::runner {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// A device on which every case is exact. It runs no case in `invalid`, and after `dies_after` cases
// it is UNAVAILABLE.
class FakeRunner : public Runner {
 public:
  const std::string& device() const override { return device_; }
  const std::string& toolchain() const override { return toolchain_; }
  absl::StatusOr<std::unique_ptr<Execution>> NewExecution() override {
    return std::make_unique<FakeExecution>(*this);
  }

  std::vector<std::string> ran;  // ids of cases
  std::set<std::string> kernels, tensors;
  std::set<std::string> invalid;
  size_t dies_after = 1000;
  std::string toolchain_ = R"({"triton":"3.5.1"})";

 private:
  class FakeExecution : public Execution {
   public:
    explicit FakeExecution(FakeRunner& runner) : runner_(runner) {}
    absl::Status AddKernel(const v1::Kernel& kernel) override {
      runner_.kernels.insert(kernel.qualname());
      return absl::OkStatus();
    }
    absl::Status AddCase(absl::string_view line) override {
      const size_t at = line.find("\"id\":\"") + 6;
      cases_.emplace_back(line.substr(at, 64));
      return absl::OkStatus();
    }
    absl::Status AddTensor(const std::string& sha256, absl::string_view bytes) override {
      EXPECT_EQ(Sha256Hex(bytes), sha256);
      runner_.tensors.insert(sha256);
      return absl::OkStatus();
    }
    absl::Status Run(const std::function<void(absl::string_view)>& on_result,
                     const std::stop_token& stop) override {
      if (stop.stop_requested()) return absl::CancelledError("stopped");
      for (size_t i = 0; i < cases_.size(); ++i) {
        if (i == runner_.dies_after) return absl::UnavailableError("the machine is gone");
        if (runner_.invalid.contains(cases_[i])) continue;
        runner_.ran.push_back(cases_[i]);
        on_result(absl::StrCat(R"({"type":"result","device":"cpu","toolchain":)",
                               runner_.toolchain_, R"(,"outcome":"exact","case":")", cases_[i],
                               "\"}"));
      }
      return absl::OkStatus();
    }

   private:
    FakeRunner& runner_;
    std::vector<std::string> cases_;
  };

  const std::string device_ = "cpu";
};

// A job with two kept kernels, a rejected one, and one in CUDA.
class RunStageTest : public ::testing::Test {
 protected:
  RunStageTest() {
    action_.set_stage("run-cpu");
    v1::RunParams& params = *action_.mutable_params()->mutable_run();
    params.set_device("cpu");
    params.set_partitions(1);
    v1::KernelShard first, second;
    AddKernel("add", dsl::kTriton, v1::FATE_KEPT, &first);
    AddKernel("rejected", dsl::kTriton, v1::FATE_REJECTED, &first);
    AddKernel("mul", dsl::kTriton, v1::FATE_KEPT, &second);
    AddKernel("cuda", dsl::kCuda, v1::FATE_KEPT, &second);
    AddInput("kernels", first);
    AddInput("kernels", second);
  }

  void AddKernel(const std::string& name, const std::string& dsl, v1::Fate fate,
                 v1::KernelShard* shard) {
    v1::Kernel& kernel = *shard->add_kernels();
    kernel.set_name(name);
    kernel.set_qualname(name);
    kernel.set_module(absl::StrCat("module of ", name));
    kernel.set_dsl(dsl);
    kernel.set_role(v1::KERNEL_ROLE_KERNEL);
    clusters_.add_decisions()->set_fate(fate);
  }

  static std::string MakeCase(const std::string& kernel, const std::string& name,
                              const std::string& output = "out") {
    return absl::StrCat(R"({"type":"case","id":")", Sha256Hex(name), R"(","module_sha256":")",
                        Sha256Hex("module of " + kernel), R"(","kernel":")", kernel,
                        R"(","outputs":[{"storage":0,"sha256":")", Sha256Hex(output), "\"}]}\n");
  }

  template <typename Message>
  void AddInput(const std::string& name, const Message& message) {
    v1::NamedDigest& input = *action_.add_inputs();
    input.set_name(name);
    *input.mutable_digest() = *cas::PutMessage(store_, message);
  }

  // Adds a shard of evidence with one file.
  void AddEvidence(const std::string& path, const std::string& content) {
    v1::FileShard shard;
    v1::SourceFile& file = *shard.add_files();
    file.set_path(path);
    file.set_content(content);
    AddInput("evidence", shard);
  }
  void AddTensor(const std::string& content) {
    AddEvidence("evidence/" + Sha256Hex(content), content);
  }

  absl::StatusOr<v1::StageResult> Run(const std::stop_token& stop = {}) {
    v1::Action action = action_;
    v1::NamedDigest& input = *action.add_inputs();
    input.set_name("clusters");
    *input.mutable_digest() = *cas::PutMessage(store_, clusters_);
    return NewRunnerStages(runner_)[0]->RunUntil(action, store_, stop);
  }

  std::string Lines(const v1::StageResult& result) {
    const auto shard = cas::GetMessage<v1::FileShard>(store_, result.outputs(1).digest());
    return shard->files(0).content();
  }

  static std::map<std::string, int64_t> Counters(const v1::StageResult& result) {
    std::map<std::string, int64_t> counters;
    for (const v1::Counter& one : result.counters()) counters[one.name()] = one.value();
    return counters;
  }

  cas::MemoryBlobStore store_;
  v1::Clusters clusters_;
  v1::Action action_;
  FakeRunner runner_;
};

TEST_F(RunStageTest, KeptKernelsRunTheirCasesAndTheResultsAreAFolder) {
  AddEvidence("cases.jsonl",
              absl::StrCat(MakeCase("add", "a"), MakeCase("mul", "b"), MakeCase("rejected", "c"),
                           MakeCase("cuda", "d"), MakeCase("elsewhere", "e")));
  AddTensor("out");
  const auto result = Run();
  ASSERT_THAT(result, IsOk());
  EXPECT_THAT(runner_.ran, UnorderedElementsAre(Sha256Hex("a"), Sha256Hex("b")));
  EXPECT_THAT(runner_.kernels, ElementsAre("add", "mul"));
  EXPECT_THAT(runner_.tensors, ElementsAre(Sha256Hex("out")));
  ASSERT_EQ(result->outputs_size(), 2);
  EXPECT_EQ(result->outputs(0).name(), "tree");
  EXPECT_EQ(result->outputs(1).name(), "files");
  EXPECT_EQ(result->pinned().sha256().size(), 64u);
  EXPECT_THAT(Lines(*result), HasSubstr(Sha256Hex("a")));
  EXPECT_THAT(Lines(*result), HasSubstr(Sha256Hex("b")));
  EXPECT_EQ(Counters(*result)["run.cpu.exact"], 2);
}

TEST_F(RunStageTest, ASecondJobRunsOnlyWhatIsNewAndHasAllResults) {
  AddEvidence("cases.jsonl", MakeCase("add", "a"));
  AddTensor("out");
  const auto first = Run();
  ASSERT_THAT(first, IsOk());
  const auto same = Run();
  ASSERT_THAT(same, IsOk());
  EXPECT_EQ(runner_.ran.size(), 1u);
  EXPECT_EQ(same->pinned().sha256(), first->pinned().sha256());
  EXPECT_EQ(Counters(*same)["run.cpu.known"], 1);
  AddEvidence("more.jsonl", MakeCase("mul", "b"));
  const auto more = Run();
  ASSERT_THAT(more, IsOk());
  EXPECT_THAT(runner_.ran, ElementsAre(Sha256Hex("a"), Sha256Hex("b")));
  EXPECT_THAT(Lines(*more), HasSubstr(Sha256Hex("a")));
}

TEST_F(RunStageTest, AnotherToolchainIsAnotherObservation) {
  AddEvidence("cases.jsonl", MakeCase("add", "a"));
  AddTensor("out");
  ASSERT_THAT(Run(), IsOk());
  runner_.toolchain_ = R"({"triton":"3.9.0"})";
  ASSERT_THAT(Run(), IsOk());
  EXPECT_EQ(runner_.ran.size(), 2u);
}

TEST_F(RunStageTest, WhatTheEvidenceSaysAlreadyIsNotSaidAgain) {
  AddEvidence("cases.jsonl", MakeCase("add", "a"));
  AddTensor("out");
  const auto first = Run();
  ASSERT_THAT(first, IsOk());
  AddEvidence("run/results.jsonl", Lines(*first));
  const auto second = Run();
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(runner_.ran.size(), 1u);
  EXPECT_THAT(second->outputs(), IsEmpty());
  EXPECT_FALSE(second->has_pinned());
}

TEST_F(RunStageTest, WhatWasObservedBeforeAFailureIsKept) {
  AddEvidence("cases.jsonl", absl::StrCat(MakeCase("add", "a"), MakeCase("add", "b")));
  AddTensor("out");
  runner_.dies_after = 1;
  EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(runner_.ran.size(), 1u);
  ASSERT_THAT(Run(), IsOk());
  EXPECT_THAT(runner_.ran, UnorderedElementsAre(Sha256Hex("a"), Sha256Hex("b")));
}

TEST_F(RunStageTest, ACaseWithoutItsTensorsOrThatIsNoneIsCounted) {
  AddEvidence("cases.jsonl", absl::StrCat(MakeCase("add", "a", "lost"), MakeCase("add", "b"),
                                          MakeCase("add", "c")));
  AddTensor("out");
  runner_.invalid = {Sha256Hex("c")};
  const auto result = Run();
  ASSERT_THAT(result, IsOk());
  EXPECT_THAT(runner_.ran, ElementsAre(Sha256Hex("b")));
  EXPECT_EQ(Counters(*result)["run.cpu.without_tensor"], 1);
  EXPECT_EQ(Counters(*result)["run.cpu.invalid"], 1);
}

TEST_F(RunStageTest, AForgedResultInTheCacheIsNoResult) {
  AddEvidence("cases.jsonl", absl::StrCat(MakeCase("add", "a"), MakeCase("mul", "b")));
  AddTensor("out");
  v1::RunResultKey key;
  key.set_case_id(Sha256Hex("a"));
  key.set_device("cpu");
  key.set_toolchain(runner_.toolchain());
  key.set_version(1);
  cas::ActionResult forged;
  forged.set_stdout_raw(absl::StrCat(R"({"type":"result","device":"cpu","toolchain":)",
                                     runner_.toolchain_, R"(,"outcome":"exact","case":")",
                                     Sha256Hex("other"), "\"}"));
  ASSERT_THAT(
      store_.PutActionResult(cas::ComputeDigest(cas::SerializeDeterministically(key)), forged),
      IsOk());
  ASSERT_THAT(Run(), IsOk());
  EXPECT_EQ(runner_.ran.size(), 2u);
}

TEST_F(RunStageTest, PartitionsShareTheModules) {
  AddEvidence("cases.jsonl", absl::StrCat(MakeCase("add", "a"), MakeCase("mul", "b")));
  AddTensor("out");
  v1::RunParams& params = *action_.mutable_params()->mutable_run();
  params.set_partitions(5);
  for (int i = 0; i < 5; ++i) {
    params.set_partition(i);
    ASSERT_THAT(Run(), IsOk());
  }
  EXPECT_THAT(runner_.ran, UnorderedElementsAre(Sha256Hex("a"), Sha256Hex("b")));
}

TEST_F(RunStageTest, AnActionForAnotherDeviceOrPartitionIsRefused) {
  v1::RunParams& params = *action_.mutable_params()->mutable_run();
  params.set_device("cuda:90");
  EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kInvalidArgument));
  params.set_device("cpu");
  params.set_partition(1);
  EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(RunStageTest, ACancelledTaskEnds) {
  AddEvidence("cases.jsonl", MakeCase("add", "a"));
  AddTensor("out");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(Run(stop.get_token()), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(runner_.ran, IsEmpty());
}

}  // namespace
}  // namespace kernelmill::runner
