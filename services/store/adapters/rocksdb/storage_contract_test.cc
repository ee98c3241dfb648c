// Checks the contract of Storage against the fake that the core's tests use and the real one.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"
#include "services/store/adapters/rocksdb/database_test_base.h"
#include "services/store/core/testing/memory_storage.h"

namespace kernelmill::store {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

struct Make {
  const char* name;
  std::function<std::unique_ptr<Storage>(const std::string& dir)> make;
};

class StorageContract : public ::testing::TestWithParam<Make> {
 protected:
  Epoch LastUse(absl::string_view content) {
    return storage_->uses().LastUses({MakeId(content)})->front();
  }
  Evicted EvictAll(Epoch before, Epoch now) {
    Evicted all;
    while (!all.finished) {
      const auto step =
          storage_->uses().EvictOldest({.before = before, .now = now, .bytes = 1 << 30});
      EXPECT_THAT(step, IsOk());
      if (!step.ok()) break;
      all.blobs.insert(all.blobs.end(), step->blobs.begin(), step->blobs.end());
      all.results += step->results;
      all.bytes += step->bytes;
      all.finished = step->finished;
    }
    return all;
  }

  TempDir dir_ = *TempDir::Create();
  const std::unique_ptr<Storage> storage_ = GetParam().make(dir_.path() + "/db");
};

TEST_P(StorageContract, BlobsAreKeptWithTheirLastUse) {
  EXPECT_EQ(LastUse("a"), kNoEpoch);
  EXPECT_THAT(
      storage_->blobs().Read(MakeId("a"), 0, 1, [](const Piece&) { return absl::OkStatus(); }),
      StatusIs(absl::StatusCode::kNotFound));
  ASSERT_THAT(storage_->blobs().Put({{MakeId("a"), "a"}, {MakeId("bb"), "bb"}}, /*fresh=*/true, 3),
              IsOk());
  EXPECT_EQ(LastUse("a"), 3u);
  ASSERT_THAT(storage_->uses().Touch({{MakeId("a"), 3}}, 5), IsOk());
  EXPECT_EQ(LastUse("a"), 5u);
  EXPECT_EQ(LastUse("bb"), 3u);
  EXPECT_EQ(*ReadAll(*storage_, "bb"), "bb");
  const Usage usage = storage_->blobs().usage();
  EXPECT_EQ(usage.blobs, 2);
  EXPECT_EQ(usage.blob_bytes, 3);
  EXPECT_EQ(usage.written, 3);
}

TEST_P(StorageContract, PuttingAgainReplacesAndCountsOnce) {
  ASSERT_THAT(Put(*storage_, {"a"}, 3), IsOk());
  ASSERT_THAT(Put(*storage_, {"a"}, 4), IsOk());
  EXPECT_EQ(storage_->blobs().usage().blobs, 1);
  EXPECT_EQ(storage_->blobs().usage().written, 2);
  EXPECT_EQ(LastUse("a"), 4u);
  EXPECT_EQ(EvictAll(4, 9).blobs.size(), 0u);  // no record of the older use is left
  EXPECT_EQ(EvictAll(5, 9).blobs.size(), 1u);
}

TEST_P(StorageContract, AStagedBlobAppearsWithItsCommitAlone) {
  const std::string content = Noise(kChunkBytes + 7, 1);
  auto staged = storage_->blobs().Stage();
  ASSERT_THAT((*staged)->Append(absl::string_view(content).substr(0, kChunkBytes)), IsOk());
  ASSERT_THAT((*staged)->Append(absl::string_view(content).substr(kChunkBytes)), IsOk());
  EXPECT_EQ(LastUse(content), kNoEpoch);
  ASSERT_THAT((*staged)->Commit(MakeId(content), 6), IsOk());
  EXPECT_EQ(LastUse(content), 6u);
  EXPECT_TRUE(*ReadAll(*storage_, content) == content);
  ASSERT_THAT(PutLarge(*storage_, content, 7), IsOk());
  EXPECT_TRUE(*ReadAll(*storage_, content) == content);
  EXPECT_EQ(storage_->blobs().usage().blobs, 1);
}

TEST_P(StorageContract, ResultsAreKeptByInstance) {
  ASSERT_THAT(storage_->blobs().PutResult("x", MakeId("action"), "one", 2), IsOk());
  ASSERT_THAT(storage_->blobs().PutResult("y", MakeId("action"), "two", 3), IsOk());
  ASSERT_THAT(storage_->blobs().PutResult("x", MakeId("action"), "three", 4), IsOk());
  EXPECT_EQ(storage_->blobs().GetResult("x", MakeId("action"))->bytes, "three");
  EXPECT_EQ(storage_->blobs().GetResult("x", MakeId("action"))->last_use, 4u);
  EXPECT_THAT(storage_->blobs().GetResult("", MakeId("action")),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(storage_->blobs().usage().results, 2);
  EXPECT_EQ(storage_->blobs().usage().result_bytes, 8);  // "three" and "two"
  ASSERT_THAT(storage_->uses().TouchResult("y", MakeId("action"), 8), IsOk());
  EXPECT_EQ(EvictAll(8, 9).results, 1);
  EXPECT_EQ(storage_->blobs().usage().result_bytes, 3);
  EXPECT_THAT(storage_->blobs().GetResult("x", MakeId("action")),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(storage_->blobs().GetResult("y", MakeId("action"))->bytes, "two");
}

TEST_P(StorageContract, AllResultsAreListedOnceAndThoseThatAreNamedGo) {
  for (int i = 0; i < 25; ++i) {
    ASSERT_THAT(storage_->blobs().PutResult(i % 2 == 0 ? "" : "other", MakeId(absl::StrCat(i)),
                                            absl::StrCat("result ", i), 1),
                IsOk());
  }
  std::vector<ResultId> all;
  std::set<std::string> seen;
  for (std::optional<ResultId> last;;) {
    const std::optional<ResultId> after = last;
    const auto next = storage_->blobs().ListResults(
        after.has_value() ? &*after : nullptr, 10,
        [&](const ResultId& id, absl::string_view bytes) {
          all.push_back(id);
          seen.insert(absl::StrCat(id.instance, " ", HexHash(id.action), " ", bytes));
        });
    ASSERT_THAT(next, IsOk());
    if (!next->has_value()) break;
    last = *next;
  }
  ASSERT_EQ(all.size(), 25u);
  EXPECT_EQ(seen.size(), 25u);
  EXPECT_TRUE(seen.contains(absl::StrCat("other ", HexHash(MakeId("7")), " result 7")));
  const std::vector<ResultId> gone = {
      {"other", MakeId("7")}, {"", MakeId("8")}, {"", MakeId("none")}};
  EXPECT_EQ(*storage_->blobs().DeleteResults(gone), 2);
  EXPECT_EQ(*storage_->blobs().DeleteResults(gone), 0);
  EXPECT_EQ(*storage_->blobs().DeleteResults({}), 0);
  EXPECT_EQ(storage_->blobs().usage().results, 23);
  EXPECT_EQ(storage_->blobs().usage().result_bytes, 8 * 8 + 15 * 9);  // "result 0", "result 10"
  EXPECT_THAT(storage_->blobs().GetResult("other", MakeId("7")),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(storage_->blobs().GetResult("other", MakeId("9")), IsOk());
  EXPECT_EQ(EvictAll(9, 9).results, 23) << "no record of what is gone is left";
}

TEST_P(StorageContract, TheOldestGoFirstAndNoMoreThanAskedFor) {
  for (Epoch epoch = 1; epoch <= 8; ++epoch) {
    ASSERT_THAT(Put(*storage_, {absl::StrCat("blob ", epoch)}, epoch), IsOk());
  }
  const auto some = storage_->uses().EvictOldest({.before = 100, .now = 100, .bytes = 13});
  ASSERT_THAT(some, IsOk());
  EXPECT_EQ(some->bytes, 18);  // three of six bytes
  EXPECT_FALSE(some->finished);
  EXPECT_EQ(LastUse("blob 3"), kNoEpoch);
  EXPECT_EQ(LastUse("blob 4"), 4u);
  EXPECT_EQ(EvictAll(7, 100).blobs.size(), 3u);
  EXPECT_EQ(LastUse("blob 6"), kNoEpoch);
  EXPECT_EQ(LastUse("blob 7"), 7u);
  EXPECT_EQ(storage_->blobs().usage().blobs, 2);
}

TEST_P(StorageContract, WhatAHoldNamesIsPassedOverAndCountsAsUsed) {
  ASSERT_THAT(Put(*storage_, {"held", "free"}, 1), IsOk());
  ASSERT_THAT(storage_->holds().Save({.name = "one", .blobs = 1}, {MakeId("held")}), IsOk());
  ASSERT_THAT(storage_->holds().Save({.name = "two", .blobs = 1}, {MakeId("held")}), IsOk());
  EXPECT_EQ(EvictAll(10, 20).blobs, std::vector<BlobId>{MakeId("free")});
  EXPECT_EQ(LastUse("held"), 20u);
  ASSERT_THAT(storage_->holds().Delete("one"), IsOk());
  EXPECT_EQ(EvictAll(30, 40).blobs.size(), 0u);
  ASSERT_THAT(storage_->holds().Save({.name = "two", .blobs = 1}, {MakeId("another")}), IsOk());
  EXPECT_EQ(EvictAll(50, 60).blobs, std::vector<BlobId>{MakeId("held")});
}

TEST_P(StorageContract, HoldsAreListedReplacedAndEnded) {
  ASSERT_THAT(
      storage_->holds().Save({.name = "a", .holds_uses = true, .since = 7, .ttl_ms = 5}, {}),
      IsOk());
  ASSERT_THAT(storage_->holds().Save({.name = "b", .blobs = 2}, {MakeId("x"), MakeId("y")}),
              IsOk());
  ASSERT_THAT(storage_->holds().Update({.name = "a", .holds_uses = true, .since = 0, .ttl_ms = 5}),
              IsOk());
  const auto holds = storage_->holds().List();
  ASSERT_EQ(holds->size(), 2u);
  EXPECT_EQ(holds->at(0).name, "a");
  EXPECT_EQ(holds->at(0).since, 0u);
  EXPECT_TRUE(holds->at(0).holds_uses);
  EXPECT_EQ(holds->at(1).blobs, 2);
  ASSERT_THAT(storage_->holds().Delete("a"), IsOk());
  ASSERT_THAT(storage_->holds().Delete("a"), IsOk());
  EXPECT_EQ(storage_->holds().List()->size(), 1u);
}

TEST_P(StorageContract, AHoldsBytesAreThoseOfItsBlobsThatExist) {
  ASSERT_THAT(Put(*storage_, {"three", "four"}), IsOk());
  ASSERT_THAT(storage_->holds().Save({.name = "a", .blobs = 2}, {MakeId("three"), MakeId("none")}),
              IsOk());
  EXPECT_EQ(*storage_->holds().SumBytes("a"), 5);
  ASSERT_THAT(storage_->holds().Save({.name = "a", .blobs = 2}, {MakeId("three"), MakeId("four")}),
              IsOk());
  EXPECT_EQ(*storage_->holds().SumBytes("a"), 9);
  EXPECT_EQ(*storage_->holds().SumBytes("b"), 0);
}

TEST_P(StorageContract, AllBlobsAreListedOnce) {
  for (int i = 0; i < 25; ++i) ASSERT_THAT(Put(*storage_, {absl::StrCat(i)}), IsOk());
  std::vector<BlobId> all;
  for (;;) {
    const auto some = storage_->blobs().List(all.empty() ? nullptr : &all.back(), 10);
    ASSERT_THAT(some, IsOk());
    if (some->empty()) break;
    EXPECT_LE(some->size(), 10u);
    all.insert(all.end(), some->begin(), some->end());
  }
  EXPECT_EQ(all.size(), 25u);
  for (size_t i = 1; i < all.size(); ++i) EXPECT_LT(all[i - 1].raw_hash(), all[i].raw_hash());
}

TEST_P(StorageContract, AMarkOfDamageGoesWithTheBlobOrItsRenewal) {
  ASSERT_THAT(Put(*storage_, {"a", "b", "c"}), IsOk());
  for (const char* content : {"a", "b", "c"}) {
    ASSERT_THAT(storage_->blobs().MarkDamaged(MakeId(content)), IsOk());
  }
  EXPECT_EQ(storage_->blobs().Damaged()->size(), 3u);
  ASSERT_THAT(Put(*storage_, {"a"}, 9), IsOk());
  ASSERT_THAT(storage_->blobs().Delete(MakeId("b")), IsOk());
  ASSERT_THAT(storage_->blobs().Delete(MakeId("b")), IsOk());
  EXPECT_EQ(*storage_->blobs().Damaged(), std::vector<BlobId>{MakeId("c")});
  EXPECT_EQ(LastUse("b"), kNoEpoch);
  EXPECT_EQ(storage_->blobs().usage().blobs, 2);
}

TEST_P(StorageContract, ReclaimingLeavesWhatIsThere) {
  const std::string content = Noise(100'000, 1);
  ASSERT_THAT(Put(*storage_, {content, Noise(200'000, 2), Noise(200'000, 3)}, 5), IsOk());
  ASSERT_THAT(storage_->uses().Touch({{MakeId(content), 5}}, 9), IsOk());
  ASSERT_THAT(storage_->disk().Reclaim(), IsOk());
  const int64_t before = storage_->disk().Measure()->disk_bytes;
  EXPECT_GE(before, 500'000);
  EXPECT_EQ(EvictAll(6, 9).blobs.size(), 2u);
  ASSERT_THAT(storage_->disk().Reclaim(), IsOk());
  EXPECT_TRUE(*ReadAll(*storage_, content) == content);
  EXPECT_LE(storage_->disk().Measure()->disk_bytes, before - 350'000);
}

INSTANTIATE_TEST_SUITE_P(
    Storages, StorageContract,
    ::testing::Values(
        Make{"Memory", [](const std::string&) { return std::make_unique<MemoryStorage>(); }},
        Make{"RocksDb", [](const std::string& dir) { return *OpenRocksDbStorage(dir); }}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace kernelmill::store
