#include "common/worker/backlog.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace kernelmill::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

v1::LeasedTask Task(uint64_t id, bool alone = false) {
  v1::LeasedTask task;
  task.set_task(id);
  task.set_alone(alone);
  return task;
}

TEST(Backlog, OfLongTasksNoneIsLeasedAhead) {
  Backlog backlog(2);
  EXPECT_EQ(backlog.AwaitRoom({}).tasks, 2) << "nothing is known of them yet";
  for (uint64_t i = 1; i <= 2; ++i) backlog.Add(Task(i));
  const auto first = backlog.Take();
  backlog.Take();
  EXPECT_EQ(backlog.AwaitRoom({}).tasks, 0);
  std::this_thread::sleep_for(milliseconds(60));
  backlog.Ran(first->start);
  const Backlog::Room room = backlog.AwaitRoom({});
  EXPECT_EQ(room.tasks, 1) << "for the slot that is free";
  EXPECT_EQ(room.held, 2) << "one runs, one is not handed in";
}

TEST(Backlog, ShortTasksAreLeasedInBatches) {
  Backlog backlog(2);
  backlog.Add(Task(1));
  backlog.Ran(backlog.Take()->start);
  EXPECT_GT(backlog.AwaitRoom({}).tasks, 32);
  for (uint64_t i = 2; i < 60; ++i) backlog.Add(Task(i));
  EXPECT_EQ(backlog.AwaitRoom({}).tasks, 0) << "there is enough";
  for (int i = 0; i < 40; ++i) backlog.Ran(backlog.Take()->start);
  EXPECT_GT(backlog.AwaitRoom({}).tasks, 20);
}

TEST(Backlog, ATaskThatRunsAloneLeavesNoRoomUntilItIsHandedIn) {
  Backlog backlog(4);
  backlog.Add(Task(1, /*alone=*/true));
  EXPECT_EQ(backlog.AwaitRoom({}).tasks, 0);
  const auto taken = backlog.Take();
  EXPECT_EQ(backlog.AwaitRoom({}).tasks, 0);
  backlog.Ran(taken->start);
  EXPECT_EQ(backlog.AwaitRoom({}).tasks, 0);
  backlog.Finished(1);
  EXPECT_GT(backlog.AwaitRoom({}).tasks, 0);
}

TEST(Backlog, FinishFirstLeavesNoRoomUntilNothingIsHeld) {
  Backlog backlog(4);
  backlog.Add(Task(1));
  EXPECT_EQ(backlog.AwaitRoom({}).tasks, 3);
  backlog.FinishFirst();
  EXPECT_EQ(backlog.AwaitRoom({}).tasks, 0);
  backlog.Ran(backlog.Take()->start);
  backlog.Finished(1);
  const Backlog::Room room = backlog.AwaitRoom(seconds(60));
  EXPECT_GT(room.tasks, 0);
  EXPECT_EQ(room.held, 0);
}

TEST(Backlog, CloseWakesWhoWaitsAndReturnsWhatWaited) {
  Backlog backlog(1);
  backlog.Add(Task(1));
  backlog.Take();
  std::thread slot([&] { EXPECT_FALSE(backlog.Take().has_value()); });
  std::thread leaser([&] { EXPECT_EQ(backlog.AwaitRoom(seconds(60)).tasks, 0); });
  EXPECT_TRUE(backlog.Close().empty());
  slot.join();
  leaser.join();
  EXPECT_FALSE(backlog.Add(Task(2)));
  EXPECT_TRUE(backlog.LongestRunning().has_value());
  Backlog other(1);
  other.Add(Task(3));
  EXPECT_EQ(other.Close().at(0).task(), 3u);
}

}  // namespace
}  // namespace kernelmill::worker
