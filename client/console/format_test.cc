#include "client/console/format.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "client/console/exit_code.h"
#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::client {
namespace {

TEST(ExitCode, TellsTheFourOutcomesApart) {
  v1::JobStatus done;
  done.set_state(v1::JOB_STATE_DONE);
  EXPECT_EQ(ToExitCode(done), 0);
  v1::JobStatus failures = done;
  failures.set_failure_count(1);
  EXPECT_EQ(ToExitCode(failures), 1);
  v1::JobStatus failed;
  failed.set_state(v1::JOB_STATE_FAILED);
  EXPECT_EQ(ToExitCode(failed), 1);
  v1::JobStatus cancelled;
  cancelled.set_state(v1::JOB_STATE_CANCELLED);
  EXPECT_EQ(ToExitCode(cancelled), 1);
  EXPECT_EQ(ToExitCode(absl::InvalidArgumentError("")), 2);
  EXPECT_EQ(ToExitCode(absl::NotFoundError("")), 2);
  EXPECT_EQ(ToExitCode(absl::FailedPreconditionError("")), 2);
  EXPECT_EQ(ToExitCode(absl::UnavailableError("")), 3);
  EXPECT_EQ(ToExitCode(absl::DeadlineExceededError("")), 3);
  EXPECT_EQ(ToExitCode(absl::ResourceExhaustedError("")), 1);
}

TEST(ErrorLine, IsOneLine) {
  EXPECT_EQ(ErrorLine(absl::InvalidArgumentError("a\nb\x1b[2J\xff")), "a b\\x1b[2J\xef\xbf\xbd");
}

TEST(CutTo, NeverCutsACharacterInTwo) {
  EXPECT_EQ(CutTo("a\xc3\xa4z", 3), "a\xc3\xa4z");
  EXPECT_EQ(CutTo("a\xc3\xa4z", 2), "a\xc3\xa4");
  EXPECT_EQ(CutTo("a\xc3\xa4z", 1), "a");
  EXPECT_EQ(CutTo("abc", -1), "");
}

TEST(ShortDuration, RoundsUp) {
  EXPECT_EQ(ShortDuration(absl::Milliseconds(59'100)), "1:00");
  EXPECT_EQ(ShortDuration(absl::Seconds(3661)), "1:01:01");
  EXPECT_EQ(ShortDuration(absl::InfiniteDuration()), "?");
}

TEST(ShellWord, QuotesWhatAShellWouldTakeApart) {
  EXPECT_EQ(ShellWord("~/a-b_1.yaml"), "~/a-b_1.yaml");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellWord("a\x1b b"), "'a\\x1b b'");
}

TEST(ShortBytes, HasThreeDigitsOrFour) {
  EXPECT_EQ(ShortBytes(0), "0 bytes");
  EXPECT_EQ(ShortBytes(1), "1 byte");
  EXPECT_EQ(ShortBytes(1023), "1023 bytes");
  EXPECT_EQ(ShortBytes(1024), "1.0 KiB");
  EXPECT_EQ(ShortBytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(ShortBytes(3 << 29), "1.5 GiB");
  EXPECT_EQ(ShortBytes(std::numeric_limits<int64_t>::max()), "8.0 EiB");
}

}  // namespace
}  // namespace kernelmill::client
