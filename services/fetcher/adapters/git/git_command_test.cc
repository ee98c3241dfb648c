#include "services/fetcher/adapters/git/git_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::StatusIs;

ChildResult Failed(std::string errors) {
  ChildResult result;
  result.exit_code = 128;
  result.errors = std::move(errors);
  return result;
}

TEST(ClassifyGitFailure, GitsWordsDecide) {
  const std::pair<const char*, absl::StatusCode> cases[] = {
      {"fatal: repository 'https://x/y/' not found", absl::StatusCode::kNotFound},
      {"fatal: '/x' does not appear to be a git repository\nfatal: Could not read from remote",
       absl::StatusCode::kNotFound},
      {"fatal: remote error: upload-pack: not our ref 00", absl::StatusCode::kNotFound},
      {"fatal: transport 'ext' not allowed", absl::StatusCode::kPermissionDenied},
      {"fatal: could not read Username for 'https://x': terminal prompts disabled",
       absl::StatusCode::kPermissionDenied},
      {"fatal: unable to access 'https://x/': The requested URL returned error: 503",
       absl::StatusCode::kUnavailable},
      {"fatal: unable to access 'https://x/': Could not resolve host: x",
       absl::StatusCode::kUnavailable},
      {"error: Server does not allow request for unadvertised object 00",
       absl::StatusCode::kFailedPrecondition},
      {"fatal: bad tree object 00", absl::StatusCode::kDataLoss},
      {"fatal: write error: No space left on device", absl::StatusCode::kResourceExhausted},
      {"error: index-pack died of signal 25", absl::StatusCode::kFailedPrecondition},
      {"fatal: Out of memory, malloc failed (tried to allocate 1 bytes)",
       absl::StatusCode::kFailedPrecondition},
      {"fatal: early EOF", absl::StatusCode::kUnavailable},
      {"", absl::StatusCode::kUnavailable},
  };
  for (const auto& [errors, code] : cases) {
    EXPECT_THAT(ClassifyGitFailure(Failed(errors)), StatusIs(code)) << errors;
  }
}

TEST(ClassifyGitFailure, TheCauseIsToldAndNotThatThereWasOne) {
  constexpr char kGeneral[] =
      "fatal: Could not read from remote repository.\n\n"
      "Please make sure you have the correct access rights\nand the repository exists.\n";
  for (const std::string cause :
       {"'/x' does not appear to be a git repository", "git@x: Permission denied (publickey)."}) {
    const absl::Status status = ClassifyGitFailure(Failed(absl::StrCat(cause, "\n", kGeneral)));
    EXPECT_THAT(std::string(status.message()), ::testing::EndsWith(cause));
  }
}

TEST(ClassifyGitFailure, LimitsAndTime) {
  ChildResult timeout = Failed("");
  timeout.timed_out = true;
  EXPECT_THAT(ClassifyGitFailure(timeout), StatusIs(absl::StatusCode::kDeadlineExceeded));
  ChildResult cpu = Failed("");
  cpu.signal = SIGXCPU;
  EXPECT_THAT(ClassifyGitFailure(cpu), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(ClassifyGitFailure, MessageIsGitsLastComplaintInUtf8) {
  const absl::Status status =
      ClassifyGitFailure(Failed("warning: a\nfatal: the \xff cause\nhint: more\n"));
  EXPECT_EQ(std::string(status.message()), "git: the \xef\xbf\xbd cause");
}

TEST(RetryAfterInTrace, TheLastAnswerCounts) {
  const absl::Time now = absl::UnixEpoch();
  const std::string busy =
      "1 http.c:1  <= Recv header: HTTP/1.1 429 Too Many\n1 http.c:1  <= Recv header: retry-AFTER: "
      "7\n";
  EXPECT_EQ(RetryAfterInTrace(busy, now), absl::Seconds(7));
  EXPECT_EQ(RetryAfterInTrace(busy + "1 http.c:1  <= Recv header: HTTP/2 503\n", now),
            std::nullopt);
  EXPECT_EQ(RetryAfterInTrace("1 http.c:1  => Send header: Retry-After: 7\n", now), std::nullopt);
  EXPECT_EQ(RetryAfterInTrace("", now), std::nullopt);
}

}  // namespace
}  // namespace kernelmill::fetcher
