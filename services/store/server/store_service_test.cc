// Tests our own Store service with raw stubs.

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/cas/digest.h"
#include "common/cas/result_origin.h"
#include "common/rocksdb/backup.h"
#include "kernelmill/v1/store.grpc.pb.h"
#include "services/store/server/wire_test_base.h"

namespace kernelmill::store {
namespace {

constexpr auto kOk = absl::StatusCode::kOk;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

class StoreServiceTest : public WireTest {
 protected:
  using Stub = v1::Store::Stub;
  static StoreServer::Options With(const std::string& dir) {
    return {.data_dir = dir + "/data", .backups = {.dir = dir + "/backups", .max_backups = 3}};
  }
  StoreServiceTest() : WireTest(With) {}

  v1::StatResponse Stat() {
    v1::StatResponse response;
    EXPECT_EQ(Call(*own_, &Stub::Stat, v1::StatRequest(), &response), kOk);
    return response;
  }
  absl::StatusCode Hold(const v1::HoldRequest& request, v1::HoldResponse* response) {
    return Call(*own_, &Stub::Hold, request, response);
  }
  v1::CollectGarbageResponse CollectAll() {
    v1::CollectGarbageResponse response;
    EXPECT_EQ(Call(*own_, &Stub::CollectGarbage, v1::CollectGarbageRequest(), &response), kOk);
    return response;
  }
  // The last message, with `damaged` of all messages.
  v1::VerifyProgress Verify(const v1::VerifyRequest& request) {
    grpc::ClientContext context;
    const auto stream = own_->Verify(&context, request);
    v1::VerifyProgress message;
    v1::VerifyProgress last;
    while (stream->Read(&message)) last = message;
    EXPECT_EQ(rpc::FromGrpcStatus(stream->Finish()).code(), kOk);
    return last;
  }
  absl::StatusCode Backup(const std::string& name, v1::BackupResponse* response) {
    v1::BackupRequest request;
    request.set_name(name);
    return Call(*own_, &Stub::Backup, request, response);
  }

  std::unique_ptr<v1::Store::Stub> own_ = v1::Store::NewStub(channel_);
};

TEST_F(StoreServiceTest, StatCountsWhatIsKept) {
  ASSERT_EQ(Put("one"), kOk);
  ASSERT_EQ(Put("three"), kOk);
  ASSERT_EQ(Put("one"), kOk);
  const v1::StatResponse stat = Stat();
  EXPECT_EQ(stat.blobs(), 2);
  EXPECT_EQ(stat.blob_bytes(), 8);
  EXPECT_GT(stat.disk_bytes(), 0);
  EXPECT_GT(stat.free_disk_bytes(), 0);
  EXPECT_EQ(stat.limit_bytes(), 0);
}

TEST_F(StoreServiceTest, WhatIsHeldSurvivesACollectionAndTheRestGoes) {
  ASSERT_EQ(Put("held"), kOk);
  ASSERT_EQ(Put("free"), kOk);
  v1::HoldRequest request;
  request.set_name("dataset/one");
  request.set_ttl_ms(60'000);
  *request.add_blobs() = cas::ComputeDigest("held");
  *request.add_blobs() = cas::ComputeDigest("absent");
  *request.add_blobs() = cas::ComputeDigest("");  // always there
  v1::HoldResponse held;
  ASSERT_EQ(Hold(request, &held), kOk);
  ASSERT_EQ(held.missing_size(), 1);
  EXPECT_EQ(held.missing(0).hash(), cas::ComputeDigest("absent").hash());
  ASSERT_EQ(Stat().holds_size(), 1);
  EXPECT_EQ(Stat().holds(0).name(), "dataset/one");
  EXPECT_EQ(Stat().holds(0).blobs(), 3);
  EXPECT_GT(Stat().holds(0).expires_in_ms(), 30'000);
  EXPECT_LE(Stat().holds(0).expires_in_ms(), 60'000);
  EXPECT_EQ(Stat().holds(0).bytes(), 0) << "it was not asked for";
  v1::StatRequest sums;
  sums.set_sum_holds(true);
  v1::StatResponse stat;
  EXPECT_EQ(Call(*own_, &Stub::Stat, sums, &stat), kOk);
  EXPECT_EQ(stat.holds(0).bytes(), 4);

  const v1::CollectGarbageResponse first = CollectAll();
  EXPECT_EQ(first.dropped_blobs(), 1);
  EXPECT_EQ(first.dropped_bytes(), 4);
  EXPECT_EQ(first.held_bytes(), 4);
  std::string bytes;
  EXPECT_EQ(Read(BlobName("held"), 0, 0, &bytes), kOk);
  EXPECT_EQ(Read(BlobName("free"), 0, 0, &bytes), absl::StatusCode::kNotFound);

  v1::ReleaseRequest release;
  release.set_name("dataset/one");
  v1::ReleaseResponse released;
  EXPECT_EQ(Call(*own_, &Stub::Release, release, &released), kOk);
  EXPECT_EQ(Call(*own_, &Stub::Release, release, &released), kOk);
  EXPECT_EQ(CollectAll().dropped_blobs(), 1);
  EXPECT_EQ(Stat().blobs(), 0);
}

TEST_F(StoreServiceTest, ARunningJobKeepsWhatItTouches) {
  ASSERT_EQ(Put("before, found"), kOk);
  ASSERT_EQ(Put("before"), kOk);
  CollectAll();  // nothing was used since: both go
  EXPECT_EQ(Stat().blobs(), 0);
  ASSERT_EQ(Put("before, found"), kOk);
  ASSERT_EQ(Put("before"), kOk);
  v1::HoldRequest request;
  request.set_name("job/1");
  request.set_everything_used_from_now(true);
  v1::HoldResponse held;
  ASSERT_EQ(Hold(request, &held), kOk);
  ASSERT_EQ(Put("written"), kOk);
  CollectAll();
  // Items used in the epoch of the hold are kept too.
  EXPECT_EQ(Stat().blobs(), 3);
}

TEST_F(StoreServiceTest, WrongRequestsAreRefused) {
  v1::HoldResponse held;
  v1::HoldRequest request;
  EXPECT_EQ(Hold(request, &held), kInvalid);
  request.set_name("name");
  request.set_ttl_ms(-1);
  EXPECT_EQ(Hold(request, &held), kInvalid);
  request.set_ttl_ms(0);
  request.add_blobs()->set_hash("short");
  EXPECT_EQ(Hold(request, &held), kInvalid);
  v1::CollectGarbageRequest collect;
  collect.set_target_bytes(-1);
  v1::CollectGarbageResponse collected;
  EXPECT_EQ(Call(*own_, &Stub::CollectGarbage, collect, &collected), kInvalid);
  v1::BackupResponse backup;
  for (const char* name : {"", "..", ".hidden", "a/b", "a b", "\n"}) {
    EXPECT_EQ(Backup(name, &backup), kInvalid) << name;
  }
}

TEST_F(StoreServiceTest, VerifyReadsAll) {
  for (int i = 0; i < 100; ++i) ASSERT_EQ(Put(absl::StrCat("blob ", i)), kOk);
  const v1::VerifyProgress progress = Verify({});
  EXPECT_TRUE(progress.finished());
  EXPECT_EQ(progress.blobs(), 100);
  EXPECT_EQ(progress.bytes(), Stat().blob_bytes());
  EXPECT_EQ(progress.damaged_size(), 0);
}

TEST_F(StoreServiceTest, ABackupOfARunningStoreRestores) {
  ASSERT_EQ(Put("kept"), kOk);
  v1::BackupResponse backup;
  ASSERT_EQ(Backup("nightly-1", &backup), kOk);
  EXPECT_EQ(backup.path(), dir_.path() + "/backups/nightly-1");
  EXPECT_GT(backup.bytes(), 0);
  ASSERT_EQ(Put("later"), kOk);
  const std::string restored = dir_.path() + "/restored";
  ASSERT_TRUE(RestoreBackup(kStoreDatabase, backup.path(), restored).ok());
  const auto copy = StoreServer::Open({.data_dir = restored});
  EXPECT_TRUE(copy.ok()) << copy.status();
}

TEST_F(StoreServiceTest, BackupsAreBoundedListedAndPrunedTheOldestFirst) {
  v1::BackupResponse backup;
  for (const char* name : {"c", "b", "a"}) {
    ASSERT_EQ(Backup(name, &backup), kOk);
    absl::SleepFor(absl::Milliseconds(1100));  // RocksDB knows their time to the second
  }
  EXPECT_EQ(Backup("d", &backup), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Backup("a", &backup), kOk) << "one that is there is brought up to date";
  ASSERT_EQ(Stat().backups_size(), 3);
  EXPECT_EQ(Stat().backups(0).name(), "a") << "the newest first";
  EXPECT_GT(Stat().backups(0).bytes(), 0);
  EXPECT_GE(Stat().backups(0).made_unix_ms(), Stat().backups(1).made_unix_ms());

  v1::PruneBackupsRequest request;
  v1::PruneBackupsResponse pruned;
  EXPECT_EQ(Call(*own_, &Stub::PruneBackups, request, &pruned), kInvalid) << "no bound is given";
  request.set_keep(-1);
  EXPECT_EQ(Call(*own_, &Stub::PruneBackups, request, &pruned), kInvalid);
  request.set_keep(0);
  request.set_max_age_ms(3'600'000);
  ASSERT_EQ(Call(*own_, &Stub::PruneBackups, request, &pruned), kOk);
  EXPECT_EQ(pruned.dropped_size(), 0) << "none is as old";
  request.set_keep(1);
  ASSERT_EQ(Call(*own_, &Stub::PruneBackups, request, &pruned), kOk);
  ASSERT_EQ(pruned.dropped_size(), 2);
  EXPECT_EQ(pruned.dropped(0).name(), "c");
  request.set_max_age_ms(1);
  ASSERT_EQ(Call(*own_, &Stub::PruneBackups, request, &pruned), kOk);
  EXPECT_EQ(Stat().backups_size(), 0) << "age goes before number";
  EXPECT_EQ(Backup("d", &backup), kOk);
}

TEST_F(StoreServiceTest, ABackupThatFailsLeavesNothing) {
  ASSERT_EQ(Put("kept"), kOk);
  const std::string folder = dir_.path() + "/backups";
  store_->Drain();  // backups end with CANCELLED from here on
  v1::BackupResponse backup;
  EXPECT_EQ(Backup("nightly", &backup), absl::StatusCode::kCancelled);
  for (const char* name : {"/nightly", "/.nightly.new"}) {
    EXPECT_FALSE(std::filesystem::exists(folder + name)) << name;
  }
}

TEST_F(StoreServiceTest, WhatACollectionWouldDropIsToldAndStays) {
  ASSERT_EQ(Put("held"), kOk);
  ASSERT_EQ(Put("free"), kOk);
  v1::HoldRequest hold;
  hold.set_name("dataset/one");
  *hold.add_blobs() = cas::ComputeDigest("held");
  v1::HoldResponse held;
  ASSERT_EQ(Hold(hold, &held), kOk);
  v1::CollectGarbageRequest request;
  request.set_dry_run(true);
  v1::CollectGarbageResponse told;
  ASSERT_EQ(Call(*own_, &Stub::CollectGarbage, request, &told), kOk);
  EXPECT_EQ(told.dropped_blobs(), 1);
  EXPECT_EQ(told.dropped_bytes(), 4);
  EXPECT_EQ(told.held_bytes(), 4);
  EXPECT_EQ(Stat().blobs(), 2);
  request.set_target_bytes(8);
  ASSERT_EQ(Call(*own_, &Stub::CollectGarbage, request, &told), kOk);
  EXPECT_EQ(told.dropped_blobs(), 0) << "there is no more than that";
  const v1::CollectGarbageResponse done = CollectAll();
  EXPECT_EQ(done.dropped_blobs(), 1) << "as it was told";
}

TEST_F(WireTest, ABackupNeedsAFolder) {
  const auto own = v1::Store::NewStub(channel_);
  v1::BackupRequest request;
  request.set_name("x");
  v1::BackupResponse response;
  EXPECT_EQ(Call(*own, &v1::Store::Stub::Backup, request, &response),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(WireTest, ALimitThatIsTooSmallIsRefused) {
  EXPECT_EQ(
      StoreServer::Open({.data_dir = dir_.path() + "/small", .retention = {.limit_bytes = 1 << 20}})
          .status()
          .code(),
      kInvalid);
}

TEST_F(StoreServiceTest, ForgetsTheResultsThatPlainReapiClientsWrote) {
  reapi::UpdateActionResultRequest update;
  *update.mutable_action_digest() = cas::ComputeDigest("an action");
  cas::SetStage("extract", 11, update.mutable_action_result());
  cas::SetWorker("w3", update.mutable_action_result());
  reapi::ActionResult result;
  ASSERT_EQ(Call(*action_cache_, &reapi::ActionCache::Stub::UpdateActionResult, update, &result),
            kOk);
  EXPECT_EQ(result.execution_metadata().worker(), "w3") << "without TLS the name is not checked";
  v1::ForgetResultsRequest request;
  v1::ForgetResultsResponse response;
  EXPECT_EQ(Call(*own_, &Stub::ForgetResults, request, &response), kInvalid);
  request.set_worker("w3");
  request.set_dry_run(true);
  ASSERT_EQ(Call(*own_, &Stub::ForgetResults, request, &response), kOk);
  EXPECT_EQ(response.results(), 1);
  EXPECT_EQ(Stat().action_results(), 1);
  request.set_dry_run(false);
  ASSERT_EQ(Call(*own_, &Stub::ForgetResults, request, &response), kOk);
  EXPECT_EQ(response.results(), 1);
  EXPECT_EQ(Stat().action_results(), 0);
}

}  // namespace
}  // namespace kernelmill::store
