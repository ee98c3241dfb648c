#include "services/coordinator/adapters/store/store_retainer.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/rpc/server.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/store.grpc.pb.h"

namespace kernelmill::coordinator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::SizeIs;

// Keeps holds as a store does; blobs whose hash is in `gone` are missing.
class FakeStore : public v1::Store::Service {
 public:
  grpc::Status Hold(grpc::ServerContext* context, const v1::HoldRequest* request,
                    v1::HoldResponse* response) override {
    if (hang) {
      hanging.Notify();
      while (!context->IsCancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    absl::MutexLock lock(&mutex);
    EXPECT_LE(request->blobs_size(), 100'000);
    for (const auto& blob : request->blobs()) {
      if (gone.contains(blob.hash())) *response->add_missing() = blob;
    }
    holds[request->name()] = *request;
    return grpc::Status::OK;
  }
  grpc::Status Release(grpc::ServerContext*, const v1::ReleaseRequest* request,
                       v1::ReleaseResponse*) override {
    absl::MutexLock lock(&mutex);
    holds.erase(request->name());
    return grpc::Status::OK;
  }
  grpc::Status Stat(grpc::ServerContext*, const v1::StatRequest*,
                    v1::StatResponse* response) override {
    absl::MutexLock lock(&mutex);
    for (const auto& [name, hold] : holds) response->add_holds()->set_name(name);
    return grpc::Status::OK;
  }

  absl::Mutex mutex;
  std::map<std::string, v1::HoldRequest> holds;
  std::set<std::string> gone;
  std::atomic<bool> hang{false};
  absl::Notification hanging;
};

cas::Digest Blob(const std::string& name) { return cas::ComputeDigest(name); }

// Makes a job with one source of that many shards, and one source that failed.
v1::DatasetManifest Dataset(int shards) {
  v1::DatasetManifest manifest;
  *manifest.mutable_clusters() = Blob("clusters");
  v1::ManifestSource& source = *manifest.add_sources();
  *source.mutable_tree() = Blob("tree");
  for (int i = 0; i < shards; ++i) {
    *source.add_files() = Blob(absl::StrCat("files", i));
    *source.add_kernels() = Blob(absl::StrCat("kernels", i));
    *source.add_verdicts() = Blob(absl::StrCat("verdicts", i));
  }
  manifest.add_sources()->set_failed(true);
  return manifest;
}

class StoreRetainerTest : public ::testing::Test {
 protected:
  StoreRetainerTest() : dir_(*TempDir::Create()) {
    address_ = "unix:" + dir_.path() + "/store";
    server_ = *rpc::Server::Start({address_}, {&store_});
    retainer_ = New("aaaaaaaa");
  }

  std::unique_ptr<Retainer> New(const std::string& owner) {
    auto blobs = std::make_unique<cas::MemoryBlobStore>();
    blobs_ = blobs.get();
    return NewStoreRetainer(rpc::Connect(address_), std::move(blobs), owner);
  }
  cas::Digest Put(const v1::DatasetManifest& manifest) {
    return cas::PutMessage(*blobs_, manifest).value();
  }

  TempDir dir_;
  std::string address_;
  FakeStore store_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<Retainer> retainer_;
  cas::MemoryBlobStore* blobs_ = nullptr;  // the last retainer's
};

TEST_F(StoreRetainerTest, ARunHoldsWhatIsUsedFromNowOnForAWhile) {
  ASSERT_THAT(retainer_->HoldRun("seeds-000007", absl::Hours(1)), IsOk());
  ASSERT_THAT(store_.holds, ElementsAre(Key("job/seeds-000007@aaaaaaaa")));
  const v1::HoldRequest& hold = store_.holds.begin()->second;
  EXPECT_TRUE(hold.everything_used_from_now());
  EXPECT_EQ(hold.ttl_ms(), 3'600'000);
  EXPECT_THAT(hold.blobs(), IsEmpty());
  ASSERT_THAT(retainer_->ReleaseRun("seeds-000007"), IsOk());
  EXPECT_THAT(store_.holds, IsEmpty());
}

TEST_F(StoreRetainerTest, ADatasetHoldsItsManifestAndAllThatItNames) {
  const cas::Digest manifest = Put(Dataset(2));
  ASSERT_THAT(retainer_->HoldDataset("j", manifest), IsOk());
  ASSERT_THAT(store_.holds, ElementsAre(Key("dataset/j@aaaaaaaa")));
  const v1::HoldRequest& hold = store_.holds.begin()->second;
  EXPECT_FALSE(hold.everything_used_from_now());
  EXPECT_EQ(hold.ttl_ms(), 0);
  std::vector<std::string> hashes;
  for (const auto& blob : hold.blobs()) hashes.push_back(blob.hash());
  std::vector<std::string> expected = {manifest.hash()};
  for (const char* name :
       {"clusters", "tree", "files0", "files1", "kernels0", "kernels1", "verdicts0", "verdicts1"}) {
    expected.push_back(Blob(name).hash());
  }
  EXPECT_THAT(hashes, ::testing::UnorderedElementsAreArray(expected));
}

TEST_F(StoreRetainerTest, ALargeDatasetIsHeldInPartsThatAllGo) {
  const cas::Digest large = Put(Dataset(40'000));
  ASSERT_THAT(retainer_->HoldDataset("j", large), IsOk());
  ASSERT_THAT(store_.holds, SizeIs(3));
  std::set<std::string> hashes;
  for (const auto& [name, hold] : store_.holds) {
    for (const auto& blob : hold.blobs()) hashes.insert(blob.hash());
  }
  EXPECT_EQ(hashes.size(), 120'003u);
  EXPECT_THAT(retainer_->List()->incomplete, IsEmpty());
  // An operator released a part, or all of it.
  for (const char* part : {"dataset/j@aaaaaaaa#2", "dataset/j@aaaaaaaa#3"}) {
    store_.holds.erase(part);
    EXPECT_THAT(retainer_->List()->incomplete, ElementsAre("j")) << part;
    ASSERT_THAT(retainer_->HoldDataset("j", large), IsOk());
    EXPECT_THAT(retainer_->List()->incomplete, IsEmpty()) << part;
  }
  // A retry made a smaller dataset.
  ASSERT_THAT(retainer_->HoldDataset("j", Put(Dataset(1))), IsOk());
  EXPECT_THAT(store_.holds, ElementsAre(Key("dataset/j@aaaaaaaa")));
  ASSERT_THAT(retainer_->HoldDataset("j", large), IsOk());
  // Simulates a restart.
  retainer_ = New("aaaaaaaa");
  const auto held = retainer_->List();
  ASSERT_THAT(held, IsOk());
  EXPECT_THAT(held->datasets, ElementsAre("j"));
  ASSERT_THAT(retainer_->ReleaseDataset("j"), IsOk());
  EXPECT_THAT(store_.holds, IsEmpty());
}

TEST_F(StoreRetainerTest, HoldsOfOthersAreTheirs) {
  const cas::Digest manifest = Put(Dataset(1));
  ASSERT_THAT(retainer_->HoldDataset("j", manifest), IsOk());
  ASSERT_THAT(retainer_->HoldRun("k", absl::Hours(1)), IsOk());
  store_.holds["by hand"];
  store_.holds["dataset/by-hand"];
  store_.holds["dataset/by-hand#2"];
  const std::unique_ptr<Retainer> other = New("bbbbbbbb");
  const auto theirs = other->List();
  ASSERT_THAT(theirs, IsOk());
  EXPECT_THAT(theirs->runs, IsEmpty());
  EXPECT_THAT(theirs->datasets, IsEmpty());
  ASSERT_THAT(other->ReleaseDataset("j"), IsOk());
  ASSERT_THAT(other->ReleaseRun("k"), IsOk());
  const auto ours = retainer_->List();
  ASSERT_THAT(ours, IsOk());
  EXPECT_THAT(ours->runs, ElementsAre("k"));
  EXPECT_THAT(ours->datasets, ElementsAre("j"));
}

TEST_F(StoreRetainerTest, WhatIsLeftOfADamagedDatasetIsHeld) {
  store_.gone = {Blob("kernels0").hash()};
  EXPECT_THAT(retainer_->HoldDataset("j", Put(Dataset(1))), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(store_.holds, SizeIs(1));
  EXPECT_THAT(retainer_->HoldDataset("k", Blob("no such manifest")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(StoreRetainerTest, CancelEndsTheCallThatRunsAndLaterOnes) {
  store_.hang = true;
  absl::Status ended;
  std::thread caller([&] { ended = retainer_->HoldRun("j", absl::Hours(1)); });
  store_.hanging.WaitForNotification();
  retainer_->Cancel();
  caller.join();
  EXPECT_THAT(ended, StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(retainer_->List(), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(StoreRetainerTest, AStoreThatEndsInTheMiddleOfACallIsAwayAndNoCancelOfOurs) {
  store_.hang = true;
  absl::Status ended;
  std::thread caller([&] { ended = retainer_->HoldRun("j", absl::Hours(1)); });
  store_.hanging.WaitForNotification();
  server_->Shutdown(absl::ZeroDuration());
  caller.join();
  EXPECT_THAT(ended, StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(StoreRetainerTest, AStoreWithoutHoldsSaysSo) {
  v1::Store::Service none;
  const std::string address = "unix:" + dir_.path() + "/none";
  const auto server = rpc::Server::Start({address}, {&none});
  ASSERT_THAT(server, IsOk());
  const auto retainer = NewStoreRetainer(rpc::Connect(address), "aaaaaaaa");
  EXPECT_THAT(retainer->List(), StatusIs(absl::StatusCode::kUnimplemented));
  EXPECT_THAT(NewStoreRetainer(rpc::Connect("unix:" + dir_.path() + "/gone"), "aaaaaaaa")->List(),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace kernelmill::coordinator
