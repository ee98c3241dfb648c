#include "common/worker/stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/testing/status_matchers.h"

namespace kernelmill::worker {
namespace {

using ::kernelmill::testing::StatusIs;

v1::StageResult Result() {
  v1::StageResult result;
  AddOutput(result, "tree", cas::ComputeDigest("a"), 1);
  AddOutput(result, "files", cas::ComputeDigest("b"), 256);
  AddCounter(result, "files.seen", 7);
  return result;
}

TEST(ActionDigest, DependsOnStageVersionInputsAndParameters) {
  v1::Action action;
  action.set_stage("sign");
  const cas::Digest sign = ActionDigest(action);
  EXPECT_TRUE(cas::SameDigest(sign, ActionDigest(action)));
  action.set_stage_version(2);
  EXPECT_FALSE(cas::SameDigest(sign, ActionDigest(action)));
  const cas::Digest versioned = ActionDigest(action);
  action.mutable_params()->mutable_pair()->set_partition(1);
  EXPECT_FALSE(cas::SameDigest(versioned, ActionDigest(action)));
}

TEST(ResultCodec, ResultsSurviveTheRoundTripAndNameTheirBlobs) {
  const cas::ActionResult encoded = EncodeResult(Result());
  ASSERT_EQ(encoded.output_files_size(), 2);
  EXPECT_EQ(encoded.output_files(1).path(), "files#1");
  EXPECT_TRUE(cas::SameDigest(encoded.output_files(1).digest(), cas::ComputeDigest("b")));
  const auto decoded = DecodeResult(encoded);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->SerializeAsString(), Result().SerializeAsString());
}

TEST(ResultCodec, WhatDisagreesIsNoResult) {
  cas::ActionResult digest = EncodeResult(Result());
  *digest.mutable_output_files(1)->mutable_digest() = cas::ComputeDigest("c");
  cas::ActionResult order = EncodeResult(Result());
  order.mutable_output_files()->SwapElements(0, 1);
  cas::ActionResult fewer = EncodeResult(Result());
  fewer.mutable_output_files()->RemoveLast();
  cas::ActionResult stripped = EncodeResult(Result());
  stripped.clear_stdout_raw();
  cas::ActionResult failed = EncodeResult(Result());
  failed.set_exit_code(1);
  for (const cas::ActionResult& bad : {digest, order, fewer, stripped, failed}) {
    EXPECT_THAT(DecodeResult(bad), StatusIs(absl::StatusCode::kDataLoss));
  }
}

}  // namespace
}  // namespace kernelmill::worker
