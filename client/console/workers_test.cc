#include "client/console/workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelmill::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kNowMs = 1'700'000'000'000;

v1::WorkerInfo Worker(const std::string& name) {
  v1::WorkerInfo worker;
  worker.set_name(name);
  worker.set_version("0.1.0 (4d2f)");
  worker.set_slots(4);
  worker.set_last_heard_unix_ms(kNowMs - 2000);
  v1::StageSupport& stage = *worker.add_stages();
  stage.set_stage("extract");
  stage.set_version(7);
  return worker;
}

TEST(Workers, AreListedWithWhatTheyHold) {
  v1::WorkerInfo worker = Worker("host:17");
  v1::RunningTask& task = *worker.add_running();
  task.set_job("demo-000001");
  task.set_task(42);
  task.set_stage("extract");
  task.set_source("de\nmo");
  task.set_attempt(2);
  task.set_leased_unix_ms(kNowMs - 5000);
  const std::string text = WorkersText({worker}, absl::FromUnixMillis(kNowMs));
  EXPECT_THAT(text,
              HasSubstr("host:17      2 s     4     1  0.1.0 (4d2f)             extract 7\n"));
  EXPECT_THAT(text,
              HasSubstr("  extract of de mo, job demo-000001, task 42, attempt 2, for 5 s\n"));
}

TEST(Workers, OneWithManyTasksIsCutShort) {
  v1::WorkerInfo worker = Worker("w");
  worker.set_caller("worker w3");
  for (int i = 0; i < 11; ++i) worker.add_running()->set_stage("extract");
  const std::string text = WorkersText({worker}, absl::FromUnixMillis(kNowMs));
  EXPECT_THAT(text, HasSubstr("w (worker w3)"));
  EXPECT_THAT(text, HasSubstr("  and 3 more\n"));
}

TEST(Workers, AnUnservedStageSaysWhatOtherVersionsThereAre) {
  v1::JobStatus status;
  v1::Unserved* unserved = status.add_unserved();
  unserved->set_stage("extract");
  unserved->set_version(7);
  unserved->set_tasks(18);
  EXPECT_THAT(
      UnservedLines(status),
      ElementsAre("no worker for extract 7 (none of any version is connected): 18 tasks wait"));
  v1::OtherVersion* other = unserved->add_others();
  other->set_version(6);
  other->set_workers(2);
  unserved->set_tasks(1);
  EXPECT_THAT(UnservedLines(status),
              ElementsAre("no worker for extract 7 (2 of version 6 are connected): 1 task waits"));
}

}  // namespace
}  // namespace kernelmill::client
