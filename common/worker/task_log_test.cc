#include "common/worker/task_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_split.h"

namespace kernelmill::worker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(TaskLog, StartAndEndHaveTheSameNames) {
  TaskLog log("w1");
  v1::LeasedTask task;
  task.set_job("demo-000001");
  task.set_task(4294967297);
  task.set_token(77);
  task.set_attempt(2);
  task.mutable_action()->set_stage("extract");
  v1::Completion completion;
  completion.mutable_lease()->set_task(task.task());
  completion.mutable_lease()->set_token(task.token());
  completion.mutable_error()->set_code(14);
  completion.mutable_error()->set_message("the store is away");
  ::testing::internal::CaptureStderr();
  log.Leased(task);
  log.Started(task);
  log.Ended(completion, "error");
  const std::string text = ::testing::internal::GetCapturedStderr();
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  ASSERT_THAT(lines, SizeIs(2)) << text;
  for (const std::string& line : lines) {
    EXPECT_THAT(line, AllOf(HasSubstr(R"("job":"demo-000001")"), HasSubstr(R"("stage":"extract")"),
                            HasSubstr(R"("task":"4294967297")"), HasSubstr(R"("worker":"w1")"),
                            HasSubstr(R"("attempt":"2")")));
  }
  EXPECT_THAT(lines[0], HasSubstr("\"task started\""));
  EXPECT_THAT(lines[1], AllOf(HasSubstr("\"task failed\""), HasSubstr("\"level\":\"warning\""),
                              HasSubstr("UNAVAILABLE: the store is away")));
}

}  // namespace
}  // namespace kernelmill::worker
