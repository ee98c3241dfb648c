// The contract of BlobStore, tested with the fake that unit tests use and with real stores: the
// gRPC client with the store's services on RocksDB, and with bazel-remote, a store by other
// authors.

#include <grpcpp/channel.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/cas/grpc_blob_store.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/rpc/server.h"
#include "common/testing/status_matchers.h"
#include "services/store/server/store_server.h"
#include "tests/contract/bazel_remote.h"

namespace kernelmill::cas {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;

// A BlobStore with its server.
struct Subject {
  virtual ~Subject() = default;
  virtual BlobStore& store() = 0;
};

struct MemorySubject : Subject {
  BlobStore& store() override { return memory; }
  MemoryBlobStore memory;
};

struct GrpcSubject : Subject {
  explicit GrpcSubject(const std::string& instance) {
    // A socket: gRPC 1.51's in-process transport hangs when a server answers a stream before its
    // end.
    const std::string address = absl::StrCat("unix:", dir.path(), "/socket");
    services = *kernelmill::store::StoreServer::Open({.data_dir = dir.path() + "/data"});
    server = *rpc::Server::Start({.address = address}, services->services());
    client = NewGrpcBlobStore(rpc::Connect(address), {.instance_name = instance});
  }
  BlobStore& store() override { return *client; }

  TempDir dir = *TempDir::Create();
  std::unique_ptr<kernelmill::store::StoreServer> services;
  std::unique_ptr<rpc::Server> server;
  std::unique_ptr<BlobStore> client;
};

struct LocalSubject : Subject {
  BlobStore& store() override { return *client; }

  TempDir dir = *TempDir::Create();
  std::unique_ptr<kernelmill::store::StoreServer> server =
      *kernelmill::store::StoreServer::Open({.data_dir = dir.path() + "/data"});
  std::unique_ptr<BlobStore> client = server->NewLocalClient();
};

struct BazelRemoteSubject : Subject {
  BazelRemoteSubject() : client(NewGrpcBlobStore(rpc::Connect(peer->address()), {})) {}
  BlobStore& store() override { return *client; }

  std::unique_ptr<kernelmill::testing::BazelRemote> peer =
      *kernelmill::testing::BazelRemote::Start();
  std::unique_ptr<BlobStore> client;
};

struct Param {
  const char* name;
  std::function<std::unique_ptr<Subject>()> make;
  bool from_elsewhere = false;  // by other authors: bazel-remote, which may not be installed
};

class BlobStoreContract : public ::testing::TestWithParam<Param> {
 protected:
  void SetUp() override {
    if (GetParam().from_elsewhere && kernelmill::testing::BazelRemote::Program().empty()) {
      GTEST_SKIP() << "no bazel-remote: tests/peers/install_bazel_remote.sh installs it";
    }
    subject_ = GetParam().make();
  }
  // Expects a write to fail whose content does not match its digest. Other servers use other codes.
  static void ExpectRefused(const absl::Status& status) {
    if (GetParam().from_elsewhere) {
      EXPECT_FALSE(status.ok() || IsRetryable(status)) << status;
    } else {
      EXPECT_THAT(status, StatusIs(kInvalid));
    }
  }
  static Blob MakeBlob(std::string bytes) { return {ComputeDigest(bytes), std::move(bytes)}; }
  BlobStore& store() { return subject_->store(); }

  std::unique_ptr<Subject> subject_;
};

// Makes bytes that hardly repeat or compress.
std::string Content(size_t size, uint64_t seed) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = static_cast<char>(seed >> 56);
  }
  return bytes;
}

TEST_P(BlobStoreContract, WhatIsPutIsGot) {
  std::vector<Blob> blobs;
  for (const size_t size : {1, 1000, 1025, 70'000, 3'000'000}) {
    blobs.push_back(MakeBlob(Content(size, size)));
  }
  ASSERT_THAT(store().Put(blobs), IsOk());
  std::vector<Digest> digests;
  for (const Blob& blob : blobs) digests.push_back(blob.digest);
  const auto contents = store().Get(digests);
  ASSERT_THAT(contents, IsOk());
  ASSERT_EQ(contents->size(), blobs.size());
  for (size_t i = 0; i < blobs.size(); ++i) EXPECT_EQ((*contents)[i], blobs[i].bytes);
}

TEST_P(BlobStoreContract, BlobsLargerThanAnyMessage) {
  const std::vector<Blob> blobs = {MakeBlob(Content(20 << 20, 1)), MakeBlob("small"),
                                   MakeBlob(Content((4 << 20) + 1, 2)),
                                   MakeBlob(Content((4 << 20) - (128 << 10), 3))};
  ASSERT_THAT(store().Put(blobs), IsOk());
  ASSERT_THAT(store().Put(blobs), IsOk());
  const auto contents = store().Get(
      {blobs[0].digest, blobs[1].digest, blobs[2].digest, blobs[3].digest, blobs[0].digest});
  ASSERT_THAT(contents, IsOk());
  for (size_t i = 0; i < blobs.size(); ++i) EXPECT_TRUE((*contents)[i] == blobs[i].bytes) << i;
  EXPECT_TRUE((*contents)[4] == blobs[0].bytes);
}

TEST_P(BlobStoreContract, ManySmallBlobsInOneCall) {
  std::vector<Blob> blobs;
  std::vector<Digest> digests;
  // More than fit into one request or batch; fewer for a server that makes a file of each.
  const int count = GetParam().from_elsewhere ? 3'000 : 30'000;
  for (int i = 0; i < count; ++i) {
    blobs.push_back(MakeBlob(absl::StrCat("blob ", i)));
    digests.push_back(blobs.back().digest);
  }
  EXPECT_EQ(store().FindMissing(digests)->size(), digests.size());
  ASSERT_THAT(store().Put(blobs), IsOk());
  EXPECT_TRUE(store().FindMissing(digests)->empty());
  const auto contents = store().Get(digests);
  ASSERT_THAT(contents, IsOk());
  for (size_t i = 0; i < blobs.size(); ++i) ASSERT_EQ((*contents)[i], blobs[i].bytes);
}

TEST_P(BlobStoreContract, MissingOnesComeInTheOrderAsked) {
  ASSERT_THAT(store().Put({MakeBlob("here")}), IsOk());
  const auto missing =
      store().FindMissing({ComputeDigest("b"), ComputeDigest("here"), ComputeDigest("a"),
                           ComputeDigest(""), ComputeDigest("b")});
  ASSERT_THAT(missing, IsOk());
  ASSERT_EQ(missing->size(), 3u);
  EXPECT_TRUE(SameDigest((*missing)[0], ComputeDigest("b")));
  EXPECT_TRUE(SameDigest((*missing)[1], ComputeDigest("a")));
  EXPECT_TRUE(SameDigest((*missing)[2], ComputeDigest("b")));
}

TEST_P(BlobStoreContract, TheEmptyBlobIsAlwaysThere) {
  EXPECT_TRUE(store().FindMissing({ComputeDigest("")})->empty());
  EXPECT_EQ(store().Get({ComputeDigest("")})->front(), "");
  EXPECT_THAT(store().Put({MakeBlob("")}), IsOk());
}

TEST_P(BlobStoreContract, EmptyListsAreFine) {
  EXPECT_THAT(store().Put({}), IsOk());
  EXPECT_TRUE(store().Get({})->empty());
  EXPECT_TRUE(store().FindMissing({})->empty());
}

TEST_P(BlobStoreContract, ADigestThatDoesNotMatchIsRefused) {
  Digest wrong_size = ComputeDigest("content");
  wrong_size.set_size_bytes(8);
  ExpectRefused(store().Put({{ComputeDigest("something else"), "content"}}));
  ExpectRefused(store().Put({{wrong_size, "content"}}));
  std::string large = Content(5 << 20, 4);
  const Digest digest = ComputeDigest(large);
  large[5'000'000] ^= 1;
  ExpectRefused(store().Put({{digest, large}}));
  EXPECT_EQ(store().FindMissing({digest, ComputeDigest("something else"), wrong_size})->size(), 3u);
}

TEST_P(BlobStoreContract, MalformedDigestsAreRefused) {
  std::vector<Digest> malformed(4, ComputeDigest("x"));
  malformed[0].set_hash("abc");
  malformed[1].set_hash(std::string(64, 'A'));
  malformed[2].set_size_bytes(-1);
  malformed[3].clear_hash();
  for (const Digest& digest : malformed) {
    EXPECT_THAT(store().FindMissing({digest}), StatusIs(kInvalid));
    EXPECT_THAT(store().Get({digest}), StatusIs(kInvalid));
    EXPECT_THAT(store().Put({{digest, "x"}}), StatusIs(kInvalid));
    EXPECT_THAT(store().GetActionResult(digest), StatusIs(kInvalid));
    EXPECT_THAT(store().PutActionResult(digest, {}), StatusIs(kInvalid));
  }
}

TEST_P(BlobStoreContract, TheFirstMissingBlobIsNamed) {
  ASSERT_THAT(store().Put({MakeBlob("here")}), IsOk());
  Digest large = ComputeDigest("large");
  large.set_size_bytes(50 << 20);
  for (const auto& [first, second] :
       {std::pair(large, ComputeDigest("gone")), std::pair(ComputeDigest("gone"), large)}) {
    const auto contents = store().Get({ComputeDigest("here"), first, second});
    EXPECT_THAT(contents, StatusIs(kNotFound));
    EXPECT_NE(contents.status().message().find(ToString(first)), absl::string_view::npos)
        << contents.status();
  }
}

TEST_P(BlobStoreContract, RepeatedDigestsAreAnsweredEachTime) {
  ASSERT_THAT(store().Put({MakeBlob("twice"), MakeBlob("twice"), MakeBlob("once")}), IsOk());
  const auto contents =
      store().Get({ComputeDigest("twice"), ComputeDigest("once"), ComputeDigest("twice")});
  ASSERT_THAT(contents, IsOk());
  EXPECT_EQ(*contents, (std::vector<std::string>{"twice", "once", "twice"}));
}

TEST_P(BlobStoreContract, AnActionResultIsKeptAndReplaced) {
  const Digest action = ComputeDigest("action");
  EXPECT_THAT(store().GetActionResult(action), StatusIs(kNotFound));
  ActionResult result;
  result.set_stdout_raw(Content(100'000, 5));
  result.set_exit_code(1);
  ASSERT_THAT(store().PutActionResult(action, result), IsOk());
  EXPECT_TRUE(store().GetActionResult(action)->stdout_raw() == result.stdout_raw());
  result.set_exit_code(2);
  ASSERT_THAT(store().PutActionResult(action, result), IsOk());
  EXPECT_EQ(store().GetActionResult(action)->exit_code(), 2);
  if (GetParam().from_elsewhere)
    return;  // some servers store results by hash only, which is unique too
  Digest same_hash = action;
  same_hash.set_size_bytes(7);
  EXPECT_THAT(store().GetActionResult(same_hash), StatusIs(kNotFound));
}

TEST_P(BlobStoreContract, AResultOfManyMegabytes) {
  ActionResult result;
  result.set_stdout_raw(Content(3'500'000, 6));
  ASSERT_THAT(store().PutActionResult(ComputeDigest("action"), result), IsOk());
  const auto found = store().GetActionResult(ComputeDigest("action"));
  ASSERT_THAT(found, IsOk());
  EXPECT_TRUE(found->stdout_raw() == result.stdout_raw());
}

TEST_P(BlobStoreContract, AResultThatNamesAMissingBlobIsNotFound) {
  const Digest action = ComputeDigest("action");
  ActionResult result;
  for (const char* name : {"output 0", "output 1"}) {
    auto* file = result.add_output_files();
    file->set_path(name);
    *file->mutable_digest() = ComputeDigest(name);
  }
  ASSERT_THAT(store().PutActionResult(action, result), IsOk());
  ASSERT_THAT(store().Put({MakeBlob("output 0")}), IsOk());
  EXPECT_THAT(store().GetActionResult(action), StatusIs(kNotFound));
  ASSERT_THAT(store().Put({MakeBlob("output 1")}), IsOk());
  EXPECT_THAT(store().GetActionResult(action), IsOk());
}

TEST_P(BlobStoreContract, ManyThreadsPutAndGetTheSameBlobs) {
  const std::vector<Blob> blobs = {MakeBlob(Content(5 << 20, 6)), MakeBlob(Content(100'000, 7)),
                                   MakeBlob("tiny")};
  std::vector<absl::Status> statuses(8);
  std::vector<std::thread> threads;
  for (absl::Status& status : statuses) {
    threads.emplace_back([&] {
      status = store().Put(blobs);
      if (!status.ok()) return;
      const auto contents = store().Get({blobs[0].digest, blobs[1].digest, blobs[2].digest});
      status = contents.status();
      if (status.ok() && (*contents)[0] != blobs[0].bytes) status = absl::DataLossError("bytes");
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) EXPECT_THAT(status, IsOk());
}

INSTANTIATE_TEST_SUITE_P(
    AllStores, BlobStoreContract,
    ::testing::Values(
        Param{"Memory", [] { return std::make_unique<MemorySubject>(); }},
        Param{"LocalOnRocksDb", [] { return std::make_unique<LocalSubject>(); }},
        Param{"GrpcOnRocksDb", [] { return std::make_unique<GrpcSubject>(""); }},
        Param{"GrpcOnRocksDbWithInstance", [] { return std::make_unique<GrpcSubject>("team/x"); }},
        Param{"GrpcOnBazelRemote", [] { return std::make_unique<BazelRemoteSubject>(); }, true}),
    [](const ::testing::TestParamInfo<Param>& info) { return std::string(info.param.name); });

// The faults that the fake injects, which other tests use.

TEST(MemoryBlobStoreFaults, TheNextCallsFailAndThenNoMore) {
  MemoryBlobStore store;
  store.FailNext(2, absl::UnavailableError("down"));
  EXPECT_THAT(store.Put({{ComputeDigest("x"), "x"}}), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(store.Get({ComputeDigest("")}), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(store.FindMissing({}), IsOk());
  EXPECT_EQ(store.blobs(), 0);
  EXPECT_EQ(store.calls(), 3);
}

TEST(MemoryBlobStoreFaults, DroppedAndCorruptedBlobs) {
  MemoryBlobStore store;
  ASSERT_THAT(store.Put({{ComputeDigest("x"), "x"}, {ComputeDigest("y"), "y"}}), IsOk());
  EXPECT_TRUE(store.Drop(ComputeDigest("x")));
  EXPECT_FALSE(store.Drop(ComputeDigest("x")));
  EXPECT_TRUE(store.Corrupt(ComputeDigest("y")));
  EXPECT_FALSE(store.Corrupt(ComputeDigest("z")));
  EXPECT_THAT(store.Get({ComputeDigest("x")}), StatusIs(kNotFound));
  EXPECT_THAT(store.Get({ComputeDigest("y")}), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace kernelmill::cas
