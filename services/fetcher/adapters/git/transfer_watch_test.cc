#include "services/fetcher/adapters/git/transfer_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/process/child_process.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

constexpr LowestRate kRate = {.bytes_per_second = 1000, .window = absl::Seconds(10)};

// A program in a process group of its own, in the place of git.
class TransferWatchTest : public ::testing::Test {
 protected:
  TransferWatchTest() {
    absl::StatusOr<TempDir> folder = TempDir::Create("");
    EXPECT_THAT(folder, IsOk());
    folder_ = std::make_unique<TempDir>(*std::move(folder));
  }

  // Runs a script while `look` is called with its group, once.
  absl::Status During(const std::string& script, const std::function<absl::Status(pid_t)>& look) {
    ChildCommand command;
    command.argv = {"sh", "-c", script, "sh"};
    command.env = {"PATH=/usr/bin:/bin"};
    command.watch = [&](pid_t group) {
      const absl::Status status = look(group);
      return status.ok() ? absl::AbortedError("enough") : status;
    };
    const absl::StatusOr<ChildResult> result = RunChild(command);
    EXPECT_THAT(result, IsOk());
    if (absl::IsAborted(result->stopped)) return absl::OkStatus();
    return result->stopped;
  }

  void WritePack(const char* name, int bytes) const {
    EXPECT_THAT(WriteFile(absl::StrCat(folder_->path(), "/", name), std::string(bytes, 'p')),
                IsOk());
  }
  TransferWatch Watch(TransferWatch::Prelude prelude = TransferWatch::Prelude::kSeen) const {
    return TransferWatch(folder_->path(), prelude, kRate, begun_);
  }
  absl::Time After(int seconds) const { return begun_ + absl::Seconds(seconds); }

  std::unique_ptr<TempDir> folder_;
  const absl::Time begun_ = absl::Now();
};

TEST_F(TransferWatchTest, ASilentServerIsGivenUp) {
  TransferWatch watch = Watch();
  EXPECT_THAT(During("sleep 20", [&](pid_t group) { return watch.Look(group, After(10)); }),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST_F(TransferWatchTest, WhatGitReadsBeforeThePackCounts) {
  TransferWatch watch = Watch();
  const auto look = [&](pid_t group) { return watch.Look(group, After(10)); };
  EXPECT_THAT(During("head -c 1000000 /dev/zero | (wc -c; sleep 20)", look), IsOk());
}

TEST_F(TransferWatchTest, AGrowingPackIsEnough) {
  WritePack("pack-1.pack", 100'000);
  TransferWatch watch = Watch();
  WritePack("tmp_pack_x", 10'001);
  const auto look = [&](pid_t group) { return watch.Look(group, After(10)); };
  EXPECT_THAT(During("sleep 20", look), IsOk());
}

TEST_F(TransferWatchTest, TalkBesideAPackThatDoesNotGrowIsNotEnough) {
  WritePack("pack-1.pack", 100'000);
  TransferWatch watch = Watch();
  WritePack("tmp_pack_x", 12);
  const auto look = [&](pid_t group) { return watch.Look(group, After(10)); };
  EXPECT_THAT(During("head -c 1000000 /dev/zero | (cat > /dev/null; exec sleep 20)", look),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST_F(TransferWatchTest, EndlessTalkEndsByItsBytes) {
  TransferWatch watch = Watch();
  const auto look = [&](pid_t group) { return watch.Look(group, After(1)); };
  EXPECT_THAT(During("exec cat /dev/zero > /dev/null",
                     [&](pid_t group) {
                       absl::SleepFor(absl::Seconds(1));
                       return look(group);
                     }),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(TransferWatchTest, GitMayComputeAfterThePack) {
  TransferWatch watch = Watch();
  WritePack("tmp_pack_x", 12);
  // The loop's own words make it one of git's programs.
  EXPECT_THAT(During("exec sh -c 'while :; do :; done' index-pack",
                     [&](pid_t group) {
                       absl::Status status;
                       for (int tries = 0; tries < 60; ++tries) {  // on a busy machine
                         absl::SleepFor(absl::Seconds(1));
                         status = watch.Look(group, After(10));
                         if (status.ok()) break;
                       }
                       return status;
                     }),
              IsOk());
}

TEST_F(TransferWatchTest, RefsOfTheHttpHelperAreNotSeen) {
  TransferWatch watch = Watch(TransferWatch::Prelude::kUnseen);
  EXPECT_THAT(During("sleep 20", [&](pid_t group) { return watch.Look(group, After(100)); }),
              IsOk());
  WritePack("tmp_pack_x", 12);
  EXPECT_THAT(During("sleep 20", [&](pid_t group) { return watch.Look(group, After(110)); }),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
}

}  // namespace
}  // namespace kernelmill::fetcher
