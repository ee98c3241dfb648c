#include "common/process/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/testing/status_matchers.h"

namespace kernelmill {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;

ChildCommand Shell(const std::string& script) {
  ChildCommand command;
  command.argv = {"sh", "-c", script};
  command.env = {"PATH=/usr/bin:/bin"};
  return command;
}

ChildResult Outcome(const ChildCommand& command) {
  const absl::StatusOr<ChildResult> result = RunChild(command);
  EXPECT_THAT(result, IsOk());
  return result.ok() ? *result : ChildResult();
}

TEST(ChildProcess, OutputErrorsAndExitCode) {
  const ChildResult result = Outcome(Shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_FALSE(result.ok());
}

TEST(ChildProcess, AWatchThatFailsEndsTheProgram) {
  ChildCommand command = Shell("sleep 60");
  pid_t watched = 0;
  command.watch = [&](pid_t pid) {
    watched = pid;
    return absl::DeadlineExceededError("enough");
  };
  const absl::Time begun = absl::Now();
  const ChildResult result = Outcome(command);
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(result.stopped, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_GT(watched, 0);
  EXPECT_LT(absl::Now() - begun, absl::Seconds(30));
}

TEST(ChildProcess, AWatchThatIsContentChangesNothing) {
  ChildCommand command = Shell("sleep 2.2; echo done");
  int looks = 0;
  command.watch = [&](pid_t) {
    ++looks;
    return absl::OkStatus();
  };
  EXPECT_EQ(Outcome(command).output, "done\n");
  EXPECT_GE(looks, 1);
  EXPECT_LE(looks, 3);
}

TEST(ChildProcess, LargeInputComesBackWhole) {
  ChildCommand command = Shell("cat");
  for (int i = 0; i < 300'000; ++i) absl::StrAppend(&command.input, i, "\n");
  EXPECT_EQ(Outcome(command).output, command.input);
}

TEST(ChildProcess, InputThatIsNotReadDoesNoHarm) {
  ChildCommand command = Shell("exec 0<&-; exit 0");
  command.input = std::string(4 << 20, 'x');
  EXPECT_TRUE(Outcome(command).ok());
}

std::unique_ptr<RunningChild> Running(const ChildCommand& command) {
  absl::StatusOr<std::unique_ptr<RunningChild>> child = RunningChild::Start(command);
  EXPECT_THAT(child, IsOk());
  return child.ok() ? *std::move(child) : nullptr;
}

TEST(RunningChild, TakesItsInputInParts) {
  const std::unique_ptr<RunningChild> child = Running(Shell("wc -c"));
  const std::string part(1 << 20, 'x');
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(child->Write(part));
  const ChildResult result = child->Finish();
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.output, "5242880\n");
}

TEST(RunningChild, OneThatEndsTakesNoMore) {
  const std::unique_ptr<RunningChild> child = Running(Shell("head -c 1; echo why >&2; exit 3"));
  EXPECT_FALSE(child->Write(std::string(4 << 20, 'x')));
  const ChildResult result = child->Finish();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.errors, "why\n");
}

TEST(RunningChild, OneThatReadsNothingIsWaitedForUntilItsTimeIsOver) {
  ChildCommand command = Shell("sleep 60");
  command.timeout = absl::Milliseconds(200);
  const std::unique_ptr<RunningChild> child = Running(command);
  EXPECT_FALSE(child->Write(std::string(4 << 20, 'x')));
  EXPECT_TRUE(child->Finish().timed_out);
}

// row 19
TEST(ChildProcess, EnvironmentIsExactlyWhatIsGiven) {
  ::setenv("KERNELMILL_SECRET", "1", 1);
  ChildCommand command;
  command.argv = {"env"};
  command.env = {"A=b"};
  EXPECT_EQ(Outcome(command).output, "A=b\n");
}

// row 18
TEST(ChildProcess, ArgumentsAreNotInterpreted) {
  ChildCommand command;
  command.argv = {"printf", "%s", "$(id) `id` ; *"};
  EXPECT_EQ(Outcome(command).output, "$(id) `id` ; *");
}

// row 27
TEST(ChildProcess, TimeoutKillsTheWholeGroup) {
  ChildCommand command = Shell("sleep 1000 & echo $!; sleep 1000");
  command.timeout = absl::Milliseconds(300);
  const ChildResult result = Outcome(command);
  EXPECT_TRUE(result.timed_out);
  int grandchild = 0;
  ASSERT_TRUE(absl::SimpleAtoi(result.output.substr(0, result.output.find('\n')), &grandchild));
  // It was killed, though perhaps not yet reaped by the process that inherits it.
  const ChildResult state = Outcome(
      Shell(absl::StrCat("for i in $(seq 500); do s=$(sed 's/.*) //;s/ .*//' /proc/", grandchild,
                         "/stat 2>/dev/null) || break; [ \"$s\" = Z -o -z \"$s\" ] && break; "
                         "sleep 0.02; done; echo \"${s:-Z}\"")));
  EXPECT_EQ(state.output, "Z\n");
}

TEST(ChildProcess, GrandchildThatKeepsThePipesOpenDoesNotHoldUsUp) {
  ChildCommand command = Shell("sleep 1000 & echo done");
  command.timeout = absl::Minutes(5);
  const ChildResult result = Outcome(command);
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.output, "done\n");
}

// row 27
TEST(ChildProcess, EndlessOutputIsCutOff) {
  ChildCommand command = Shell("yes");
  command.max_output = 100'000;
  EXPECT_TRUE(Outcome(command).output_overflow);
}

TEST(ChildProcess, OutputThatIsTakenAsItComesIsNotKept) {
  ChildCommand command = Shell("echo one; yes | head -c 300000; echo last");
  command.max_output = 1000;
  std::string taken;
  command.on_output = [&taken](absl::string_view piece) { absl::StrAppend(&taken, piece); };
  const ChildResult result = Outcome(command);
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(taken.substr(0, 4), "one\n");
  EXPECT_EQ(taken.substr(taken.size() - 5), "last\n");
  EXPECT_EQ(taken.size(), 300'009u);
}

TEST(ChildProcess, TheLastErrorsAreKept) {
  ChildCommand command = Shell("yes noise | head -c 1000000 >&2; echo fatal: why >&2");
  command.max_errors = 1000;
  const ChildResult result = Outcome(command);
  EXPECT_LE(result.errors.size(), 1000u);
  EXPECT_THAT(result.errors, HasSubstr("fatal: why"));
}

// row 24
TEST(ChildProcess, FileSizeLimitHolds) {
  ChildCommand command = Shell("head -c 200000 /dev/zero > /dev/null; ulimit -f");
  command.file_bytes = 1 << 20;
  EXPECT_THAT(Outcome(command).output, ::testing::AnyOf("2048\n", "1024\n"));
}

TEST(ChildProcess, MemoryLimitHolds) {
  ChildCommand command = Shell("x=$(head -c 30000000 /dev/zero | tr '\\0' x); echo ${#x}");
  EXPECT_EQ(Outcome(command).output, "30000000\n");
  command.memory_bytes = 10 << 20;
  EXPECT_FALSE(Outcome(command).ok());
}

TEST(ChildProcess, SignalIsReported) { EXPECT_EQ(Outcome(Shell("kill -TERM $$")).signal, SIGTERM); }

TEST(ChildProcess, MissingProgramIsAFailedPrecondition) {
  ChildCommand command;
  command.argv = {"no-such-program-here"};
  EXPECT_THAT(RunChild(command), StatusIs(absl::StatusCode::kFailedPrecondition));
  command.argv = {"/no/such/program"};
  EXPECT_THAT(RunChild(command), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace kernelmill
