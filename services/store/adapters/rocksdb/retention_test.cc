// Tests what the database does for retention; the core's own rules have their tests in the core.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "services/store/adapters/rocksdb/database_test_base.h"
#include "services/store/core/content_store.h"
#include "services/store/core/garbage_collector.h"
#include "services/store/core/lru_store.h"

namespace kernelmill::store {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

constexpr int kCas = 1;
constexpr int kUse = 3;

using RetentionTest = DatabaseTest;

TEST_F(RetentionTest, EvictionLeavesNoRecordOfAnyKind) {
  const std::string large = Noise(2 * kChunkBytes + 1, 1);
  {
    const auto storage = Open();
    ASSERT_THAT(Put(*storage, {"small", Noise(5000, 2)}, 3), IsOk());
    ASSERT_THAT(PutLarge(*storage, large, 4), IsOk());
    ASSERT_THAT(storage->blobs().PutResult("i", MakeId("action"), "result", 5), IsOk());
    ASSERT_THAT(storage->uses().Touch({{MakeId("small"), 3}}, 6), IsOk());
    ASSERT_THAT(storage->uses().TouchResult("i", MakeId("action"), 7), IsOk());
    ASSERT_THAT(storage->blobs().MarkDamaged(MakeId("small")), IsOk());
    const auto evicted = storage->uses().EvictOldest({.before = 100, .now = 100, .bytes = 1 << 30});
    ASSERT_THAT(evicted, IsOk());
    EXPECT_EQ(evicted->blobs.size(), 3u);
    EXPECT_EQ(evicted->results, 1);
    EXPECT_TRUE(evicted->finished);
    EXPECT_EQ(storage->blobs().usage().blobs, 0);
    EXPECT_EQ(storage->blobs().usage().blob_bytes, 0);
    EXPECT_EQ(storage->blobs().usage().results, 0);
  }
  EXPECT_EQ(Records(kCas, ""), 0);
  EXPECT_EQ(Records(2, ""), 0);
  EXPECT_EQ(Records(kUse, "l"), 0);
  EXPECT_EQ(Records(kUse, "t"), 0);
  EXPECT_EQ(Records(kUse, "d"), 0);
}

TEST_F(RetentionTest, CountersAreExactAfterAKillInTheMiddleOfMuchWriting) {
  InKilledProcess([](Storage& storage) {
    LruStore store(std::unique_ptr<Storage>(&storage), {});
    std::vector<std::thread> writers;
    for (int w = 0; w < 4; ++w) {
      writers.emplace_back([&, w] {
        for (int i = 0; i < 50; ++i) {
          const std::string bytes = Noise(100 + i, w % 2 * 1000 + i);  // each by two of them
          if (!store.Put({{MakeId(bytes), bytes}}).ok()) _exit(4);
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
    kill(getpid(), SIGKILL);
    return true;
  });
  const auto storage = Open();
  EXPECT_EQ(storage->blobs().usage().blobs, 100);
  EXPECT_EQ(storage->blobs().usage().blob_bytes, 2 * (50 * 100 + 49 * 50 / 2));
  EXPECT_EQ(storage->blobs().usage().written, storage->blobs().usage().blob_bytes);
}

TEST_F(RetentionTest, TheEpochAndTheHoldsSurviveAKill) {
  InKilledProcess([](Storage& storage) {
    return storage.uses().SetEpoch({.epoch = 9, .started_at = 4}).ok() &&
           storage.holds()
               .Save({.name = "a", .blobs = 1, .holds_uses = true, .since = 5, .ttl_ms = 7},
                     {MakeId("x")})
               .ok() &&
           storage.holds().Save({.name = "b"}, {}).ok() && storage.holds().Delete("b").ok();
  });
  const auto storage = Open();
  EXPECT_EQ(storage->uses().epoch().epoch, 9u);
  EXPECT_EQ(storage->uses().epoch().started_at, 4);
  EXPECT_FALSE(storage->uses().epoch().uses_lost);  // the machine did not go down
  const auto holds = storage->holds().List();
  ASSERT_EQ(holds->size(), 1u);
  EXPECT_EQ(holds->front().name, "a");
  EXPECT_EQ(holds->front().since, 5u);
  EXPECT_EQ(holds->front().ttl_ms, 7);
}

TEST_F(RetentionTest, AStartOfTheMachineInBetweenMeansThatUsesMayBeLost) {
  InKilledProcess([](Storage& storage) { return Put(storage, {"a"}).ok(); });
  WithDb([](rocksdb::DB& db, const auto& handles) {
    ASSERT_TRUE(db.Put({}, handles[0], "boot", "another").ok());
  });
  EXPECT_TRUE(Open()->uses().epoch().uses_lost);
  EXPECT_FALSE(Open()->uses().epoch().uses_lost);  // the last one ended well
}

TEST_F(RetentionTest, TheDatabaseStaysUnderItsLimitOnTheDisk) {
  constexpr int64_t kLimit = 48 << 20;
  auto* storage = Open({.limit_bytes = kLimit}).release();
  LruStore store(std::unique_ptr<Storage>(storage), {.limit_bytes = kLimit});
  ASSERT_THAT(store.Load(), IsOk());
  GarbageCollector collector(&store, {.interval = absl::Milliseconds(50)});
  collector.Start();
  const std::string kept = Noise(3 << 20, 1'000'000);
  ASSERT_THAT(store.Put({{MakeId(kept), kept}}), IsOk());
  ASSERT_THAT(store.Hold({.name = "kept", .blobs = {MakeId(kept)}}), IsOk());
  int64_t most = 0;
  for (int i = 0; i < 200; ++i) {  // 200 MiB, some in chunks
    const std::string bytes = Noise(i % 20 == 0 ? 5 << 20 : 1 << 20, i);
    BlobWriter writer(&store, MakeId(bytes));
    ASSERT_THAT(writer.Append(bytes), IsOk());
    ASSERT_THAT(writer.Finish(), IsOk()) << i;
    most = std::max(most, storage->disk().Measure()->disk_bytes);
  }
  // Copied content exists twice for a while; see Admission for the eighth.
  EXPECT_LE(most, kLimit * 3 / 2);
  EXPECT_GT(collector.total().bytes, 100 << 20);
  EXPECT_TRUE(*ReadAll(*storage, kept) == kept);
  EXPECT_TRUE(*ReadAll(*storage, Noise(1 << 20, 199)) == Noise(1 << 20, 199));
  EXPECT_GT(storage->blobs().usage().blob_bytes, 16 << 20);  // it does not evict all there is
}

TEST_F(RetentionTest, ADamagedBlobOnTheDiskIsFoundAndMendedByPuttingItAgain) {
  const std::string body = Noise(100'000, 1);
  const std::string large = Noise(kChunkBytes + 100'000, 2);
  {
    const auto storage = Open();
    ASSERT_THAT(Put(*storage, {body}), IsOk());
    ASSERT_THAT(PutLarge(*storage, large), IsOk());
  }
  Flush();
  for (const auto& file : Files(".blob")) {
    for (uint64_t at = 20'000; at < std::filesystem::file_size(file); at += 50'000) {
      FlipByte(file, at);
    }
  }
  ContentStore store(Open(), Limits{});
  for (const std::string* content : {&body, &large}) {
    const BlobId id = MakeId(*content);
    EXPECT_TRUE(store.Contains({id})->front());
    EXPECT_THAT(store.Get(id), StatusIs(absl::StatusCode::kDataLoss));
    EXPECT_FALSE(store.Contains({id})->front());
    auto writer = store.NewWriter(id);
    ASSERT_THAT((*writer)->Append(*content), IsOk());
    ASSERT_THAT((*writer)->Finish(), IsOk());
    EXPECT_TRUE(*store.Get(id) == *content);
  }
  EXPECT_EQ(store.lru().blobs().usage().blobs, 2);
}

TEST_F(RetentionTest, ADamagedBlobDoesNotKeepTheGarbageBesideIt) {
  const std::string damaged = Noise(100'000, 1);
  const std::string kept = Noise(100'000, 2);
  ASSERT_THAT(Put(*Open(), {damaged, kept, Noise(2'000'000, 3)}, 3), IsOk());
  Flush();
  ASSERT_EQ(Files(".blob").size(), 1u);
  const std::string file = *ReadFile(Files(".blob").at(0).string(), 1 << 30);
  FlipByte(Files(".blob").at(0), static_cast<int64_t>(file.find(damaged.substr(50'000, 100))));
  const auto storage = Open();
  EXPECT_THAT(ReadAll(*storage, damaged).status(), StatusIs(absl::StatusCode::kDataLoss));
  ASSERT_THAT(storage->blobs().MarkDamaged(MakeId(damaged)), IsOk());
  ASSERT_THAT(storage->uses().Touch({{MakeId(damaged), 3}, {MakeId(kept), 3}}, 9), IsOk());
  const auto evicted = storage->uses().EvictOldest({.before = 6, .now = 9, .bytes = 1 << 30});
  ASSERT_THAT(evicted, IsOk());
  ASSERT_EQ(evicted->blobs.size(), 1u);
  ASSERT_THAT(storage->disk().Reclaim(), IsOk());
  EXPECT_LE(storage->disk().Measure()->disk_bytes, 500'000);
  EXPECT_TRUE(*ReadAll(*storage, kept) == kept);
  EXPECT_EQ(*storage->blobs().Damaged(), std::vector<BlobId>{MakeId(damaged)});
  ASSERT_THAT(Put(*storage, {damaged}, 9), IsOk());
  EXPECT_TRUE(*ReadAll(*storage, damaged) == damaged);
}

TEST_F(RetentionTest, DamageIsRememberedAcrossARestartUntilItIsDeleted) {
  const std::string body = Noise(100'000, 1);
  ASSERT_THAT(Put(*Open(), {body}), IsOk());
  Flush();
  FlipByte(Files(".blob").at(0), 50'000);
  {
    ContentStore store(Open(), Limits{});
    EXPECT_THAT(store.Get(MakeId(body)), StatusIs(absl::StatusCode::kDataLoss));
  }
  ContentStore store(Open(), Limits{});
  ASSERT_THAT(store.lru().Load(), IsOk());
  EXPECT_FALSE(store.Contains({MakeId(body)})->front());
  std::vector<BlobId> damaged;
  ASSERT_THAT(store.Verify(/*delete_damaged=*/true,
                           [&](const Verified& verified) {
                             damaged = verified.damaged;
                             return absl::OkStatus();
                           }),
              IsOk());
  EXPECT_EQ(damaged, std::vector<BlobId>{MakeId(body)});
  EXPECT_EQ(store.lru().blobs().usage().blobs, 0);
}

}  // namespace
}  // namespace kernelmill::store
