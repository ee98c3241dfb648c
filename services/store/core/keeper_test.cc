#include "services/store/core/keeper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/cas/digest.h"
#include "common/testing/status_matchers.h"
#include "services/store/core/testing/memory_storage.h"

namespace kernelmill::store {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

BlobId IdOf(absl::string_view bytes) { return *ToBlobId(cas::DigestOf(bytes)); }

class KeeperTest : public ::testing::Test {
 protected:
  absl::Status Put(const std::string& bytes) { return keeper_.Put({{IdOf(bytes), bytes}}); }
  bool Holds(const std::string& bytes) { return keeper_.Find({IdOf(bytes)})->front(); }
  // Asked behind the keeper's back: no use.
  bool IsStored(const std::string& bytes) {
    return storage_->LastUses({IdOf(bytes)})->front() != kNotHeld;
  }
  void Tick(int times = 1) {
    for (int i = 0; i < times; ++i) ASSERT_THAT(keeper_.AdvanceClock(), IsOk());
  }
  void DropAll() {
    for (;;) {
      const auto dropped = keeper_.DropOldest(int64_t{1} << 40);
      ASSERT_THAT(dropped, IsOk());
      if (dropped->finished) return;
    }
  }
  void SetUp() override {
    ASSERT_THAT(keeper_.Load(), IsOk());
    ASSERT_TRUE(*keeper_.Settle());
  }

  MemoryStorage* storage_ = new MemoryStorage;  // owned by keeper_
  absl::Duration now_;
  Keeper keeper_{std::unique_ptr<Storage>(storage_),
                 {.bytes_per_tick = 1000, .now = [this] { return now_; }}};
};

TEST_F(KeeperTest, WhatIsUsedInThisTickOrTheOneBeforeStays) {
  ASSERT_THAT(Put("a"), IsOk());
  DropAll();
  EXPECT_TRUE(IsStored("a"));
  Tick();
  DropAll();
  EXPECT_TRUE(IsStored("a"));
  Tick();
  DropAll();
  EXPECT_FALSE(IsStored("a"));
  EXPECT_FALSE(Holds("a"));
}

TEST_F(KeeperTest, EachKindOfUseKeeps) {
  for (const char* bytes : {"found", "read", "written", "named", "unused"}) {
    ASSERT_THAT(Put(bytes), IsOk());
  }
  ASSERT_THAT(keeper_.PutResult("", IdOf("action"), "result"), IsOk());
  ASSERT_THAT(keeper_.PutResult("", IdOf("unused action"), "result"), IsOk());
  Tick(2);
  EXPECT_TRUE(Holds("found"));
  EXPECT_THAT(keeper_.Use(IdOf("read")), IsOk());
  EXPECT_THAT(Put("written"), IsOk());
  EXPECT_THAT(keeper_.GetResult("", IdOf("action")), IsOk());
  DropAll();
  EXPECT_TRUE(IsStored("found"));
  EXPECT_TRUE(IsStored("read"));
  EXPECT_TRUE(IsStored("written"));
  EXPECT_FALSE(IsStored("unused"));
  EXPECT_THAT(keeper_.GetResult("", IdOf("action")), IsOk());
  EXPECT_THAT(keeper_.GetResult("", IdOf("unused action")), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(KeeperTest, WhatWasUsedLongestAgoGoesFirst) {
  for (int i = 0; i < 6; ++i) {
    ASSERT_THAT(Put(absl::StrCat("blob ", i)), IsOk());
    Tick();
  }
  EXPECT_TRUE(Holds("blob 0"));
  Tick(2);
  ASSERT_THAT(keeper_.DropOldest(11), IsOk());  // two blobs of six bytes
  EXPECT_TRUE(IsStored("blob 0"));
  EXPECT_FALSE(IsStored("blob 1"));
  EXPECT_FALSE(IsStored("blob 2"));
  EXPECT_TRUE(IsStored("blob 3"));
}

TEST_F(KeeperTest, AUseIsMarkedOnceATickAndThenAnsweredFromMemory) {
  ASSERT_THAT(Put("a"), IsOk());
  Tick();
  const int touches = storage_->touches();
  EXPECT_TRUE(Holds("a"));
  EXPECT_EQ(storage_->touches(), touches + 1);
  const int look_ups = storage_->look_ups();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(Holds("a"));
  EXPECT_EQ(storage_->touches(), touches + 1);
  EXPECT_EQ(storage_->look_ups(), look_ups);
  Tick();
  EXPECT_TRUE(Holds("a"));
  EXPECT_EQ(storage_->touches(), touches + 2);
}

TEST_F(KeeperTest, TheClockAdvancesWithTheBytesWritten) {
  const auto start = keeper_.now();
  ASSERT_THAT(Put(std::string(600, 'a')), IsOk());
  ASSERT_THAT(Put(std::string(600, 'a')), IsOk());  // not written again
  EXPECT_EQ(keeper_.now(), start);
  ASSERT_THAT(Put(std::string(600, 'b')), IsOk());
  EXPECT_EQ(keeper_.now(), start + 1);
  EXPECT_EQ(storage_->clock().tick, start + 1);
}

TEST_F(KeeperTest, AHoldKeepsItsBlobsUntilItIsReleased) {
  ASSERT_THAT(Put("held"), IsOk());
  ASSERT_THAT(Put("free"), IsOk());
  const auto missing = keeper_.Hold({.name = "job", .blobs = {IdOf("held"), IdOf("absent")}});
  ASSERT_THAT(missing, IsOk());
  EXPECT_EQ(*missing, std::vector<BlobId>{IdOf("absent")});
  Tick(3);
  DropAll();
  EXPECT_TRUE(IsStored("held"));
  EXPECT_FALSE(IsStored("free"));
  ASSERT_THAT(keeper_.holds().Release("job"), IsOk());
  Tick(3);
  DropAll();
  EXPECT_FALSE(IsStored("held"));
}

TEST_F(KeeperTest, AFenceKeepsAllThatIsUsedWhileTheHoldLives) {
  ASSERT_THAT(Put("old, unused"), IsOk());
  ASSERT_THAT(Put("old, found"), IsOk());
  Tick(2);
  ASSERT_THAT(keeper_.Hold({.name = "job", .everything_used_from_now = true, .ttl_ms = 1000}),
              IsOk());
  EXPECT_TRUE(Holds("old, found"));
  ASSERT_THAT(Put("new"), IsOk());
  Tick(5);
  DropAll();
  EXPECT_FALSE(IsStored("old, unused"));
  EXPECT_TRUE(IsStored("old, found"));
  EXPECT_TRUE(IsStored("new"));
  // Renewing it does not move the fence.
  ASSERT_THAT(keeper_.Hold({.name = "job", .everything_used_from_now = true, .ttl_ms = 1000}),
              IsOk());
  Tick(5);
  DropAll();
  EXPECT_TRUE(IsStored("new"));
  now_ += absl::Seconds(2);
  ASSERT_THAT(keeper_.holds().Expire(), IsOk());
  DropAll();
  EXPECT_FALSE(IsStored("new"));
}

TEST_F(KeeperTest, AFullDiskDoesNotKeepFromReadingNorDropsWhatWasReadMeanwhile) {
  ASSERT_THAT(Put("a"), IsOk());
  ASSERT_THAT(Put("b"), IsOk());
  Tick(2);
  ASSERT_THAT(keeper_.Hold({.name = "job", .everything_used_from_now = true}), IsOk());
  storage_->FailWrites(absl::ResourceExhaustedError("full"));
  EXPECT_TRUE(Holds("a"));  // its use cannot be marked
  EXPECT_THAT(Put("new"), StatusIs(absl::StatusCode::kResourceExhausted));
  storage_->FailWrites(absl::OkStatus());
  DropAll();
  EXPECT_TRUE(IsStored("a"));
  Tick(5);
  DropAll();  // the hold cannot know which of them it keeps
  EXPECT_TRUE(IsStored("a"));
  EXPECT_TRUE(IsStored("b"));
  ASSERT_THAT(keeper_.holds().Release("job"), IsOk());
  DropAll();
  EXPECT_FALSE(IsStored("b"));
}

TEST_F(KeeperTest, WritersOfOneBlobStoreItOnce) {
  const std::string bytes(500, 'x');
  std::vector<std::thread> writers;
  std::atomic<int> failed{0};
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const std::string content = absl::StrCat("round ", round, bytes);
        failed += !keeper_.Put({{IdOf(content), content}, {IdOf(content), content}}).ok();
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failed, 0);  // the fake refuses a blob that is said to be new, and is not
  EXPECT_EQ(storage_->usage().blobs, 50);
}

// An OK, or "not missing", is never followed by the drop of the blob in that tick or the next.
TEST_F(KeeperTest, WhatWasAnsweredIsThereWhileOthersDrop) {
  std::atomic<bool> stop{false};
  std::atomic<int> broken{0};
  std::thread dropper([&] {
    while (!stop) {
      if (!keeper_.DropOldest(1 << 20).ok()) ++broken;
      if (!keeper_.AdvanceClock().ok()) ++broken;
    }
  });
  std::vector<std::thread> clients;
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&, c] {
      for (int i = 0; i < 2000; ++i) {
        const std::string bytes = absl::StrCat("blob ", (c + i) % 7);
        const auto before = keeper_.now();
        const bool kept = i % 2 == 0 ? Put(bytes).ok() : Holds(bytes);
        const bool stored = IsStored(bytes);
        // Two more ticks in between, and it may be gone by right.
        if (kept && !stored && keeper_.now() < before + 2) ++broken;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  stop = true;
  dropper.join();
  EXPECT_EQ(broken, 0);
}

TEST_F(KeeperTest, ForgettingWhatWasUsedLatelyCostsOnlyALookUp) {
  auto* storage = new MemoryStorage;
  Keeper keeper(std::unique_ptr<Storage>(storage), {.remembered_uses = 64});
  for (int i = 0; i < 1000; ++i) {
    const std::string bytes = absl::StrCat(i);
    ASSERT_THAT(keeper.Put({{IdOf(bytes), bytes}}), IsOk());
  }
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(keeper.Find({IdOf(absl::StrCat(i))})->front());
  EXPECT_GT(storage->look_ups(), 1500);  // bounded: most had to be asked for
  EXPECT_EQ(storage->touches(), 0);      // and none marked again in its tick
}

}  // namespace
}  // namespace kernelmill::store
