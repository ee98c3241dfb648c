#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/dsl/names.h"
#include "common/rpc/server.h"
#include "common/rpc/status.h"
#include "common/testing/status_matchers.h"
#include "common/worker/stage.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "kernelmill/v1/stages.grpc.pb.h"
#include "services/validator/server/validator_service.h"
#include "services/validator/server/validator_stages.h"

namespace kernelmill::validator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

v1::KernelShard Kernels() {
  v1::KernelShard shard;
  for (const std::string path : {"a.py", "b.py"}) {
    v1::Kernel& kernel = *shard.add_kernels();
    kernel.set_path(path);
    kernel.set_dsl(dsl::kTriton);
    kernel.set_role(v1::KERNEL_ROLE_KERNEL);
    kernel.add_decorators("triton.jit");
    kernel.set_source("@triton.jit\ndef k(p):\n    tl.store(p, 1)\n");
  }
  return shard;
}

v1::FileShard Files() {
  v1::FileShard shard;
  v1::SourceFile* file = shard.add_files();
  file->set_path("a.py");
  file->set_content("# SPDX-License-Identifier: MIT\n");
  file = shard.add_files();
  file->set_path("b.py");
  return shard;
}

class ValidateStageTest : public ::testing::Test {
 protected:
  template <typename Message>
  void AddInput(const std::string& name, const Message& message) {
    const absl::StatusOr<cas::Digest> digest = cas::PutMessage(store_, message);
    ASSERT_THAT(digest, IsOk());
    v1::NamedDigest& input = *action_.add_inputs();
    input.set_name(name);
    *input.mutable_digest() = *digest;
  }

  void AddInputs() {
    action_.set_stage("validate");
    action_.mutable_params()->mutable_validate();
    AddInput("kernels", Kernels());
    AddInput("files", Files());
    AddInput("tree", v1::SourceTree());
  }

  cas::MemoryBlobStore store_;
  v1::Action action_;
  std::vector<std::unique_ptr<worker::Stage>> stages_ = NewValidatorStages();
};

TEST_F(ValidateStageTest, VerdictsAndCountersComeOut) {
  AddInputs();
  ASSERT_EQ(stages_.size(), 1u);
  EXPECT_EQ(stages_[0]->id(), worker::StageId::kValidate);
  const absl::StatusOr<v1::StageResult> result = stages_[0]->Run(action_, store_);
  ASSERT_THAT(result, IsOk());
  ASSERT_EQ(result->outputs_size(), 1);
  EXPECT_EQ(result->outputs(0).name(), "verdicts");
  EXPECT_EQ(result->outputs(0).items(), 2);
  const auto verdicts = cas::GetMessage<v1::VerdictShard>(store_, result->outputs(0).digest());
  ASSERT_THAT(verdicts, IsOk());
  ASSERT_EQ(verdicts->verdicts_size(), 2);
  EXPECT_TRUE(verdicts->verdicts(0).accepted());
  EXPECT_FALSE(verdicts->verdicts(1).accepted());
  std::vector<std::string> counters;
  for (const v1::Counter& counter : result->counters()) counters.push_back(counter.name());
  EXPECT_THAT(counters, ::testing::ElementsAre(
                            "checks.handwritten", "checks.has_load_store", "checks.has_triton_jit",
                            "checks.license_permissive", "checks.parses", "checks.readable",
                            "kernels.accepted", "kernels.rejected.license", "kinds.operation",
                            "license.MIT", "license.NOASSERTION", "targets.generic"));
}

TEST_F(ValidateStageTest, WhatCompilersSayIsAnInputOfItsOwn) {
  AddInputs();
  v1::CompiledShard compiled;
  compiled.add_kernels()->add_results()->set_status(v1::COMPILE_STATUS_OK);
  compiled.add_kernels()->set_not_attempted("role:device");
  AddInput("compiled", compiled);
  const absl::StatusOr<v1::StageResult> result = stages_[0]->Run(action_, store_);
  ASSERT_THAT(result, IsOk());
  const auto verdicts = cas::GetMessage<v1::VerdictShard>(store_, result->outputs(0).digest());
  ASSERT_THAT(verdicts, IsOk());
  EXPECT_TRUE(verdicts->verdicts(0).checks().compiles());
  EXPECT_EQ(verdicts->verdicts(1).compiled().not_attempted(), "role:device");
  AddInput("compiled", compiled);
  EXPECT_THAT(stages_[0]->Run(action_, store_), StatusIs(absl::StatusCode::kInvalidArgument))
      << "two of them";
}

TEST_F(ValidateStageTest, WhatIsCompiledInPartsIsAsIfItWasNot) {
  v1::CompiledShard whole, first, second;
  first.add_kernels()->add_results()->set_status(v1::COMPILE_STATUS_OK);
  second.add_kernels()->set_not_attempted("role:device");
  whole.MergeFrom(first);
  whole.MergeFrom(second);
  AddInputs();
  v1::Action parts = action_;
  AddInput("compiled", whole);
  const absl::StatusOr<v1::StageResult> at_once = stages_[0]->Run(action_, store_);
  ASSERT_THAT(at_once, IsOk());
  action_ = parts;
  AddInput("compiled", first);
  AddInput("compiled", second);
  const absl::StatusOr<v1::StageResult> joined = stages_[0]->Run(action_, store_);
  ASSERT_THAT(joined, IsOk());
  EXPECT_EQ(joined->SerializeAsString(), at_once->SerializeAsString());
}

TEST_F(ValidateStageTest, TheSameActionGivesTheSameBytes) {
  AddInputs();
  const auto first = stages_[0]->Run(action_, store_);
  const auto second = NewValidatorStages()[0]->Run(action_, store_);
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(first->SerializeAsString(), second->SerializeAsString());
}

TEST_F(ValidateStageTest, WrongActionsAreRefused) {
  AddInputs();
  v1::Action no_params = action_;
  no_params.clear_params();
  EXPECT_THAT(stages_[0]->Run(no_params, store_), StatusIs(absl::StatusCode::kInvalidArgument));
  v1::Action no_tree = action_;
  no_tree.mutable_inputs()->RemoveLast();
  EXPECT_THAT(stages_[0]->Run(no_tree, store_), StatusIs(absl::StatusCode::kInvalidArgument));
  v1::Action unknown_blob = action_;
  *unknown_blob.mutable_inputs(0)->mutable_digest() = cas::ComputeDigest("not stored");
  EXPECT_THAT(stages_[0]->Run(unknown_blob, store_), StatusIs(absl::StatusCode::kNotFound));
}

TEST(ValidatorServiceTest, AnswersOverAChannel) {
  const std::unique_ptr<grpc::Service> service = NewValidatorService();
  const auto server = rpc::Server::Start({}, {service.get()});
  ASSERT_THAT(server, IsOk());
  const auto stub = v1::Validator::NewStub((*server)->InProcessChannel());
  v1::ValidateRequest request;
  *request.mutable_kernels() = Kernels();
  *request.mutable_files() = Files().files();
  v1::ValidateResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(stub->Validate(&context, request, &response).ok());
  ASSERT_EQ(response.verdicts().verdicts_size(), 2);
  EXPECT_TRUE(response.verdicts().verdicts(0).accepted());

  request.mutable_quality()->add_require("no such check");
  grpc::ClientContext again;
  EXPECT_THAT(rpc::FromGrpcStatus(stub->Validate(&again, request, &response)),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::validator
