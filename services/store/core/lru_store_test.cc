#include "services/store/core/lru_store.h"

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

BlobId MakeId(absl::string_view bytes) { return *ToBlobId(cas::ComputeDigest(bytes)); }

class LruStoreTest : public ::testing::Test {
 protected:
  absl::Status Put(const std::string& bytes) { return store_.Put({{MakeId(bytes), bytes}}); }
  bool Holds(const std::string& bytes) { return store_.Find({MakeId(bytes)})->front(); }
  // Asks the storage itself, which does not count as a use.
  bool IsStored(const std::string& bytes) {
    return storage_->LastUses({MakeId(bytes)})->front() != kNoEpoch;
  }
  void NextEpoch(int times = 1) {
    for (int i = 0; i < times; ++i) ASSERT_THAT(store_.AdvanceEpoch(), IsOk());
  }
  void EvictAll() {
    for (;;) {
      const auto evicted = store_.EvictOldest(int64_t{1} << 40);
      ASSERT_THAT(evicted, IsOk());
      if (evicted->finished) return;
    }
  }
  void SetUp() override { ASSERT_THAT(store_.Load(), IsOk()); }

  MemoryStorage* storage_ = new MemoryStorage;  // owned by store_
  absl::Duration now_;
  LruStore store_{std::unique_ptr<Storage>(storage_),
                  {.bytes_per_epoch = 1000, .now = [this] { return now_; }}};
};

TEST_F(LruStoreTest, WhatIsUsedInThisEpochOrTheOneBeforeStays) {
  ASSERT_THAT(Put("a"), IsOk());
  EvictAll();
  EXPECT_TRUE(IsStored("a"));
  NextEpoch();
  EvictAll();
  EXPECT_TRUE(IsStored("a"));
  NextEpoch();
  EvictAll();
  EXPECT_FALSE(IsStored("a"));
  EXPECT_FALSE(Holds("a"));
}

TEST_F(LruStoreTest, EachKindOfUseKeeps) {
  for (const char* bytes : {"found", "read", "written", "named", "unused"}) {
    ASSERT_THAT(Put(bytes), IsOk());
  }
  ASSERT_THAT(store_.PutResult("", MakeId("action"), "result"), IsOk());
  ASSERT_THAT(store_.PutResult("", MakeId("unused action"), "result"), IsOk());
  NextEpoch(2);
  EXPECT_TRUE(Holds("found"));
  EXPECT_THAT(store_.Touch(MakeId("read")), IsOk());
  EXPECT_THAT(Put("written"), IsOk());
  EXPECT_THAT(store_.GetResult("", MakeId("action")), IsOk());
  EvictAll();
  EXPECT_TRUE(IsStored("found"));
  EXPECT_TRUE(IsStored("read"));
  EXPECT_TRUE(IsStored("written"));
  EXPECT_FALSE(IsStored("unused"));
  EXPECT_THAT(store_.GetResult("", MakeId("action")), IsOk());
  EXPECT_THAT(store_.GetResult("", MakeId("unused action")), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(LruStoreTest, WhatWasUsedLongestAgoGoesFirst) {
  for (int i = 0; i < 6; ++i) {
    ASSERT_THAT(Put(absl::StrCat("blob ", i)), IsOk());
    NextEpoch();
  }
  EXPECT_TRUE(Holds("blob 0"));
  NextEpoch(2);
  ASSERT_THAT(store_.EvictOldest(11), IsOk());  // two blobs of six bytes
  EXPECT_TRUE(IsStored("blob 0"));
  EXPECT_FALSE(IsStored("blob 1"));
  EXPECT_FALSE(IsStored("blob 2"));
  EXPECT_TRUE(IsStored("blob 3"));
}

TEST_F(LruStoreTest, AUseIsRecordedOnceAnEpochAndThenAnsweredFromMemory) {
  ASSERT_THAT(Put("a"), IsOk());
  NextEpoch();
  const int touches = storage_->touches();
  EXPECT_TRUE(Holds("a"));
  EXPECT_EQ(storage_->touches(), touches + 1);
  const int look_ups = storage_->look_ups();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(Holds("a"));
  EXPECT_EQ(storage_->touches(), touches + 1);
  EXPECT_EQ(storage_->look_ups(), look_ups);
  NextEpoch();
  EXPECT_TRUE(Holds("a"));
  EXPECT_EQ(storage_->touches(), touches + 2);
}

TEST_F(LruStoreTest, TheEpochAdvancesWithTheBytesWritten) {
  const auto start = store_.epoch();
  ASSERT_THAT(Put(std::string(600, 'a')), IsOk());
  ASSERT_THAT(Put(std::string(600, 'a')), IsOk());  // not written again
  EXPECT_EQ(store_.epoch(), start);
  ASSERT_THAT(Put(std::string(600, 'b')), IsOk());
  EXPECT_EQ(store_.epoch(), start + 1);
  EXPECT_EQ(storage_->epoch().epoch, start + 1);
}

TEST_F(LruStoreTest, AHoldKeepsItsBlobsUntilItIsReleased) {
  ASSERT_THAT(Put("held"), IsOk());
  ASSERT_THAT(Put("free"), IsOk());
  const auto missing = store_.Hold({.name = "job", .blobs = {MakeId("held"), MakeId("absent")}});
  ASSERT_THAT(missing, IsOk());
  EXPECT_EQ(*missing, std::vector<BlobId>{MakeId("absent")});
  NextEpoch(3);
  EvictAll();
  EXPECT_TRUE(IsStored("held"));
  EXPECT_FALSE(IsStored("free"));
  ASSERT_THAT(store_.holds().Release("job"), IsOk());
  NextEpoch(3);
  EvictAll();
  EXPECT_FALSE(IsStored("held"));
}

TEST_F(LruStoreTest, AHoldOfUsesKeepsAllThatIsUsedWhileItLives) {
  ASSERT_THAT(Put("old, unused"), IsOk());
  ASSERT_THAT(Put("old, found"), IsOk());
  NextEpoch(2);
  ASSERT_THAT(store_.Hold({.name = "job", .everything_used_from_now = true, .ttl_ms = 1000}),
              IsOk());
  EXPECT_TRUE(Holds("old, found"));
  ASSERT_THAT(Put("new"), IsOk());
  NextEpoch(5);
  EvictAll();
  EXPECT_FALSE(IsStored("old, unused"));
  EXPECT_TRUE(IsStored("old, found"));
  EXPECT_TRUE(IsStored("new"));
  // A renewal does not change its start.
  ASSERT_THAT(store_.Hold({.name = "job", .everything_used_from_now = true, .ttl_ms = 1000}),
              IsOk());
  NextEpoch(5);
  EvictAll();
  EXPECT_TRUE(IsStored("new"));
  now_ += absl::Seconds(2);
  ASSERT_THAT(store_.holds().Expire(), IsOk());
  EvictAll();
  EXPECT_FALSE(IsStored("new"));
}

TEST_F(LruStoreTest, AFullDiskDoesNotKeepFromReadingNorEvictsWhatWasReadMeanwhile) {
  ASSERT_THAT(Put("a"), IsOk());
  ASSERT_THAT(Put("b"), IsOk());
  NextEpoch(2);
  ASSERT_THAT(store_.Hold({.name = "job", .everything_used_from_now = true}), IsOk());
  storage_->FailWrites(absl::ResourceExhaustedError("full"));
  EXPECT_TRUE(Holds("a"));  // its use cannot be recorded
  EXPECT_THAT(Put("new"), StatusIs(absl::StatusCode::kResourceExhausted));
  storage_->FailWrites(absl::OkStatus());
  EvictAll();
  EXPECT_TRUE(IsStored("a"));
  NextEpoch(5);
  EvictAll();  // the hold cannot know which of them it keeps
  EXPECT_TRUE(IsStored("a"));
  EXPECT_TRUE(IsStored("b"));
  ASSERT_THAT(store_.holds().Release("job"), IsOk());
  EvictAll();
  EXPECT_FALSE(IsStored("b"));
}

TEST_F(LruStoreTest, WritersOfOneBlobStoreItOnce) {
  const std::string bytes(500, 'x');
  std::vector<std::thread> writers;
  std::atomic<int> failed{0};
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const std::string content = absl::StrCat("round ", round, bytes);
        failed += !store_.Put({{MakeId(content), content}, {MakeId(content), content}}).ok();
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failed, 0);  // the fake refuses a blob that is said to be new, and is not
  EXPECT_EQ(storage_->usage().blobs, 50);
}

// After an OK or "not missing" the blob is not evicted in that epoch or the next.
TEST_F(LruStoreTest, WhatWasAnsweredIsThereWhileOthersEvict) {
  std::atomic<bool> stop{false};
  std::atomic<int> broken{0};
  std::thread evictor([&] {
    while (!stop) {
      if (!store_.EvictOldest(1 << 20).ok()) ++broken;
      if (!store_.AdvanceEpoch().ok()) ++broken;
    }
  });
  std::vector<std::thread> clients;
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&, c] {
      for (int i = 0; i < 2000; ++i) {
        const std::string bytes = absl::StrCat("blob ", (c + i) % 7);
        const auto before = store_.epoch();
        const bool kept = i % 2 == 0 ? Put(bytes).ok() : Holds(bytes);
        const bool stored = IsStored(bytes);
        // If two more epochs passed, it may have been evicted.
        if (kept && !stored && store_.epoch() < before + 2) ++broken;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  stop = true;
  evictor.join();
  EXPECT_EQ(broken, 0);
}

TEST_F(LruStoreTest, ForgettingWhatWasUsedLatelyCostsOnlyALookUp) {
  auto* storage = new MemoryStorage;
  LruStore store(std::unique_ptr<Storage>(storage), {.recency_cache_entries = 64});
  for (int i = 0; i < 1000; ++i) {
    const std::string bytes = absl::StrCat(i);
    ASSERT_THAT(store.Put({{MakeId(bytes), bytes}}), IsOk());
  }
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(store.Find({MakeId(absl::StrCat(i))})->front());
  EXPECT_GT(storage->look_ups(), 1500);  // bounded: most had to be asked for
  EXPECT_EQ(storage->touches(), 0);      // and none recorded again in its epoch
}

}  // namespace
}  // namespace kernelmill::store
