#include "client/dev/server_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ServerGroupTest : public ::testing::Test {
 protected:
  ServerGroup::Program Shell(const std::string& name, const std::string& script) {
    return {.name = name,
            .argv = {"/bin/sh", "-c", script},
            .log = absl::StrCat(dir_.path(), "/", name, ".log")};
  }
  std::string File(const std::string& name) { return absl::StrCat(dir_.path(), "/", name); }

  const TempDir dir_ = *TempDir::Create();
  std::vector<std::string> said_;
  ServerGroup group_{[this](const std::string& line) { said_.push_back(line); }};
};

bool Ready() { return true; }

TEST_F(ServerGroupTest, StopsTheHighestWaveFirst) {
  for (const char* name : {"second", "first"}) {
    const std::string script =
        absl::StrCat("trap 'echo ", name, " >> ", File("order"), "; exit' TERM; touch ", File(name),
                     "; while :; do sleep 0.01; done");
    ServerGroup::Program program = Shell(name, script);
    program.wave = name == std::string("first") ? 1 : 0;
    ASSERT_THAT(group_.Start(program, [&] { return std::filesystem::exists(File(name)); }), IsOk());
  }
  group_.Stop(absl::Seconds(10));
  EXPECT_EQ(*ReadFile(File("order"), 1000), "first\nsecond\n");
  EXPECT_TRUE(group_.ListRunning().empty());
}

TEST_F(ServerGroupTest, OneThatEndsBeforeItIsReadyIsAnErrorWithItsLog) {
  const absl::Status ended =
      group_.Start(Shell("store", "echo no disk >&2; exit 3"), [] { return false; });
  EXPECT_THAT(ended, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(ended.message()), HasSubstr("store ended with 3: no disk"));
  const absl::Status missing = group_.Start(
      {.name = "none", .argv = {"/no/such/program"}, .log = File("log")}, [] { return false; });
  EXPECT_THAT(missing, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(missing.message()), HasSubstr("No such file"));
}

TEST_F(ServerGroupTest, OneThatDiesIsStartedAgainAndSo) {
  ASSERT_THAT(group_.Start(Shell("worker", "sleep 60"), Ready), IsOk());
  const pid_t before = group_.ListRunning()[0].second;
  kill(before, SIGKILL);
  const absl::Time until = absl::Now() + absl::Seconds(20);
  while ((group_.ListRunning().empty() || group_.ListRunning()[0].second == before) &&
         absl::Now() < until) {
    group_.StartEnded();
    absl::SleepFor(absl::Milliseconds(10));
  }
  ASSERT_EQ(group_.ListRunning().size(), 1u);
  EXPECT_NE(group_.ListRunning()[0].second, before);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("worker was ended by signal 9")));
}

TEST_F(ServerGroupTest, OneThatDoesNotStopIsKilled) {
  const std::string script =
      absl::StrCat("trap '' TERM; touch ", File("deaf"), "; while :; do sleep 0.01; done");
  ASSERT_THAT(
      group_.Start(Shell("deaf", script), [&] { return std::filesystem::exists(File("deaf")); }),
      IsOk());
  group_.Stop(absl::Milliseconds(200));
  EXPECT_THAT(said_, ElementsAre(HasSubstr("deaf did not stop within 200ms")));
}

// As if `kernelmill dev` were killed.
TEST_F(ServerGroupTest, ItsProgramsDieWithIt) {
  const pid_t owner = fork();
  if (owner == 0) {
    ServerGroup group([](const std::string&) {});
    const std::string script = absl::StrCat("echo $$ > ", File("pid"), "; exec sleep 60");
    (void)group.Start(Shell("orphan", script),
                      [&] { return std::filesystem::exists(File("pid")); });
    _exit(0);
  }
  int status;
  waitpid(owner, &status, 0);
  pid_t orphan = 0;
  std::ifstream(File("pid")) >> orphan;
  ASSERT_GT(orphan, 0);
  const absl::Time until = absl::Now() + absl::Seconds(10);
  const auto is_alive = [&] {
    std::ifstream stat(absl::StrCat("/proc/", orphan, "/stat"));
    std::string id, name, state;
    return (stat >> id >> name >> state) && state != "Z";
  };
  while (is_alive() && absl::Now() < until) absl::SleepFor(absl::Milliseconds(10));
  EXPECT_FALSE(is_alive());
}

}  // namespace
}  // namespace kernelmill::client
