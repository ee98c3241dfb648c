// What every Storage does: asked of the fake that the core's tests rest on, and of the real one.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
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
  void SetUp() override {
    while (!storage_->Settle(1).value()) {
    }
  }
  Tick LastUse(absl::string_view content) { return storage_->LastUses({IdOf(content)})->front(); }
  Dropped DropAll(Tick before, Tick now) {
    Dropped all;
    while (!all.finished) {
      const auto step = storage_->DropOldest({.before = before, .now = now, .bytes = 1 << 30});
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
  EXPECT_EQ(LastUse("a"), kNotHeld);
  EXPECT_THAT(storage_->Read(IdOf("a"), 0, 1, [](absl::string_view) { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kNotFound));
  ASSERT_THAT(storage_->Put({{IdOf("a"), "a"}, {IdOf("bb"), "bb"}}, /*fresh=*/true, 3), IsOk());
  EXPECT_EQ(LastUse("a"), 3u);
  ASSERT_THAT(storage_->Touch({{IdOf("a"), 3}}, 5), IsOk());
  EXPECT_EQ(LastUse("a"), 5u);
  EXPECT_EQ(LastUse("bb"), 3u);
  EXPECT_EQ(*ReadAll(*storage_, "bb"), "bb");
  const Usage usage = storage_->usage();
  EXPECT_EQ(usage.blobs, 2);
  EXPECT_EQ(usage.blob_bytes, 3);
  EXPECT_EQ(usage.written, 3);
}

TEST_P(StorageContract, PuttingAgainReplacesAndCountsOnce) {
  ASSERT_THAT(Put(*storage_, {"a"}, 3), IsOk());
  ASSERT_THAT(Put(*storage_, {"a"}, 4), IsOk());
  EXPECT_EQ(storage_->usage().blobs, 1);
  EXPECT_EQ(storage_->usage().written, 2);
  EXPECT_EQ(LastUse("a"), 4u);
  EXPECT_EQ(DropAll(4, 9).blobs.size(), 0u);  // no mark of the older use is left
  EXPECT_EQ(DropAll(5, 9).blobs.size(), 1u);
}

TEST_P(StorageContract, AStagedBlobAppearsWithItsCommitAlone) {
  const std::string content = Noise(kChunkBytes + 7, 1);
  auto staged = storage_->Stage();
  ASSERT_THAT((*staged)->Append(absl::string_view(content).substr(0, kChunkBytes)), IsOk());
  ASSERT_THAT((*staged)->Append(absl::string_view(content).substr(kChunkBytes)), IsOk());
  EXPECT_EQ(LastUse(content), kNotHeld);
  ASSERT_THAT((*staged)->Commit(IdOf(content), 6), IsOk());
  EXPECT_EQ(LastUse(content), 6u);
  EXPECT_TRUE(*ReadAll(*storage_, content) == content);
  ASSERT_THAT(PutLarge(*storage_, content, 7), IsOk());
  EXPECT_TRUE(*ReadAll(*storage_, content) == content);
  EXPECT_EQ(storage_->usage().blobs, 1);
}

TEST_P(StorageContract, ResultsAreKeptByInstance) {
  ASSERT_THAT(storage_->PutResult("x", IdOf("action"), "one", 2), IsOk());
  ASSERT_THAT(storage_->PutResult("y", IdOf("action"), "two", 3), IsOk());
  ASSERT_THAT(storage_->PutResult("x", IdOf("action"), "three", 4), IsOk());
  EXPECT_EQ(storage_->GetResult("x", IdOf("action"))->bytes, "three");
  EXPECT_EQ(storage_->GetResult("x", IdOf("action"))->last_use, 4u);
  EXPECT_THAT(storage_->GetResult("", IdOf("action")), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(storage_->usage().results, 2);
  ASSERT_THAT(storage_->TouchResult("y", IdOf("action"), 3, 8), IsOk());
  EXPECT_EQ(DropAll(8, 9).results, 1);
  EXPECT_THAT(storage_->GetResult("x", IdOf("action")), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(storage_->GetResult("y", IdOf("action"))->bytes, "two");
}

TEST_P(StorageContract, TheOldestGoFirstAndNoMoreThanAskedFor) {
  for (Tick tick = 1; tick <= 8; ++tick) {
    ASSERT_THAT(Put(*storage_, {absl::StrCat("blob ", tick)}, tick), IsOk());
  }
  const auto some = storage_->DropOldest({.before = 100, .now = 100, .bytes = 13});
  ASSERT_THAT(some, IsOk());
  EXPECT_EQ(some->bytes, 18);  // three of six bytes
  EXPECT_FALSE(some->finished);
  EXPECT_EQ(LastUse("blob 3"), kNotHeld);
  EXPECT_EQ(LastUse("blob 4"), 4u);
  EXPECT_EQ(DropAll(7, 100).blobs.size(), 3u);
  EXPECT_EQ(LastUse("blob 6"), kNotHeld);
  EXPECT_EQ(LastUse("blob 7"), 7u);
  EXPECT_EQ(storage_->usage().blobs, 2);
}

TEST_P(StorageContract, WhatAHoldNamesIsPassedOverAndCountsAsUsed) {
  ASSERT_THAT(Put(*storage_, {"held", "free"}, 1), IsOk());
  ASSERT_THAT(storage_->SaveHold({.name = "one", .blobs = 1}, {IdOf("held")}), IsOk());
  ASSERT_THAT(storage_->SaveHold({.name = "two", .blobs = 1}, {IdOf("held")}), IsOk());
  EXPECT_EQ(DropAll(10, 20).blobs, std::vector<BlobId>{IdOf("free")});
  EXPECT_EQ(LastUse("held"), 20u);
  ASSERT_THAT(storage_->DeleteHold("one"), IsOk());
  EXPECT_EQ(DropAll(30, 40).blobs.size(), 0u);
  ASSERT_THAT(storage_->SaveHold({.name = "two", .blobs = 1}, {IdOf("another")}), IsOk());
  EXPECT_EQ(DropAll(50, 60).blobs, std::vector<BlobId>{IdOf("held")});
}

TEST_P(StorageContract, HoldsAreListedReplacedAndEnded) {
  ASSERT_THAT(storage_->SaveHold({.name = "a", .fenced = true, .fence = 7, .ttl_ms = 5}, {}),
              IsOk());
  ASSERT_THAT(storage_->SaveHold({.name = "b", .blobs = 2}, {IdOf("x"), IdOf("y")}), IsOk());
  ASSERT_THAT(storage_->SaveFence({.name = "a", .fenced = true, .fence = 0, .ttl_ms = 5}), IsOk());
  const auto holds = storage_->Holds();
  ASSERT_EQ(holds->size(), 2u);
  EXPECT_EQ(holds->at(0).name, "a");
  EXPECT_EQ(holds->at(0).fence, 0u);
  EXPECT_TRUE(holds->at(0).fenced);
  EXPECT_EQ(holds->at(1).blobs, 2);
  ASSERT_THAT(storage_->DeleteHold("a"), IsOk());
  ASSERT_THAT(storage_->DeleteHold("a"), IsOk());
  EXPECT_EQ(storage_->Holds()->size(), 1u);
}

TEST_P(StorageContract, AllBlobsAreListedOnce) {
  for (int i = 0; i < 25; ++i) ASSERT_THAT(Put(*storage_, {absl::StrCat(i)}), IsOk());
  std::vector<BlobId> all;
  for (;;) {
    const auto some = storage_->List(all.empty() ? nullptr : &all.back(), 10);
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
    ASSERT_THAT(storage_->MarkDamaged(IdOf(content)), IsOk());
  }
  EXPECT_EQ(storage_->Damaged()->size(), 3u);
  ASSERT_THAT(Put(*storage_, {"a"}, 9), IsOk());
  ASSERT_THAT(storage_->Drop(IdOf("b")), IsOk());
  ASSERT_THAT(storage_->Drop(IdOf("b")), IsOk());
  EXPECT_EQ(*storage_->Damaged(), std::vector<BlobId>{IdOf("c")});
  EXPECT_EQ(LastUse("b"), kNotHeld);
  EXPECT_EQ(storage_->usage().blobs, 2);
}

TEST_P(StorageContract, ReclaimingLeavesWhatIsThere) {
  const std::string content = Noise(100'000, 1);
  ASSERT_THAT(Put(*storage_, {content, Noise(200'000, 2), Noise(200'000, 3)}, 5), IsOk());
  ASSERT_THAT(storage_->Touch({{IdOf(content), 5}}, 9), IsOk());
  ASSERT_THAT(storage_->Reclaim(), IsOk());
  const int64_t before = storage_->MeasureSpace()->disk_bytes;
  EXPECT_GE(before, 500'000);
  EXPECT_EQ(DropAll(6, 9).blobs.size(), 2u);
  ASSERT_THAT(storage_->Reclaim(), IsOk());
  EXPECT_TRUE(*ReadAll(*storage_, content) == content);
  EXPECT_LE(storage_->MeasureSpace()->disk_bytes, before - 350'000);
}

INSTANTIATE_TEST_SUITE_P(
    Storages, StorageContract,
    ::testing::Values(
        Make{"Memory", [](const std::string&) { return std::make_unique<MemoryStorage>(); }},
        Make{"RocksDb", [](const std::string& dir) { return *OpenRocksDbStorage(dir); }}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace kernelmill::store
