#include "services/deduplicator/server/deduplicator_service.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "common/base/file.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/dsl/names.h"
#include "common/manifest/walk.h"
#include "common/rpc/server.h"
#include "common/rpc/status.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/source.pb.h"
#include "kernelmill/v1/stages.grpc.pb.h"

namespace kernelmill::deduplicator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;

// A store whose reads wait until they are let go, once they are held.
class HeldStore final : public cas::MemoryBlobStore {
 public:
  absl::StatusOr<std::vector<std::string>> Get(const std::vector<cas::Digest>& digests) override {
    if (hold != nullptr) {
      if (!reading.HasBeenNotified()) reading.Notify();
      hold->WaitForNotification();
      ++reads;
    }
    return cas::MemoryBlobStore::Get(digests);
  }

  absl::Notification* hold = nullptr;
  absl::Notification reading;
  int reads = 0;
};

// Over a socket, where a client that goes away is noticed.
class DeduplicatorServiceTest : public ::testing::Test {
 protected:
  DeduplicatorServiceTest() : dir_(*TempDir::Create()) {
    service_ = NewDeduplicatorService(store_);
    const std::string address = absl::StrCat("unix:", dir_.path(), "/service");
    server_ = *rpc::Server::Start({address}, {service_.get()});
    stub_ = v1::Deduplicator::NewStub(rpc::Connect(address));
  }

  absl::Status Call(const v1::DeduplicateRequest& request, v1::DeduplicateResponse* response) {
    grpc::ClientContext context;
    return rpc::FromGrpcStatus(stub_->Deduplicate(&context, request, response));
  }

  TempDir dir_;
  HeldStore store_;
  std::unique_ptr<grpc::Service> service_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<v1::Deduplicator::Stub> stub_;
};

TEST_F(DeduplicatorServiceTest, DecidesOnEveryText) {
  v1::DeduplicateRequest request;
  request.add_sources("def f(x): return x");
  request.add_sources(std::string("def \xff\0 g", 9));
  request.add_sources("def f(x): return x");
  v1::DeduplicateResponse response;
  ASSERT_THAT(Call(request, &response), IsOk());
  ASSERT_EQ(response.clusters().decisions_size(), 3);
  EXPECT_EQ(response.clusters().decisions(1).fate(), v1::FATE_KEPT);
  EXPECT_EQ(response.clusters().decisions(2).fate(), v1::FATE_DUPLICATE);
  EXPECT_EQ(response.clusters().decisions(2).leader(), 0u);
}

TEST_F(DeduplicatorServiceTest, AWrongThresholdIsRefused) {
  v1::DeduplicateRequest request;
  request.set_threshold(2);
  v1::DeduplicateResponse response;
  EXPECT_THAT(Call(request, &response), StatusIs(absl::StatusCode::kInvalidArgument));
}

std::string Text(int first, int count) {
  std::string text = "def f(p):\n";
  for (int i = first; i < first + count; ++i) absl::StrAppend(&text, "    x", i, " = p[", i, "]\n");
  return text;
}

// A dataset of a source in three shards, the second empty, and a holdout:
//   0  Text(0, 40)    kept
//   1  Text(0, 42)    near duplicate of 0
//   2  Text(500, 40)  contaminated by 3
//   3  Text(500, 40)  the holdout's
class SimilarServiceTest : public DeduplicatorServiceTest {
 protected:
  SimilarServiceTest() {
    manifest_.set_schema(manifest::kManifestSchema);
    AddSource("src");
    AddShard({Text(0, 40)});
    AddShard({});
    AddShard({Text(0, 42), Text(500, 40)});
    AddSource("bench")->mutable_source()->set_role(v1::SOURCE_ROLE_HOLDOUT);
    AddShard({Text(500, 40)});
    AddDecision(v1::FATE_KEPT, "", 0, 0);
    AddDecision(v1::FATE_DUPLICATE, "near", 0, 0.9);
    AddDecision(v1::FATE_CONTAMINATED, "exact", 3, 1);
    AddDecision(v1::FATE_HOLDOUT, "", 3, 0);
    PutManifest();
  }

  void PutManifest() {
    *manifest_.mutable_clusters() = *cas::PutMessage(store_, clusters_);
    *request_.mutable_dataset() = *cas::PutMessage(store_, manifest_);
  }

  v1::ManifestSource* AddSource(const std::string& name) {
    v1::SourceTree tree;
    tree.set_repository(name);
    tree.set_commit(name + "-commit");
    v1::ManifestSource* source = manifest_.add_sources();
    *source->mutable_tree() = *cas::PutMessage(store_, tree);
    return source;
  }

  void AddShard(const std::vector<std::string>& sources) {
    v1::KernelShard shard;
    v1::VerdictShard verdicts;
    for (const std::string& text : sources) {
      v1::Kernel* kernel = shard.add_kernels();
      kernel->set_source(text);
      kernel->set_id(absl::StrCat("id-", kernels_));
      kernel->set_path(absl::StrCat(kernels_, ".py"));
      kernel->set_qualname(absl::StrCat("f", kernels_++));
      kernel->set_first_line(3);
      kernel->set_last_line(9);
      kernel->set_dsl(dsl::kTriton);
      verdicts.add_verdicts()->mutable_license()->set_expression("MIT");
    }
    v1::ManifestSource* source = manifest_.mutable_sources(manifest_.sources_size() - 1);
    *source->add_kernels() = *cas::PutMessage(store_, shard);
    if (source->source().role() == v1::SOURCE_ROLE_HOLDOUT) return;
    *source->add_verdicts() = *cas::PutMessage(store_, verdicts);
  }

  void AddDecision(v1::Fate fate, const std::string& reason, uint32_t leader, double similarity) {
    v1::Decision* decision = clusters_.add_decisions();
    decision->set_fate(fate);
    decision->set_reason(reason);
    decision->set_leader(leader);
    decision->set_similarity(similarity);
  }

  void Ask(const std::string& text) { request_.add_kernels()->set_source(text); }

  absl::Status Call() {
    grpc::ClientContext context;
    return rpc::FromGrpcStatus(stub_->Similar(&context, request_, &response_));
  }

  int kernels_ = 0;
  v1::DatasetManifest manifest_;
  v1::Clusters clusters_;
  v1::SimilarRequest request_;
  v1::SimilarResponse response_;
};

TEST_F(SimilarServiceTest, NamesWhatIsAlikeAndWhatBecameOfIt) {
  Ask(Text(0, 42));
  Ask(Text(500, 40));
  Ask("def quite_different(): pass");
  ASSERT_THAT(Call(), IsOk());
  EXPECT_EQ(response_.compared(), 4);
  ASSERT_EQ(response_.results_size(), 3);

  const auto& copies = response_.results(0).kernels();
  ASSERT_GE(copies.size(), 2);
  EXPECT_EQ(copies[0].kind(), "exact");
  EXPECT_EQ(copies[0].similarity(), 1);
  EXPECT_EQ(copies[0].place().id(), "id-1");
  EXPECT_EQ(copies[0].place().repository(), "src");
  EXPECT_EQ(copies[0].place().commit(), "src-commit");
  EXPECT_EQ(copies[0].place().path(), "1.py");
  EXPECT_EQ(copies[0].place().first_line(), 3);
  EXPECT_EQ(copies[0].place().last_line(), 9);
  EXPECT_EQ(copies[0].place().qualname(), "f1");
  EXPECT_EQ(copies[0].license(), "MIT");
  EXPECT_EQ(copies[0].fate(), v1::FATE_DUPLICATE);
  EXPECT_EQ(copies[0].reason(), "near");
  EXPECT_EQ(copies[0].of().id(), "id-0");
  EXPECT_EQ(copies[0].of_similarity(), 0.9);

  const auto& held = response_.results(1).kernels();
  ASSERT_GE(held.size(), 2);
  EXPECT_EQ(held[0].place().id(), "id-2");
  EXPECT_EQ(held[0].fate(), v1::FATE_CONTAMINATED);
  EXPECT_EQ(held[0].of().repository(), "bench");
  EXPECT_EQ(held[1].place().id(), "id-3");
  EXPECT_EQ(held[1].fate(), v1::FATE_HOLDOUT);
  EXPECT_EQ(held[1].license(), "");
  EXPECT_FALSE(held[1].has_of());

  EXPECT_EQ(response_.results(2).kernels_size(), 0);
}

TEST_F(SimilarServiceTest, WhatADuplicateRepeatsIsNamedEvenIfItIsNotListed) {
  Ask(Text(0, 42));
  request_.set_top(1);
  ASSERT_THAT(Call(), IsOk());
  ASSERT_EQ(response_.results(0).kernels_size(), 1);
  EXPECT_EQ(response_.results(0).kernels(0).of().path(), "0.py");
}

TEST_F(SimilarServiceTest, WrongRequestsAreToldFromMissingDatasets) {
  request_.set_threshold(2);
  EXPECT_THAT(Call(), StatusIs(absl::StatusCode::kInvalidArgument));
  request_.set_threshold(0);
  *request_.mutable_dataset() = manifest_.clusters();
  EXPECT_THAT(Call(), StatusIs(absl::StatusCode::kInvalidArgument));
  *request_.mutable_dataset() = cas::ComputeDigest("another");
  EXPECT_THAT(Call(), StatusIs(absl::StatusCode::kNotFound));
  request_.clear_dataset();
  EXPECT_THAT(Call(), StatusIs(absl::StatusCode::kInvalidArgument));
  manifest_.set_schema(manifest::kManifestSchema + 1);
  PutManifest();
  EXPECT_THAT(Call(), StatusIs(absl::StatusCode::kUnimplemented));
}

TEST_F(SimilarServiceTest, ADatasetThatIsNotWholeIsNamed) {
  Ask("x");
  ASSERT_TRUE(store_.Drop(manifest_.sources(0).kernels(2)));
  const absl::Status status = Call();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(status.message()), HasSubstr(cas::ToString(request_.dataset())));
}

TEST_F(SimilarServiceTest, DecisionsThatDoNotFitTheKernelsAreDamage) {
  Ask(Text(0, 42));
  clusters_.mutable_decisions(1)->set_leader(4);
  PutManifest();
  EXPECT_THAT(Call(), StatusIs(absl::StatusCode::kDataLoss));
  clusters_.mutable_decisions()->RemoveLast();
  PutManifest();
  EXPECT_THAT(Call(), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(SimilarServiceTest, ADeadlineEndsTheSearch) {
  Ask("x");
  absl::Notification go;
  store_.hold = &go;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
  EXPECT_THAT(rpc::FromGrpcStatus(stub_->Similar(&context, request_, &response_)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_TRUE(store_.reading.HasBeenNotified());
  absl::SleepFor(absl::Milliseconds(500));  // the server has a clock of its own for it
  go.Notify();
  server_->Shutdown(absl::InfiniteDuration());
  // The manifest, the clusters, a tree and a shard; nothing more, since the caller is gone.
  EXPECT_LE(store_.reads, 4);
}

}  // namespace
}  // namespace kernelmill::deduplicator
