#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/commands/commands.h"
#include "client/commands/testing/command_test.h"
#include "client/console/exit_code.h"
#include "common/base/file.h"
#include "common/job/job_file.h"
#include "common/rpc/server.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;

class InitCommandTest : public CommandTest {
 protected:
  InitCommandTest() : dir_(*TempDir::Create()) { options_.file = dir_.path() + "/job.yaml"; }

  absl::StatusOr<int> RunInit() {
    return Run(false, [this](Console& c) { return Init(options_, signal_, c); });
  }
  // Returns the job that the written file means.
  v1::JobSpec Job() {
    EXPECT_EQ(RunInit().value(), kDone);
    const auto spec = job::LoadJobFile(options_.file);
    EXPECT_THAT(spec, IsOk());
    return spec.value_or(v1::JobSpec());
  }

  rpc::TerminationSignal signal_;
  TempDir dir_;
  InitOptions options_;
};

TEST_F(InitCommandTest, TheNameIsThatOfTheFirstSource) {
  options_.force = true;
  options_.repositories = {"https://example.org/Some/My_Ops.git"};
  EXPECT_EQ(Job().name(), "my_ops");
  EXPECT_THAT(out_, HasSubstr(" --out my_ops\n"));
  options_.repositories = {"git@example.org:ops.git"};
  EXPECT_EQ(Job().name(), "ops");
  options_.repositories.clear();
  options_.packages = {"fla-core==0.6.0"};
  EXPECT_EQ(Job().name(), "fla-core");
  options_.packages.clear();
  options_.folders = {"../my kernels/"};
  EXPECT_EQ(Job().name(), "my-kernels");
  options_.folders = {".."};
  EXPECT_EQ(Job().name(), "kernels");
  options_.folders = {"./" + std::string(100, 'x')};
  EXPECT_EQ(Job().name(), std::string(64, 'x'));
}

TEST_F(InitCommandTest, OddValuesAreQuoted) {
  options_.file = dir_.path() + "/it's.yaml";
  options_.folders = {"#1: \"x\"", "no", "12"};
  options_.name = "1.5";
  options_.out_dir = "a b";
  const v1::JobSpec spec = Job();
  EXPECT_EQ(spec.name(), "1.5");
  ASSERT_EQ(spec.sources_size(), 3);
  EXPECT_EQ(spec.sources(0).path(), dir_.path() + "/#1: \"x\"");
  EXPECT_EQ(spec.sources(1).path(), dir_.path() + "/no");
  EXPECT_EQ(spec.sources(2).path(), dir_.path() + "/12");
  EXPECT_THAT(out_, HasSubstr("it'\\''s.yaml' --out 'a b'\n"));
}

TEST_F(InitCommandTest, AnUnwritableFolderLeavesNothing) {
  options_.file = dir_.path() + "/nowhere/job.yaml";
  options_.repositories = {"a/b"};
  EXPECT_THAT(RunInit(), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace kernelmill::client
