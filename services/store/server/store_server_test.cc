// Tests the unary methods of the Remote Execution API with raw stubs, where our own client hides
// the answers.

#include "services/store/server/store_server.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/cas/digest.h"
#include "common/testing/status_matchers.h"
#include "services/store/server/wire_test_base.h"

namespace kernelmill::store {
namespace {

using ::kernelmill::testing::StatusIs;
using Cas = reapi::ContentAddressableStorage::Stub;
using AcStub = reapi::ActionCache::Stub;

constexpr auto kOk = absl::StatusCode::kOk;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;

absl::StatusCode GetCode(const google::rpc::Status& status) {
  return rpc::FromProtoStatus(status).code();
}

std::string Compress(const std::string& bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1));
  return out;
}

class StoreServerTest : public WireTest {};

TEST_F(StoreServerTest, OneBadBlobFailsAloneInItsBatch) {
  reapi::BatchUpdateBlobsRequest request;
  const auto add = [&](const cas::Digest& digest, const std::string& data) {
    auto* blob = request.add_requests();
    *blob->mutable_digest() = digest;
    blob->set_data(data);
  };
  cas::Digest wrong_size = cas::ComputeDigest("content");
  wrong_size.set_size_bytes(6);
  cas::Digest malformed = cas::ComputeDigest("content");
  malformed.set_hash("xyz");
  cas::Digest negative = cas::ComputeDigest("content");
  negative.set_size_bytes(-7);
  add(cas::ComputeDigest("good"), "good");
  add(cas::ComputeDigest("other"), "content");
  add(wrong_size, "content");
  add(malformed, "content");
  add(negative, "content");
  add(cas::ComputeDigest("fine"), "fine");
  reapi::BatchUpdateBlobsResponse response;
  ASSERT_EQ(Call(*cas_, &Cas::BatchUpdateBlobs, request, &response), kOk);
  ASSERT_EQ(response.responses_size(), 6);
  const absl::StatusCode expected[] = {kOk, kInvalid, kInvalid, kInvalid, kInvalid, kOk};
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(GetCode(response.responses(i).status()), expected[i]) << i;
    EXPECT_TRUE(cas::SameDigest(response.responses(i).digest(), request.requests(i).digest()));
  }
}

TEST_F(StoreServerTest, MissingDigestsComeBackAsTheyWereAsked) {
  ASSERT_EQ(Put("here"), kOk);
  reapi::FindMissingBlobsRequest request;
  request.set_instance_name("main");
  request.set_digest_function(reapi::DigestFunction::SHA256);
  cas::Digest wrong_size = cas::ComputeDigest("here");
  wrong_size.set_size_bytes(5);
  cas::Digest of_later_version = cas::ComputeDigest("absent");
  of_later_version.GetReflection()->MutableUnknownFields(&of_later_version)->AddVarint(9, 1);
  for (const cas::Digest& digest : {cas::ComputeDigest("here"), of_later_version, wrong_size,
                                    cas::ComputeDigest(""), cas::ComputeDigest("absent")}) {
    *request.add_blob_digests() = digest;
  }
  request.GetReflection()->MutableUnknownFields(&request)->AddLengthDelimited(99, "later");
  reapi::FindMissingBlobsResponse response;
  ASSERT_EQ(Call(*cas_, &Cas::FindMissingBlobs, request, &response), kOk);
  ASSERT_EQ(response.missing_blob_digests_size(), 3);
  EXPECT_EQ(response.missing_blob_digests(0).SerializeAsString(),
            of_later_version.SerializeAsString());
  EXPECT_TRUE(cas::SameDigest(response.missing_blob_digests(1), wrong_size));
  EXPECT_TRUE(cas::SameDigest(response.missing_blob_digests(2), cas::ComputeDigest("absent")));
}

TEST_F(StoreServerTest, OneMalformedDigestFailsTheQuestion) {
  cas::Digest upper = cas::ComputeDigest("x");
  upper.set_hash(std::string(64, 'A'));
  cas::Digest negative = cas::ComputeDigest("x");
  negative.set_size_bytes(-1);
  cas::Digest none;
  for (const cas::Digest& digest : {upper, negative, none}) {
    reapi::FindMissingBlobsRequest request;
    *request.add_blob_digests() = cas::ComputeDigest("fine");
    *request.add_blob_digests() = digest;
    reapi::FindMissingBlobsResponse response;
    EXPECT_EQ(Call(*cas_, &Cas::FindMissingBlobs, request, &response), kInvalid);
  }
  reapi::FindMissingBlobsRequest request;
  request.set_digest_function(reapi::DigestFunction::SHA1);
  reapi::FindMissingBlobsResponse response;
  EXPECT_EQ(Call(*cas_, &Cas::FindMissingBlobs, request, &response), kInvalid);
}

TEST_F(StoreServerTest, ABatchReadAnswersForEachBlob) {
  ASSERT_EQ(Put("here"), kOk);
  reapi::BatchReadBlobsRequest request;
  *request.add_digests() = cas::ComputeDigest("here");
  *request.add_digests() = cas::ComputeDigest("absent");
  *request.add_digests() = cas::ComputeDigest("");
  request.add_digests()->set_hash("short");
  reapi::BatchReadBlobsResponse response;
  ASSERT_EQ(Call(*cas_, &Cas::BatchReadBlobs, request, &response), kOk);
  ASSERT_EQ(response.responses_size(), 4);
  EXPECT_EQ(response.responses(0).data(), "here");
  EXPECT_EQ(GetCode(response.responses(0).status()), kOk);
  EXPECT_EQ(GetCode(response.responses(1).status()), kNotFound);
  EXPECT_EQ(GetCode(response.responses(2).status()), kOk);
  EXPECT_EQ(GetCode(response.responses(3).status()), kInvalid);
}

TEST_F(StoreServerTest, BatchesOverTheLimitAreRefused) {
  EXPECT_EQ(Put(std::string(4 << 20, 'x')), kInvalid);
  reapi::BatchReadBlobsRequest read;
  for (int i = 0; i < 5; ++i) {
    *read.add_digests() = cas::ComputeDigest(absl::StrCat(i));
    read.mutable_digests(i)->set_size_bytes(1 << 20);
  }
  reapi::BatchReadBlobsResponse response;
  EXPECT_EQ(Call(*cas_, &Cas::BatchReadBlobs, read, &response), kInvalid);
  for (auto& digest : *read.mutable_digests()) digest.set_size_bytes(INT64_MAX);
  EXPECT_EQ(Call(*cas_, &Cas::BatchReadBlobs, read, &response), kInvalid);
}

TEST_F(StoreServerTest, ABatchAtTheAdvertisedLimitIsTaken) {
  reapi::ServerCapabilities capabilities;
  ASSERT_EQ(Call(*capabilities_, &reapi::Capabilities::Stub::GetCapabilities,
                 reapi::GetCapabilitiesRequest(), &capabilities),
            kOk);
  const int64_t limit = capabilities.cache_capabilities().max_batch_total_size_bytes();
  EXPECT_LT(limit, 4 << 20);
  EXPECT_EQ(Put(std::string(limit, 'x')), kOk);
  EXPECT_EQ(Put(std::string(limit + 1, 'x')), kInvalid);
}

TEST_F(StoreServerTest, CapabilitiesSayWhatTheStoreDoes) {
  reapi::ServerCapabilities capabilities;
  ASSERT_EQ(Call(*capabilities_, &reapi::Capabilities::Stub::GetCapabilities,
                 reapi::GetCapabilitiesRequest(), &capabilities),
            kOk);
  const reapi::CacheCapabilities& cache = capabilities.cache_capabilities();
  ASSERT_EQ(cache.digest_functions_size(), 1);
  EXPECT_EQ(cache.digest_functions(0), reapi::DigestFunction::SHA256);
  EXPECT_TRUE(cache.action_cache_update_capabilities().update_enabled());
  EXPECT_GT(cache.max_cas_blob_size_bytes(), 0);
  EXPECT_EQ(capabilities.high_api_version().major(), 2);
  reapi::GetCapabilitiesRequest request;
  request.set_instance_name("uploads");
  EXPECT_EQ(
      Call(*capabilities_, &reapi::Capabilities::Stub::GetCapabilities, request, &capabilities),
      kInvalid);
}

TEST_F(StoreServerTest, CompressedBlobsInABatch) {
  const std::string content(100'000, 'k');
  reapi::BatchUpdateBlobsRequest request;
  const auto add = [&](const std::string& of, const std::string& data,
                       reapi::Compressor::Value compressor) {
    auto* blob = request.add_requests();
    *blob->mutable_digest() = cas::ComputeDigest(of);
    blob->set_data(data);
    blob->set_compressor(compressor);
  };
  add(content, Compress(content), reapi::Compressor::ZSTD);
  add("bomb", Compress(std::string(64 << 20, '\0')), reapi::Compressor::ZSTD);
  add("no zstd", "no zstd", reapi::Compressor::ZSTD);
  add("deflated", "deflated", reapi::Compressor::DEFLATE);
  reapi::BatchUpdateBlobsResponse response;
  ASSERT_EQ(Call(*cas_, &Cas::BatchUpdateBlobs, request, &response), kOk);
  EXPECT_EQ(GetCode(response.responses(0).status()), kOk);
  for (int i = 1; i < 4; ++i) EXPECT_EQ(GetCode(response.responses(i).status()), kInvalid) << i;
  std::string bytes;
  EXPECT_EQ(Read(BlobName(content), 0, 0, &bytes), kOk);
  EXPECT_EQ(bytes, content);
}

TEST_F(StoreServerTest, FindMissingTakesAHundredThousandDigestsAndRefusesMalformedOnes) {
  reapi::FindMissingBlobsRequest request;
  for (int i = 0; i < 100'000; ++i) {
    *request.add_blob_digests() = cas::ComputeDigest(absl::StrCat("blob ", i));
  }
  *request.add_blob_digests() = cas::ComputeDigest("");
  reapi::FindMissingBlobsResponse response;
  ASSERT_EQ(Call(*cas_, &Cas::FindMissingBlobs, request, &response), kOk);
  EXPECT_EQ(response.missing_blob_digests_size(), 100'000);  // the empty blob always exists
  request.mutable_blob_digests(5)->set_size_bytes(-1);
  EXPECT_EQ(Call(*cas_, &Cas::FindMissingBlobs, request, &response), kInvalid);
}

TEST_F(StoreServerTest, ARequestOverTheMessageLimitIsRefused) {
  reapi::FindMissingBlobsRequest request;
  const cas::Digest digest = cas::ComputeDigest("x");
  for (int i = 0; i < 1'000'000; ++i) *request.add_blob_digests() = digest;
  reapi::FindMissingBlobsResponse response;
  EXPECT_EQ(Call(*cas_, &Cas::FindMissingBlobs, request, &response),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(StoreServerTest, OtherDigestFunctionsAndBadInstancesAreRefused) {
  reapi::FindMissingBlobsRequest request;
  reapi::FindMissingBlobsResponse response;
  request.set_digest_function(reapi::DigestFunction::SHA256);
  EXPECT_EQ(Call(*cas_, &Cas::FindMissingBlobs, request, &response), kOk);
  request.set_digest_function(reapi::DigestFunction::BLAKE3);
  EXPECT_EQ(Call(*cas_, &Cas::FindMissingBlobs, request, &response), kInvalid);
  request.clear_digest_function();
  request.set_instance_name("a/blobs");
  EXPECT_EQ(Call(*cas_, &Cas::FindMissingBlobs, request, &response), kInvalid);
}

TEST_F(StoreServerTest, AnActionResultHoldsWhileItsBlobsAreThere) {
  reapi::UpdateActionResultRequest update;
  *update.mutable_action_digest() = cas::ComputeDigest("action");
  *update.mutable_action_result()->add_output_files()->mutable_digest() = cas::ComputeDigest("out");
  *update.mutable_action_result()->mutable_stderr_digest() = cas::ComputeDigest("");
  reapi::ActionResult result;
  ASSERT_EQ(Call(*action_cache_, &AcStub::UpdateActionResult, update, &result), kOk);
  EXPECT_EQ(result.output_files_size(), 1);
  reapi::GetActionResultRequest get;
  *get.mutable_action_digest() = cas::ComputeDigest("action");
  EXPECT_EQ(Call(*action_cache_, &AcStub::GetActionResult, get, &result), kNotFound);
  ASSERT_EQ(Put("out"), kOk);
  EXPECT_EQ(Call(*action_cache_, &AcStub::GetActionResult, get, &result), kOk);
  get.set_instance_name("another");
  EXPECT_EQ(Call(*action_cache_, &AcStub::GetActionResult, get, &result), kNotFound);
  update.mutable_action_result()->mutable_stdout_digest()->set_hash("bad");
  EXPECT_EQ(Call(*action_cache_, &AcStub::UpdateActionResult, update, &result), kInvalid);
}

TEST_F(StoreServerTest, ASecondServerOnTheSameDirectoryIsRefused) {
  EXPECT_THAT(StoreServer::Open({.data_dir = dir_.path() + "/data"}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(StoreServerTest, LimitsThatContradictEachOtherAreRefused) {
  TempDir dir = *TempDir::Create();
  EXPECT_THAT(StoreServer::Open({.data_dir = ""}), StatusIs(kInvalid));
  EXPECT_THAT(StoreServer::Open({.data_dir = dir.path(), .limits = {.max_blob_bytes = 10}}),
              StatusIs(kInvalid));
  EXPECT_THAT(StoreServer::Open({.data_dir = dir.path(), .limits = {.max_batch_bytes = 8 << 20}}),
              StatusIs(kInvalid));
}

}  // namespace
}  // namespace kernelmill::store
