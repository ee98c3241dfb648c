#include "client/embedded/embedded_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/console/watch.h"
#include "client/grpc/crawl_client.h"
#include "common/base/file.h"
#include "common/cas/digest.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/crawl.pb.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

constexpr char kSource[] = R"(# SPDX-License-Identifier: MIT
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, out_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1, mask=mask)
)";

class EmbeddedClusterTest : public ::testing::Test {
 protected:
  EmbeddedClusterTest() : root_(*TempDir::Create()) {
    std::filesystem::create_directory(root_.path() + "/tree");
    EXPECT_THAT(WriteFile(root_.path() + "/tree/add.py", kSource), IsOk());
    spec_.set_name("job");
    spec_.add_sources()->set_path(root_.path() + "/tree");
    spec_.mutable_sources(0)->set_name("tree");
  }

  absl::StatusOr<std::unique_ptr<EmbeddedCluster>> Start(int workers) {
    return EmbeddedCluster::Start({.data_dir = root_.path() + "/data", .workers = workers});
  }

  // The status in which the job ends on a cluster of its own over the same data.
  v1::JobStatus Run(int workers) {
    const auto cluster = Start(workers);
    EXPECT_THAT(cluster, IsOk());
    if (!cluster.ok()) return {};
    const auto client = NewCrawlClient((*cluster)->coordinator());
    const auto job = client->Submit(spec_, absl::StrCat("run-", ++runs_), 0, false);
    EXPECT_THAT(job, IsOk());
    const auto watch = [&](const OnStatus& on_status) {
      return client->Watch(job.value_or(""), on_status);
    };
    const auto status = WatchJob(watch, {}, [](const v1::JobStatus&) {});
    EXPECT_THAT(status, IsOk());
    EXPECT_TRUE((*cluster)->Stop(absl::InfiniteDuration()));
    return status.value_or(v1::JobStatus());
  }

  TempDir root_;
  v1::JobSpec spec_;
  int runs_ = 0;
};

TEST_F(EmbeddedClusterTest, RunsAJobAndASecondTimeFromItsCache) {
  const v1::JobStatus cold = Run(2);
  ASSERT_EQ(cold.state(), v1::JOB_STATE_DONE) << cold.ShortDebugString();
  EXPECT_EQ(cold.failures_size(), 0) << cold.ShortDebugString();
  int64_t kept = 0;
  for (const v1::Counter& counter : cold.counters()) {
    if (counter.name() == "dataset.kept") kept = counter.value();
  }
  EXPECT_EQ(kept, 1) << cold.ShortDebugString();
  const v1::JobStatus warm = Run(1);
  ASSERT_EQ(warm.state(), v1::JOB_STATE_DONE) << warm.ShortDebugString();
  EXPECT_EQ(cas::ToString(warm.dataset()), cas::ToString(cold.dataset()));
  for (const v1::StageProgress& stage : warm.stages()) {
    if (stage.stage() != "pin") EXPECT_EQ(stage.cached(), stage.done()) << stage.stage();
  }
}

TEST_F(EmbeddedClusterTest, ASecondOneOnTheSameDataIsRefused) {
  const auto first = Start(1);
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(Start(1), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(EmbeddedClusterTest, WhatCompilersNeedIsLookedForBeforeAnythingIsBegun) {
  const auto cluster =
      EmbeddedCluster::Start({.data_dir = root_.path() + "/data",
                              .compiler = EmbeddedCompilerOptions{.folder = root_.path(),
                                                                  .toolchains = {"triton-3.5.1"}}});
  EXPECT_THAT(cluster, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_FALSE(std::filesystem::exists(root_.path() + "/data"));
}

TEST_F(EmbeddedClusterTest, ASourceThatIsNotThereFailsAlone) {
  spec_.add_sources()->set_path(root_.path() + "/nowhere");
  const v1::JobStatus status = Run(2);
  EXPECT_EQ(status.state(), v1::JOB_STATE_DONE) << status.ShortDebugString();
  ASSERT_EQ(status.failures_size(), 1);
  EXPECT_EQ(status.failures(0).code(), "NOT_FOUND");
}

TEST_F(EmbeddedClusterTest, ATemporaryFolderWithALongNameWillDo) {
  const std::string longer = root_.path() + "/" + std::string(100, 'x');
  std::filesystem::create_directory(longer);
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", longer.c_str(), 1);
  EXPECT_EQ(Run(1).state(), v1::JOB_STATE_DONE);
  kept.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept.c_str(), 1);
}

}  // namespace
}  // namespace kernelmill::client
