#include "services/runner/adapters/python/python_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::runner {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A program in the place of Python: a shell script. tests/execution has real kernels.
class PythonRunnerTest : public ::testing::Test {
 protected:
  // `run` is what it does with a folder of cases, $folder.
  absl::StatusOr<std::unique_ptr<Runner>> Open(const std::string& run) {
    const std::string script =
        "#!/bin/sh\n"
        "case \"$3\" in\n"
        "*folder*) folder=$(echo \"$3\" | sed 's/.*\"folder\":\"\\([^\"]*\\)\".*/\\1/')\n" +
        run +
        "\n;;\n"
        "*) echo '{\"type\":\"toolchain\",\"toolchain\":{\"triton\":\"3.5.1\",\"numpy\":\"2\"}}' "
        ";;\n"
        "esac\n";
    options_.python = folder_.path() + "/python";
    EXPECT_THAT(WriteFile(options_.python, script), IsOk());
    EXPECT_EQ(::chmod(options_.python.c_str(), 0755), 0);
    return OpenPythonRunner(options_);
  }

  absl::Status Run(Runner& runner, const std::stop_token& stop = {}) {
    auto execution = runner.NewExecution();
    if (!execution.ok()) return execution.status();
    v1::Kernel kernel;
    kernel.set_module("text \xff");
    kernel.set_qualname("Ops.add");
    kernel.set_name("add");
    EXPECT_THAT((*execution)->AddKernel(kernel), IsOk());
    EXPECT_THAT((*execution)->AddCase("{\"a\":1}"), IsOk());
    EXPECT_THAT((*execution)->AddTensor("abc", "bytes"), IsOk());
    return (*execution)->Run([this](absl::string_view line) { lines_.emplace_back(line); }, stop);
  }

  TempDir folder_ = *TempDir::Create();
  PythonRunnerOptions options_;
  std::vector<std::string> lines_;
};

TEST_F(PythonRunnerTest, HandsKernelsCasesAndTensorsOnAndTakesResults) {
  const auto runner = Open(
      "test \"$(cat $folder/evidence.jsonl)\" = '{\"a\":1}' || exit 3\n"
      "test \"$(cat $folder/evidence/abc)\" = bytes || exit 4\n"
      "grep -q '\"qualname\":\"Ops.add\"' $folder/kernels.jsonl || exit 5\n"
      "echo '{\"type\":\"result\",\"n\":1}'; echo 'noise'\n"
      "echo '{\"type\":\"result\",\"n\":2}'; echo '{\"type\":\"end\"}'");
  ASSERT_THAT(runner, IsOk());
  EXPECT_EQ((*runner)->toolchain(), R"({"numpy":"2","triton":"3.5.1"})");
  EXPECT_EQ((*runner)->device(), "cpu");
  EXPECT_THAT(Run(**runner), IsOk());
  EXPECT_THAT(lines_,
              ElementsAre("{\"type\":\"result\",\"n\":1}", "{\"type\":\"result\",\"n\":2}"));
}

TEST_F(PythonRunnerTest, WithoutItsEndAnExecutionMayBeTriedAgain) {
  const auto runner = Open("echo '{\"type\":\"result\",\"n\":1}'; echo 'why' >&2; exit 2");
  ASSERT_THAT(runner, IsOk());
  const absl::Status ran = Run(**runner);
  EXPECT_THAT(ran, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(std::string(ran.message()), HasSubstr("why"));
  EXPECT_EQ(lines_.size(), 1u) << "a result counts";
}

TEST_F(PythonRunnerTest, ACancelledExecutionEnds) {
  const auto runner = Open("sleep 1000");
  ASSERT_THAT(runner, IsOk());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(Run(**runner, stop.get_token()), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(PythonRunnerTest, AnExecutionThatTakesTooLongIsKilled) {
  options_.timeout = absl::Milliseconds(200);
  const auto runner = Open("sleep 1000");
  ASSERT_THAT(runner, IsOk());
  EXPECT_THAT(Run(**runner), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(PythonRunnerTest, APythonThatCannotRunKernelsSaysWhy) {
  options_.python = "/no/such/python";
  EXPECT_THAT(OpenPythonRunner(options_), StatusIs(absl::StatusCode::kFailedPrecondition));
  options_.python = folder_.path() + "/other";
  ASSERT_THAT(WriteFile(options_.python, "#!/bin/sh\necho 'no module named triton' >&2\nexit 2\n"),
              IsOk());
  ASSERT_EQ(::chmod(options_.python.c_str(), 0755), 0);
  const auto runner = OpenPythonRunner(options_);
  EXPECT_THAT(runner, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(runner.status().message()), HasSubstr("no module named triton"));
}

}  // namespace
}  // namespace kernelmill::runner
