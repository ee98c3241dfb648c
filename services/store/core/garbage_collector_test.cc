#include "services/store/core/garbage_collector.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/cas/digest.h"
#include "common/testing/status_matchers.h"
#include "services/store/core/testing/memory_storage.h"

namespace kernelmill::store {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

constexpr int64_t kLimit = 16'000;
constexpr auto kFull = absl::StatusCode::kResourceExhausted;

BlobId MakeId(absl::string_view bytes) { return *ToBlobId(cas::ComputeDigest(bytes)); }
// Makes a blob of 100 bytes.
std::string Blob(int i) { return absl::StrCat("blob ", 1'000'000 + i, std::string(88, '.')); }

class GarbageCollectorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_THAT(store_.Load(), IsOk());
    Pass();
  }
  absl::Status Put(int i) {
    const std::string bytes = Blob(i);
    return store_.Put({{MakeId(bytes), bytes}});
  }
  bool IsStored(int i) { return storage_->LastUses({MakeId(Blob(i))})->front() != kNoEpoch; }
  // Runs passes until nothing is left to do at once.
  void Pass() {
    for (int i = 0; i < 100; ++i) {
      const auto more = collector_.Pass();
      ASSERT_THAT(more, IsOk());
      if (!*more) return;
    }
    FAIL() << "it does not come to an end";
  }

  MemoryStorage* storage_ = new MemoryStorage;  // owned by store_
  LruStore store_{
      std::unique_ptr<Storage>(storage_),
      {.limit_bytes = kLimit, .bytes_per_epoch = 250, .max_write_wait = absl::ZeroDuration()}};
  GarbageCollector collector_{&store_, {.unblock_after = absl::ZeroDuration()}};
};

TEST_F(GarbageCollectorTest, TheStoreStaysUnderItsLimitAndTheLatestBlobsStay) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_THAT(Put(i), IsOk());
    if (i % 5 == 0) Pass();
    ASSERT_LE(storage_->Measure()->disk_bytes, kLimit);
  }
  EXPECT_GE(storage_->usage().blobs, 125);  // it evicts no more than it must
  for (int i = 900; i < 1000; ++i) EXPECT_TRUE(IsStored(i)) << i;
  EXPECT_FALSE(IsStored(0));
  EXPECT_EQ(collector_.total().blobs + storage_->usage().blobs, 1000);
  EXPECT_EQ(collector_.total().bytes + storage_->usage().blob_bytes, 100'000);
}

TEST_F(GarbageCollectorTest, BelowTheLimitNothingGoes) {
  for (int i = 0; i < 140; ++i) ASSERT_THAT(Put(i), IsOk());
  Pass();
  EXPECT_EQ(collector_.total().blobs, 0);
}

TEST_F(GarbageCollectorTest, WhereAllIsHeldWritersAreToldAndTheRestGoesOn) {
  ASSERT_THAT(store_.Hold({.name = "job", .everything_used_from_now = true}), IsOk());
  absl::Status status;
  int stored = 0;
  for (; stored < 1000 && (status = Put(stored)).ok(); ++stored) Pass();
  ASSERT_THAT(status, StatusIs(kFull));
  EXPECT_NE(status.message().find("held"), absl::string_view::npos) << status;
  EXPECT_GE(stored, 159);
  for (int i = 0; i < stored; ++i) EXPECT_TRUE(IsStored(i)) << i;
  EXPECT_TRUE(store_.Find({MakeId(Blob(0))})->front());
  EXPECT_THAT(store_.PutResult("", MakeId("action"), "result"), StatusIs(kFull));
  // An existing blob is not written, so it is not refused.
  EXPECT_THAT(Put(0), IsOk());
  ASSERT_THAT(store_.holds().Release("job"), IsOk());
  Pass();
  EXPECT_THAT(Put(stored), IsOk());
}

TEST_F(GarbageCollectorTest, AStoreThatRecencyAloneKeepsFullComesFree) {
  for (int i = 0; i < 155; ++i) ASSERT_THAT(Put(i), IsOk());
  // Everything was used just now, and no write is accepted that would advance the epoch.
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 155; ++i) ASSERT_THAT(store_.Find({MakeId(Blob(i))}), IsOk());
  }
  int refused = 0;
  for (int i = 155; i < 400; ++i) {
    while (!Put(i).ok()) {
      ASSERT_LT(++refused, 1000);
      Pass();
    }
  }
  EXPECT_LE(storage_->Measure()->disk_bytes, kLimit + kLimit / 8);
}

// A job cannot end in a full store, and its hold of everything would not end before it.
TEST_F(GarbageCollectorTest, AFullStoreThatLostUsesOfAJobComesFree) {
  for (int i = 0; i < 150; ++i) ASSERT_THAT(Put(i), IsOk());
  ASSERT_THAT(store_.Hold({.name = "job", .everything_used_from_now = true}), IsOk());
  const auto lose_use = [&](int i) {
    storage_->FailWrites(absl::ResourceExhaustedError("the disk is full"));
    EXPECT_THAT(store_.Touch(MakeId(Blob(i))), IsOk()) << "its use is not recorded";
    storage_->FailWrites(absl::OkStatus());
  };
  lose_use(0);
  GarbageCollector patient(&store_, {.unblock_after = absl::ZeroDuration(),
                                     .trust_uses_after = absl::InfiniteDuration()});
  int stored = 150;
  for (; stored < 1000 && Put(stored).ok(); ++stored) ASSERT_THAT(patient.Pass(), IsOk());
  for (int i = 0; i < 10; ++i) ASSERT_THAT(patient.Pass(), IsOk());
  ASSERT_THAT(Put(stored), StatusIs(kFull));
  lose_use(0);  // in this epoch, so that two others have to begin
  GarbageCollector collector(
      &store_, {.unblock_after = absl::ZeroDuration(), .trust_uses_after = absl::ZeroDuration()});
  for (int i = 0; i < 10; ++i) ASSERT_THAT(collector.Pass(), IsOk());
  EXPECT_THAT(Put(stored), IsOk());
  EXPECT_FALSE(IsStored(1)) << "the least recently used goes first";
  for (int i = 150; i < stored; ++i) EXPECT_TRUE(IsStored(i)) << i;
}

// A repair records all uses as of one epoch: none of them is older than the hold of a job.
TEST_F(GarbageCollectorTest, AFullStoreWhoseUsesAreAllOfOneEpochComesFree) {
  auto* storage = new MemoryStorage;
  LruStore store(std::unique_ptr<Storage>(storage), {.limit_bytes = kLimit,
                                                     .bytes_per_epoch = 1'000'000,
                                                     .max_write_wait = absl::ZeroDuration()});
  ASSERT_THAT(store.Load(), IsOk());
  ASSERT_THAT(storage->holds().Save(
                  {.name = "job", .holds_uses = true, .since = 0, .ttl_ms = 1'000'000}, {}),
              IsOk());
  ASSERT_THAT(store.Load(), IsOk());
  const auto put = [&](int i) {
    const std::string bytes = Blob(i);
    return store.Put({{MakeId(bytes), bytes}});
  };
  GarbageCollector collector(
      &store, {.unblock_after = absl::ZeroDuration(), .trust_uses_after = absl::ZeroDuration()});
  int stored = 0;
  for (; stored < 1000 && put(stored).ok(); ++stored) {
  }
  ASSERT_LT(stored, 1000);
  for (int i = 0; i < 10; ++i) ASSERT_THAT(collector.Pass(), IsOk());
  EXPECT_THAT(put(stored), IsOk());
}

// It would last a week, and a store without room serves no coordinator.
TEST_F(GarbageCollectorTest, AFullStoreEndsTheHoldThatARepairMade) {
  ASSERT_THAT(
      storage_->holds().Save(
          {.name = std::string(kRepairHold), .holds_uses = true, .since = 0, .ttl_ms = 1'000'000},
          {}),
      IsOk());
  ASSERT_THAT(store_.Load(), IsOk());
  const auto pass = [this](absl::Duration trust_uses_after) {
    GarbageCollector collector(
        &store_, {.unblock_after = absl::ZeroDuration(), .trust_uses_after = trust_uses_after});
    for (int i = 0; i < 10; ++i) ASSERT_THAT(collector.Pass(), IsOk());
  };
  int stored = 0;
  for (; stored < 1000 && Put(stored).ok(); ++stored) pass(absl::InfiniteDuration());
  EXPECT_THAT(Put(stored), StatusIs(kFull));
  EXPECT_EQ(store_.holds().size(), 1u);
  pass(absl::ZeroDuration());
  EXPECT_EQ(store_.holds().size(), 0u);
  for (int i = stored; i < 3 * stored; ++i) {
    ASSERT_THAT(Put(i), IsOk()) << i;
    pass(absl::InfiniteDuration());
  }
}

TEST_F(GarbageCollectorTest, WritersThatAreFasterWaitForTheCollector) {
  auto* storage = new MemoryStorage;
  LruStore store(
      std::unique_ptr<Storage>(storage),
      {.limit_bytes = kLimit, .bytes_per_epoch = 250, .max_write_wait = absl::Seconds(60)});
  ASSERT_THAT(store.Load(), IsOk());
  GarbageCollector collector(&store, {.unblock_after = absl::ZeroDuration()});
  collector.Start();
  for (int i = 0; i < 1000; ++i) {
    const std::string bytes = Blob(i);
    ASSERT_THAT(store.Put({{MakeId(bytes), bytes}}), IsOk());
    // One blob may be in transit while the collector measures.
    ASSERT_LE(storage->Measure()->disk_bytes, kLimit + kLimit / 8 + 100);
  }
}

TEST_F(GarbageCollectorTest, CollectEvictsAllThatIsNotHeldOrDownToItsTarget) {
  for (int i = 0; i < 50; ++i) ASSERT_THAT(Put(i), IsOk());
  ASSERT_THAT(store_.PutResult("", MakeId("action"), "result"), IsOk());
  ASSERT_THAT(store_.Hold({.name = "kept", .blobs = {MakeId(Blob(7))}}), IsOk());
  const auto some = collector_.Collect(3000);
  ASSERT_THAT(some, IsOk());
  EXPECT_LE(storage_->usage().blob_bytes, 3000);
  EXPECT_GE(storage_->usage().blob_bytes, 2900);
  const auto rest = collector_.Collect(0);
  ASSERT_THAT(rest, IsOk());
  EXPECT_EQ(rest->results, 1);
  EXPECT_EQ(storage_->usage().blobs, 1);
  EXPECT_TRUE(IsStored(7));
  EXPECT_THAT(collector_.Collect(-1), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::store
