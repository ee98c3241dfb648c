// What the database does for retention, below the rules of the core.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"
#include "services/store/adapters/rocksdb/database_test_base.h"
#include "services/store/core/collector.h"
#include "services/store/core/content_store.h"
#include "services/store/core/keeper.h"
#include "services/store/core/verifier.h"

namespace kernelmill::store {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

constexpr int kCas = 1;
constexpr int kUse = 3;

class RetentionTest : public DatabaseTest {
 protected:
  static void Settle(Storage& storage) {
    while (!storage.Settle(1).value()) {
    }
  }
};

TEST_F(RetentionTest, DroppingLeavesNoRecordOfAnyKind) {
  const std::string large = Noise(2 * kChunkBytes + 1, 1);
  {
    const auto storage = Open();
    Settle(*storage);
    ASSERT_THAT(Put(*storage, {"small", Noise(5000, 2)}, 3), IsOk());
    ASSERT_THAT(PutLarge(*storage, large, 4), IsOk());
    ASSERT_THAT(storage->PutResult("i", IdOf("action"), "result", 5), IsOk());
    ASSERT_THAT(storage->Touch({{IdOf("small"), 3}}, 6), IsOk());
    ASSERT_THAT(storage->TouchResult("i", IdOf("action"), 5, 7), IsOk());
    ASSERT_THAT(storage->MarkDamaged(IdOf("small")), IsOk());
    const auto dropped = storage->DropOldest({.before = 100, .now = 100, .bytes = 1 << 30});
    ASSERT_THAT(dropped, IsOk());
    EXPECT_EQ(dropped->blobs.size(), 3u);
    EXPECT_EQ(dropped->results, 1);
    EXPECT_TRUE(dropped->finished);
    EXPECT_EQ(storage->usage().blobs, 0);
    EXPECT_EQ(storage->usage().blob_bytes, 0);
    EXPECT_EQ(storage->usage().results, 0);
  }
  EXPECT_EQ(Records(kCas, ""), 0);
  EXPECT_EQ(Records(2, ""), 0);
  EXPECT_EQ(Records(kUse, "l"), 0);
  EXPECT_EQ(Records(kUse, "t"), 0);
  EXPECT_EQ(Records(kUse, "d"), 0);
}

TEST_F(RetentionTest, CountersAreExactAfterAKillInTheMiddleOfMuchWriting) {
  InKilledProcess([](Storage& storage) {
    Keeper keeper(std::unique_ptr<Storage>(&storage), {});
    std::vector<std::thread> writers;
    for (int w = 0; w < 4; ++w) {
      writers.emplace_back([&, w] {
        for (int i = 0; i < 50; ++i) {
          const std::string bytes = Noise(100 + i, w % 2 * 1000 + i);  // each by two of them
          if (!keeper.Put({{IdOf(bytes), bytes}}).ok()) _exit(4);
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
    kill(getpid(), SIGKILL);
    return true;
  });
  const auto storage = Open();
  EXPECT_EQ(storage->usage().blobs, 100);
  EXPECT_EQ(storage->usage().blob_bytes, 2 * (50 * 100 + 49 * 50 / 2));
  EXPECT_EQ(storage->usage().written, storage->usage().blob_bytes);
}

TEST_F(RetentionTest, ADatabaseOfTheFirstFormatKeepsAllAndIsCollectedLater) {
  const std::string large = Noise(kChunkBytes + 1, 1);
  {
    const auto storage = Open();
    for (int i = 0; i < 2500; ++i) ASSERT_THAT(Put(*storage, {absl::StrCat("blob ", i)}), IsOk());
    ASSERT_THAT(PutLarge(*storage, large), IsOk());
    ASSERT_THAT(storage->PutResult("i", IdOf("action"), "result", 1), IsOk());
  }
  WithDb([](rocksdb::DB& db, const auto& handles) {  // as the first program left it
    ASSERT_TRUE(db.DropColumnFamily(handles[kUse]).ok());
    ASSERT_TRUE(db.DropColumnFamily(handles[4]).ok());
    for (const char* key : {"clock", "boot"}) ASSERT_TRUE(db.Delete({}, handles[0], key).ok());
    ASSERT_TRUE(db.Put({}, handles[0], "format", "1").ok());
  });
  auto* storage = Open().release();
  Keeper keeper(std::unique_ptr<Storage>(storage), {});
  ASSERT_THAT(keeper.Load(), IsOk());
  const auto old = IdOf("blob 7");
  EXPECT_TRUE(keeper.Find({old})->front());
  EXPECT_EQ(*ReadAll(*storage, large), large);
  ASSERT_THAT(keeper.Put({{IdOf("new"), "new"}}), IsOk());
  EXPECT_FALSE(*keeper.Settle());
  EXPECT_TRUE(keeper.Find({old, IdOf("blob 2499")})->back());
  EXPECT_THAT(keeper.GetResult("i", IdOf("action")), IsOk());
  while (!*keeper.Settle()) {
  }
  EXPECT_EQ(storage->usage().blobs, 2502);
  EXPECT_EQ(storage->usage().results, 1);
  for (int i = 0; i < 2; ++i) ASSERT_THAT(keeper.AdvanceClock(), IsOk());
  EXPECT_TRUE(keeper.Find({old})->front());
  while (!keeper.DropOldest(1 << 30)->finished) {
  }
  EXPECT_EQ(storage->usage().blobs, 1);
  EXPECT_EQ(storage->usage().results, 0);
  EXPECT_EQ(*ReadAll(*storage, "blob 7"), "blob 7");
}

TEST_F(RetentionTest, AMigrationThatWasKilledGoesOn) {
  {
    const auto storage = Open();
    for (int i = 0; i < 2500; ++i) ASSERT_THAT(Put(*storage, {absl::StrCat("blob ", i)}), IsOk());
  }
  WithDb([](rocksdb::DB& db, const auto& handles) {
    ASSERT_TRUE(db.DropColumnFamily(handles[kUse]).ok());
    ASSERT_TRUE(db.DropColumnFamily(handles[4]).ok());
    ASSERT_TRUE(db.Put({}, handles[0], "format", "1").ok());
  });
  { EXPECT_FALSE(*Open()->Settle(1)); }
  const auto storage = Open();
  EXPECT_TRUE(HasBlob(*storage, "blob 0"));
  Settle(*storage);
  EXPECT_EQ(storage->usage().blobs, 2500);
  for (int i = 0; i < 2500; ++i) EXPECT_TRUE(HasBlob(*storage, absl::StrCat("blob ", i)));
}

TEST_F(RetentionTest, TheClockAndTheHoldsSurviveAKill) {
  InKilledProcess([](Storage& storage) {
    return storage.SetClock({.tick = 9, .started_at = 4}).ok() &&
           storage
               .SaveHold({.name = "a", .blobs = 1, .fenced = true, .fence = 5, .ttl_ms = 7},
                         {IdOf("x")})
               .ok() &&
           storage.SaveHold({.name = "b"}, {}).ok() && storage.DeleteHold("b").ok();
  });
  const auto storage = Open();
  EXPECT_EQ(storage->clock().tick, 9u);
  EXPECT_EQ(storage->clock().started_at, 4);
  EXPECT_FALSE(storage->clock().marks_lost);  // the machine did not go down
  const auto holds = storage->Holds();
  ASSERT_EQ(holds->size(), 1u);
  EXPECT_EQ(holds->front().name, "a");
  EXPECT_EQ(holds->front().fence, 5u);
  EXPECT_EQ(holds->front().ttl_ms, 7);
}

TEST_F(RetentionTest, AStartOfTheMachineInBetweenMeansThatMarksMayBeLost) {
  InKilledProcess([](Storage& storage) { return Put(storage, {"a"}).ok(); });
  WithDb([](rocksdb::DB& db, const auto& handles) {
    ASSERT_TRUE(db.Put({}, handles[0], "boot", "another").ok());
  });
  EXPECT_TRUE(Open()->clock().marks_lost);
  EXPECT_FALSE(Open()->clock().marks_lost);  // the last one ended well
}

TEST_F(RetentionTest, TheDatabaseStaysUnderItsLimitOnTheDisk) {
  constexpr int64_t kLimit = 48 << 20;
  auto* storage = Open({.limit_bytes = kLimit}).release();
  Keeper keeper(std::unique_ptr<Storage>(storage), {.limit_bytes = kLimit});
  ASSERT_THAT(keeper.Load(), IsOk());
  Collector collector(&keeper, {.interval = absl::Milliseconds(50)});
  collector.Start();
  const std::string kept = Noise(3 << 20, 1'000'000);
  ASSERT_THAT(keeper.Put({{IdOf(kept), kept}}), IsOk());
  ASSERT_THAT(keeper.Hold({.name = "kept", .blobs = {IdOf(kept)}}), IsOk());
  int64_t most = 0;
  for (int i = 0; i < 200; ++i) {  // 200 MiB, some in chunks
    const std::string bytes = Noise(i % 20 == 0 ? 5 << 20 : 1 << 20, i);
    BlobWriter writer(&keeper, IdOf(bytes));
    ASSERT_THAT(writer.Append(bytes), IsOk());
    ASSERT_THAT(writer.Finish(), IsOk()) << i;
    most = std::max(most, storage->MeasureSpace()->disk_bytes);
  }
  // While content is copied it stands there twice; see Admission for the eighth.
  EXPECT_LE(most, kLimit * 3 / 2);
  EXPECT_GT(collector.total().bytes, 100 << 20);
  EXPECT_TRUE(*ReadAll(*storage, kept) == kept);
  EXPECT_TRUE(*ReadAll(*storage, Noise(1 << 20, 199)) == Noise(1 << 20, 199));
  EXPECT_GT(storage->usage().blob_bytes, 16 << 20);  // it does not drop all there is
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
    const BlobId id = IdOf(*content);
    EXPECT_TRUE(store.Contains({id})->front());
    EXPECT_THAT(store.Get(id), StatusIs(absl::StatusCode::kDataLoss));
    EXPECT_FALSE(store.Contains({id})->front());
    auto writer = store.NewWriter(id);
    ASSERT_THAT((*writer)->Append(*content), IsOk());
    ASSERT_THAT((*writer)->Finish(), IsOk());
    EXPECT_TRUE(*store.Get(id) == *content);
  }
  EXPECT_EQ(store.keeper().storage().usage().blobs, 2);
}

TEST_F(RetentionTest, DamageIsRememberedAcrossARestartUntilItIsDropped) {
  const std::string body = Noise(100'000, 1);
  ASSERT_THAT(Put(*Open(), {body}), IsOk());
  Flush();
  FlipByte(Files(".blob").at(0), 50'000);
  {
    ContentStore store(Open(), Limits{});
    EXPECT_THAT(store.Get(IdOf(body)), StatusIs(absl::StatusCode::kDataLoss));
  }
  ContentStore store(Open(), Limits{});
  ASSERT_THAT(store.keeper().Load(), IsOk());
  EXPECT_FALSE(store.Contains({IdOf(body)})->front());
  ASSERT_TRUE(*store.keeper().Settle());
  std::vector<BlobId> damaged;
  ASSERT_THAT(VerifyBlobs(store.keeper(), /*drop=*/true,
                          [&](const Verified& verified) {
                            damaged = verified.damaged;
                            return absl::OkStatus();
                          }),
              IsOk());
  EXPECT_EQ(damaged, std::vector<BlobId>{IdOf(body)});
  EXPECT_EQ(store.keeper().storage().usage().blobs, 0);
}

}  // namespace
}  // namespace kernelmill::store
