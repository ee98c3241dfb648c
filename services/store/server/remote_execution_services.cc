// The services of the Remote Execution API: ContentAddressableStorage, ActionCache, Capabilities.

#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/method_handler.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "common/access/authorizer.h"
#include "common/access/grants.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/cas/result_origin.h"
#include "common/rpc/status.h"
#include "services/store/adapters/zstd/zstd_codec.h"
#include "services/store/core/blob_id.h"
#include "services/store/core/content_store.h"
#include "services/store/core/resource_name.h"
#include "services/store/server/digest_question.h"
#include "services/store/server/services.h"
#include "services/store/server/store_metrics.h"

namespace kernelmill::store {
namespace {

namespace reapi = ::build::bazel::remote::execution::v2;
using UpdateRequest = reapi::BatchUpdateBlobsRequest::Request;

// Bounds the answers of one batch, since empty blobs do not count for its size.
constexpr int kMaxBlobsPerBatch = 1 << 16;

// Checks the fields that every request has. INVALID_ARGUMENT: the instance name is malformed, or
// the digest function is not SHA-256 (UNKNOWN: implied by the hash's length).
template <typename Request>
absl::Status CheckRequest(const Request& request) {
  if (request.digest_function() != reapi::DigestFunction::UNKNOWN &&
      request.digest_function() != reapi::DigestFunction::SHA256) {
    return absl::InvalidArgumentError("digest_function: must be SHA256");
  }
  return CheckInstanceName(request.instance_name());
}

absl::Status CheckCount(int blobs) {
  if (blobs <= kMaxBlobsPerBatch) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the batch has ", blobs, " blobs, the limit is ", kMaxBlobsPerBatch));
}

// Returns the content of one blob of a batch, decompressed into `bytes` if it is compressed.
// Decompression stops when the content exceeds the digest's size.
absl::StatusOr<absl::string_view> Content(const UpdateRequest& blob, std::string* bytes) {
  if (blob.compressor() == reapi::Compressor::IDENTITY) return blob.data();
  if (blob.compressor() != reapi::Compressor::ZSTD) {
    return absl::InvalidArgumentError("compressor: must be IDENTITY or ZSTD");
  }
  const std::unique_ptr<Decoder> decoder = NewZstdDecoder();
  const size_t size = blob.digest().size_bytes();
  RETURN_IF_ERROR(decoder->Decode(blob.data(), [&](absl::string_view piece) -> absl::Status {
    if (piece.size() > size - bytes->size()) {
      return absl::InvalidArgumentError("the content is larger than its digest says");
    }
    bytes->append(piece.data(), piece.size());
    return absl::OkStatus();
  }));
  RETURN_IF_ERROR(decoder->Finish());
  return *bytes;
}

// ContentAddressableStorage. A batch answers with a status for each blob; an error of the whole
// call means a malformed request. A read or write that is too large for a batch goes through
// ByteStream.
class CasService final : public grpc::Service {
 public:
  explicit CasService(ContentStore* store) : store_(store) {
    using google::protobuf::MessageLite;
    using grpc::internal::RpcMethodHandler;
    Add("/build.bazel.remote.execution.v2.ContentAddressableStorage/FindMissingBlobs",
        new RpcMethodHandler<CasService, grpc::ByteBuffer, grpc::ByteBuffer>(
            std::mem_fn(&CasService::FindMissingBlobs), this));
    Add("/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs",
        new RpcMethodHandler<CasService, reapi::BatchUpdateBlobsRequest,
                             reapi::BatchUpdateBlobsResponse, MessageLite, MessageLite>(
            std::mem_fn(&CasService::BatchUpdateBlobs), this));
    Add("/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchReadBlobs",
        new RpcMethodHandler<CasService, reapi::BatchReadBlobsRequest,
                             reapi::BatchReadBlobsResponse, MessageLite, MessageLite>(
            std::mem_fn(&CasService::BatchReadBlobs), this));
  }

 private:
  // Takes over the handler. gRPC keeps the pointer to the path.
  void Add(const char* path, grpc::internal::MethodHandler* handler) {
    AddMethod(
        new grpc::internal::RpcServiceMethod(path, grpc::internal::RpcMethod::NORMAL_RPC, handler));
  }

  grpc::Status FindMissingBlobs(grpc::ServerContext*, const grpc::ByteBuffer* request,
                                grpc::ByteBuffer* response) {
    return Answer([&]() -> absl::Status {
      ASSIGN_OR_RETURN(const DigestQuestion question, DigestQuestion::Parse(*request));
      RETURN_IF_ERROR(CheckRequest(question.rest()));
      ASSIGN_OR_RETURN(const std::vector<bool> there, store_->Contains(question.ids()));
      *response = question.MakeResponse(there);
      return absl::OkStatus();
    });
  }

  // Compressed blobs count with the size of their content, which bounds what Update decompresses.
  grpc::Status BatchUpdateBlobs(grpc::ServerContext*, const reapi::BatchUpdateBlobsRequest* request,
                                reapi::BatchUpdateBlobsResponse* response) {
    return Answer([&]() -> absl::Status {
      RETURN_IF_ERROR(CheckRequest(*request));
      RETURN_IF_ERROR(CheckCount(request->requests_size()));
      std::vector<int64_t> sizes;
      for (const UpdateRequest& blob : request->requests()) {
        sizes.push_back(blob.data().size());
        CountBytesIn(sizes.back());
        if (blob.compressor() != reapi::Compressor::IDENTITY) {
          sizes.back() = blob.digest().size_bytes();
        }
      }
      RETURN_IF_ERROR(store_->CheckBatch(sizes));
      Update(*request, response);
      return absl::OkStatus();
    });
  }

  grpc::Status BatchReadBlobs(grpc::ServerContext*, const reapi::BatchReadBlobsRequest* request,
                              reapi::BatchReadBlobsResponse* response) {
    return Answer([&]() -> absl::Status {
      RETURN_IF_ERROR(CheckRequest(*request));
      RETURN_IF_ERROR(CheckCount(request->digests_size()));
      std::vector<int64_t> sizes;
      for (const cas::Digest& digest : request->digests()) sizes.push_back(digest.size_bytes());
      RETURN_IF_ERROR(store_->CheckBatch(sizes));
      for (const cas::Digest& digest : request->digests()) ReadOne(digest, response);
      return absl::OkStatus();
    });
  }

  // Answers with a status for each blob, in the request's order. All well-formed blobs share one
  // write.
  void Update(const reapi::BatchUpdateBlobsRequest& request,
              reapi::BatchUpdateBlobsResponse* response) {
    std::vector<std::string> decompressed(request.requests_size());
    std::vector<NewBlob> blobs;
    std::vector<int> places;
    for (int i = 0; i < request.requests_size(); ++i) {
      const UpdateRequest& blob = request.requests(i);
      auto* answer = response->add_responses();
      *answer->mutable_digest() = blob.digest();
      const absl::StatusOr<BlobId> id = ToBlobId(blob.digest());
      const absl::StatusOr<absl::string_view> content =
          id.ok() ? Content(blob, &decompressed[i]) : id.status();
      *answer->mutable_status() = rpc::ToProtoStatus(content.status());
      update_errors_.Count(content.status());
      if (!content.ok()) continue;
      blobs.push_back({*id, *content});
      places.push_back(i);
    }
    const std::vector<absl::Status> statuses = store_->Put(blobs);
    for (size_t i = 0; i < statuses.size(); ++i) {
      *response->mutable_responses(places[i])->mutable_status() = rpc::ToProtoStatus(statuses[i]);
      update_errors_.Count(statuses[i]);
    }
  }

  void ReadOne(const cas::Digest& digest, reapi::BatchReadBlobsResponse* response) {
    auto* answer = response->add_responses();
    *answer->mutable_digest() = digest;
    const absl::StatusOr<BlobId> id = ToBlobId(digest);
    absl::StatusOr<std::string> bytes = id.ok() ? store_->Get(*id) : id.status();
    *answer->mutable_status() = rpc::ToProtoStatus(bytes.status());
    read_errors_.Count(bytes.status());
    if (!bytes.ok()) return;
    CountBytesOut(bytes->size());
    answer->set_data(*std::move(bytes));
  }

  ContentStore* const store_;
  BlobErrors update_errors_{"BatchUpdateBlobs"};
  BlobErrors read_errors_{"BatchReadBlobs"};
};

// The ActionCache service. It ignores the request's hints (inlining, priority).
class ActionCacheService final : public reapi::ActionCache::Service {
 public:
  ActionCacheService(ContentStore* store, std::shared_ptr<access::GrantKey> grants)
      : store_(store), grants_(std::move(grants)) {}

  grpc::Status GetActionResult(grpc::ServerContext*, const reapi::GetActionResultRequest* request,
                               reapi::ActionResult* response) override {
    return Answer([&]() -> absl::Status {
      RETURN_IF_ERROR(CheckRequest(*request));
      ASSIGN_OR_RETURN(const BlobId action, ToBlobId(request->action_digest()));
      ASSIGN_OR_RETURN(*response, store_->GetActionResult(request->instance_name(), action));
      return absl::OkStatus();
    });
  }

  grpc::Status UpdateActionResult(grpc::ServerContext* context,
                                  const reapi::UpdateActionResultRequest* request,
                                  reapi::ActionResult* response) override {
    return Answer([&]() -> absl::Status {
      RETURN_IF_ERROR(CheckRequest(*request));
      ASSIGN_OR_RETURN(const BlobId action, ToBlobId(request->action_digest()));
      RETURN_IF_ERROR(CheckGrant(*context, *request));
      *response = request->action_result();
      // The authenticated caller's name replaces the one in the result: a worker cannot write under
      // another worker's name.
      const access::Caller caller = access::GetCaller(*context);
      if (caller.role.has_value()) cas::SetWorker(caller.name, response);
      RETURN_IF_ERROR(store_->PutActionResult(request->instance_name(), action, *response));
      return absl::OkStatus();
    });
  }

 private:
  // Checks that the caller may write this result, if the store requires grants.
  absl::Status CheckGrant(const grpc::ServerContext& context,
                          const reapi::UpdateActionResultRequest& request) const {
    if (grants_ == nullptr) return absl::OkStatus();
    const auto found = context.client_metadata().find(access::kGrantMetadata);
    const bool any = found != context.client_metadata().end();
    const cas::ResultOrigin origin = cas::ReadOrigin(request.action_result());
    const access::ResultWrite write = {.action = cas::ToString(request.action_digest()),
                                       .stage = origin.stage,
                                       .version = origin.version,
                                       .caller = access::CallerName(context)};
    absl::Status status =
        grants_->Check(any ? absl::string_view(found->second.data(), found->second.size()) : "",
                       write, absl::Now());
    if (status.ok()) return status;
    const std::string by = write.caller.empty() ? context.peer() : write.caller;
    LogWarning("refused an action result",
               {{"action", write.action}, {"caller", by}, {"why", status.message()}});
    return Annotate(status, absl::StrCat("the result of ", write.action, " by ", by));
  }

  ContentStore* const store_;
  const std::shared_ptr<access::GrantKey> grants_;
};

// Tells clients the digest function, the compressors, the limits and the supported versions of the
// API.
class CapabilitiesService final : public reapi::Capabilities::Service {
 public:
  explicit CapabilitiesService(const ContentStore* store) : store_(store) {}

  grpc::Status GetCapabilities(grpc::ServerContext*, const reapi::GetCapabilitiesRequest* request,
                               reapi::ServerCapabilities* response) override {
    return Answer([&]() -> absl::Status {
      RETURN_IF_ERROR(CheckInstanceName(request->instance_name()));
      reapi::CacheCapabilities& cache = *response->mutable_cache_capabilities();
      cache.add_digest_functions(reapi::DigestFunction::SHA256);
      cache.mutable_action_cache_update_capabilities()->set_update_enabled(true);
      cache.set_max_batch_total_size_bytes(store_->limits().max_batch_bytes);
      cache.set_max_cas_blob_size_bytes(store_->limits().max_blob_bytes);
      cache.set_symlink_absolute_path_strategy(reapi::SymlinkAbsolutePathStrategy::ALLOWED);
      cache.add_supported_compressors(reapi::Compressor::ZSTD);
      cache.add_supported_batch_update_compressors(reapi::Compressor::ZSTD);
      response->mutable_low_api_version()->set_major(2);
      response->mutable_high_api_version()->set_major(2);
      response->mutable_high_api_version()->set_minor(3);
      return absl::OkStatus();
    });
  }

 private:
  const ContentStore* const store_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewCasService(ContentStore* store) {
  return std::make_unique<CasService>(store);
}

std::unique_ptr<grpc::Service> NewActionCacheService(ContentStore* store,
                                                     std::shared_ptr<access::GrantKey> grants) {
  return std::make_unique<ActionCacheService>(store, std::move(grants));
}

std::unique_ptr<grpc::Service> NewCapabilitiesService(const ContentStore* store) {
  return std::make_unique<CapabilitiesService>(store);
}

}  // namespace kernelmill::store
