#include "common/cas/grpc_blob_store.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "common/access/grants.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"
#include "common/rpc/retry.h"
#include "common/rpc/status.h"
#include "google/bytestream/bytestream.grpc.pb.h"

// A client of a content store that speaks REAPI v2: kernelmill-store, bazel-remote and others.
// Blobs that fit go in batches (one call for many blobs), larger ones as streams of ByteStream, one
// call each. The bound of a batch is the smaller of our own and that of the server's capabilities.
//
// Every call is retried by the policy in the options. A batch answers for each blob apart, so a
// retry repeats only the blobs that failed, and a stream resumes where it broke. Content that is
// read is hashed and compared with its digest here, whatever the server promises; content that is
// written is hashed by the server.
namespace kernelmill::cas {

namespace {

// A client that transfers single large blobs as streams; a part of GrpcBlobStore. Thread-safe.
class ByteStreamClient {
 public:
  // `options` must outlive it.
  ByteStreamClient(std::shared_ptr<grpc::Channel> channel, const GrpcBlobStoreOptions* options);

  // Uploads a blob. After a break it asks the server how much arrived and resumes there.
  absl::Status Write(const Digest& digest, absl::string_view bytes);

  // Reads a blob; resumes after a break. The content is not checked. DATA_LOSS: more or fewer bytes
  // than the digest says.
  absl::StatusOr<std::string> Read(const Digest& digest);

 private:
  using Stub = google::bytestream::ByteStream::StubInterface;

  absl::Duration Deadline(const Digest& digest) const;
  std::string Prefix() const;
  absl::StatusOr<int64_t> Arrived(const std::string& resource, int64_t size);
  absl::Status WriteFrom(const std::string& resource, const Digest& digest, absl::string_view bytes,
                         int64_t offset);
  absl::Status ReadRest(const std::string& resource, const Digest& digest, std::string* bytes);

  const GrpcBlobStoreOptions& options_;
  const std::unique_ptr<Stub> stub_;
};

namespace bytestream = ::google::bytestream;

// Bounds the memory reserved before the first byte arrives, whatever a digest claims.
constexpr int64_t kMaxReserve = 64 << 20;

// Makes a random (version 4) UUID.
std::string NewUploadId() {
  thread_local absl::BitGen random;
  std::string raw(16, '\0');
  for (char& byte : raw) byte = static_cast<char>(absl::Uniform<int>(random, 0, 256));
  raw[6] = static_cast<char>((raw[6] & 0x0f) | 0x40);
  raw[8] = static_cast<char>((raw[8] & 0x3f) | 0x80);
  const std::string hex = absl::BytesToHexString(raw);
  const absl::string_view h = hex;
  return absl::StrCat(h.substr(0, 8), "-", h.substr(8, 4), "-", h.substr(12, 4), "-",
                      h.substr(16, 4), "-", h.substr(20));
}

}  // namespace

ByteStreamClient::ByteStreamClient(std::shared_ptr<grpc::Channel> channel,
                                   const GrpcBlobStoreOptions* options)
    : options_(*options), stub_(bytestream::ByteStream::NewStub(std::move(channel))) {}

// Allows one more second for each MiB.
absl::Duration ByteStreamClient::Deadline(const Digest& digest) const {
  return options_.call_deadline + absl::Seconds(digest.size_bytes() >> 20);
}

// A store may have several instances, whose names come first in a stream's resource.
std::string ByteStreamClient::Prefix() const {
  return options_.instance_name.empty() ? "" : absl::StrCat(options_.instance_name, "/");
}

// All tries use one upload id, since the server keeps what arrived under it. From the second try
// on, the server is asked how much that is.
absl::Status ByteStreamClient::Write(const Digest& digest, absl::string_view bytes) {
  const std::string resource =
      absl::StrCat(Prefix(), "uploads/", NewUploadId(), "/blobs/", ToString(digest));
  bool broken = false;
  return rpc::Retry(
      options_.retry, absl::StrCat("uploading ", ToString(digest)),
      [&]() -> absl::Status {
        int64_t offset = 0;
        if (std::exchange(broken, true)) {
          ASSIGN_OR_RETURN(offset, Arrived(resource, digest.size_bytes()));
        }
        if (offset < 0) return absl::OkStatus();
        return WriteFrom(resource, digest, bytes, offset);
      },
      options_.sleep);
}

// Returns how many bytes of an upload the server has; -1 if the blob is complete and stored.
absl::StatusOr<int64_t> ByteStreamClient::Arrived(const std::string& resource, int64_t size) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + options_.call_deadline));
  bytestream::QueryWriteStatusRequest request;
  request.set_resource_name(resource);
  bytestream::QueryWriteStatusResponse response;
  const absl::Status status =
      rpc::FromCallStatus(stub_->QueryWriteStatus(&context, request, &response));
  // The server does not keep uploads, or lost this one in a restart: start again.
  if (absl::IsNotFound(status) || absl::IsUnimplemented(status)) return 0;
  RETURN_IF_ERROR(status);
  if (response.complete()) return -1;
  if (response.committed_size() < 0 || response.committed_size() > size) return 0;
  return response.committed_size();
}

// The first message carries the resource's name; in the others it is left out, as the protocol
// allows. ABORTED, which is retried: the server ended the stream early without taking all.
absl::Status ByteStreamClient::WriteFrom(const std::string& resource, const Digest& digest,
                                         absl::string_view bytes, int64_t offset) {
  grpc::ClientContext context;
  // A stream of a large blob may take longer than other calls.
  context.set_deadline(absl::ToChronoTime(absl::Now() + Deadline(digest)));
  bytestream::WriteResponse response;
  const auto stream = stub_->Write(&context, &response);
  bytestream::WriteRequest request;
  request.set_resource_name(resource);
  do {
    const absl::string_view piece = bytes.substr(offset, options_.stream_message_bytes);
    request.set_write_offset(offset);
    request.set_data(piece.data(), piece.size());
    offset += static_cast<int64_t>(piece.size());
    request.set_finish_write(offset == digest.size_bytes());
    // False if the server answered early, perhaps because it has the blob. Finish() returns its
    // answer.
    if (!stream->Write(request)) break;
    request.clear_resource_name();
  } while (!request.finish_write());
  stream->WritesDone();
  RETURN_IF_ERROR(rpc::FromCallStatus(stream->Finish()));
  if (response.committed_size() == digest.size_bytes()) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("the server took ", response.committed_size(), " of ",
                                         digest.size_bytes(), " bytes"));
}

// Returns the whole blob, over as many calls as it takes.
absl::StatusOr<std::string> ByteStreamClient::Read(const Digest& digest) {
  const std::string resource = absl::StrCat(Prefix(), "blobs/", ToString(digest));
  std::string bytes;
  bytes.reserve(std::min(digest.size_bytes(), kMaxReserve));
  while (true) {
    const size_t before = bytes.size();
    absl::Status status = rpc::Retry(
        options_.retry, absl::StrCat("reading ", ToString(digest)),
        [&] { return ReadRest(resource, digest, &bytes); }, options_.sleep);
    if (status.ok()) return bytes;
    // A long read over a bad line may break more often than the policy allows for one call. It
    // continues as long as it makes progress.
    if (!IsRetryable(status) || bytes.size() == before) return status;
  }
}

// Appends what is missing of `bytes`. It stops a server that sends more than the digest says, since
// the memory would have no bound.
absl::Status ByteStreamClient::ReadRest(const std::string& resource, const Digest& digest,
                                        std::string* bytes) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + Deadline(digest)));
  bytestream::ReadRequest request;
  request.set_resource_name(resource);
  request.set_read_offset(static_cast<int64_t>(bytes->size()));
  const auto stream = stub_->Read(&context, request);
  bytestream::ReadResponse piece;
  bool too_much = false;
  while (!too_much && stream->Read(&piece)) {
    too_much = piece.data().size() > digest.size_bytes() - bytes->size();
    if (!too_much) bytes->append(piece.data());
  }
  if (too_much) context.TryCancel();
  const absl::Status status = rpc::FromCallStatus(stream->Finish());
  if (too_much) return absl::DataLossError("the server sends more bytes than the digest says");
  RETURN_IF_ERROR(status);
  if (static_cast<int64_t>(bytes->size()) == digest.size_bytes()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the server sent ", bytes->size(), " bytes"));
}

namespace {

namespace reapi = ::build::bazel::remote::execution::v2;

// The size that a blob adds to a batch message besides its content: digest, status, tags.
constexpr int64_t kBytesPerBlob = 256;

// Every store has the empty blob, by REAPI; it is never sent and never asked for.
bool IsEmpty(const Digest& digest) {
  static const Digest* const kEmpty = new Digest(ComputeDigest(""));
  return SameDigest(digest, *kEmpty);
}

// Converts a call's status. gRPC uses RESOURCE_EXHAUSTED both for a message that is too large and
// for a full server; only the latter is retryable.
absl::Status FromBlobCall(const grpc::Status& status) {
  if (status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED &&
      absl::StrContains(status.error_message(), "message larger than max")) {
    return absl::FailedPreconditionError(status.error_message());
  }
  return rpc::FromCallStatus(status);
}

// Keeps the error that decides the status of a batch: the first one, or the first final one if
// there is any.
void Worsen(const absl::Status& status, absl::Status* worst) {
  if (status.ok()) return;
  if (worst->ok() || (IsRetryable(*worst) && !IsRetryable(status))) *worst = status;
}

// Divides `items` into batches of at most `max_bytes`, with allowances, and calls `send` with each.
template <typename Item, typename SizeOf>
absl::Status InBatches(const std::vector<Item>& items, int64_t max_bytes, SizeOf size_of,
                       const std::function<absl::Status(std::vector<Item>)>& send) {
  std::vector<Item> batch;
  int64_t bytes = 0;
  for (const Item& item : items) {
    const int64_t size = size_of(item) + kBytesPerBlob;
    if (!batch.empty() && bytes + size > max_bytes) {
      RETURN_IF_ERROR(send(std::exchange(batch, {})));
      bytes = 0;
    }
    batch.push_back(item);
    bytes += size;
  }
  return batch.empty() ? absl::OkStatus() : send(std::move(batch));
}

// Thread-safe: all members except max_batch_bytes_ are constant or thread-safe themselves.
class GrpcBlobStore : public BlobStore, public GrantedResults {
 public:
  GrpcBlobStore(const std::shared_ptr<grpc::Channel>& channel, GrpcBlobStoreOptions options)
      : options_(std::move(options)),
        cas_(reapi::ContentAddressableStorage::NewStub(channel)),
        action_cache_(reapi::ActionCache::NewStub(channel)),
        capabilities_(reapi::Capabilities::NewStub(channel)),
        streams_(channel, &options_) {}

  absl::StatusOr<std::vector<Digest>> FindMissing(const std::vector<Digest>& digests) override;
  absl::Status Put(const std::vector<Blob>& blobs) override;
  absl::StatusOr<std::vector<std::string>> Get(const std::vector<Digest>& digests) override;
  absl::StatusOr<ActionResult> GetActionResult(const Digest& action) override;
  absl::Status PutActionResult(const Digest& action, const ActionResult& result) override {
    return PutGrantedResult(action, result, "");
  }
  absl::Status PutGrantedResult(const Digest& action, const ActionResult& result,
                                const std::string& grant) override;

 private:
  using Contents = absl::flat_hash_map<std::string, std::string>;  // by ToString(digest)

  // Makes a unary call with a deadline, and retries it as the options say.
  template <typename Call>
  absl::Status Unary(absl::string_view what, Call call) {
    return rpc::Retry(
        options_.retry, what,
        [&]() -> absl::Status {
          grpc::ClientContext context;
          context.set_deadline(absl::ToChronoTime(absl::Now() + options_.call_deadline));
          return call(context);
        },
        options_.sleep);
  }

  absl::StatusOr<int64_t> MaxBatchBytes();
  absl::StatusOr<int64_t> AskMaxBatchBytes();
  absl::Status KeepMissing(std::vector<const Blob*>* blobs);
  absl::Status UpdateBatch(std::vector<const Blob*> pending);
  absl::Status ReadAll(const std::vector<Digest>& digests, Contents* contents);
  absl::Status ReadBatch(std::vector<const Digest*> pending, Contents* contents);
  absl::Status InlineStdout(ActionResult* result);
  absl::Status TakeAnswer(reapi::BatchReadBlobsResponse::Response& answer, Contents* contents);

  const GrpcBlobStoreOptions options_;
  const std::unique_ptr<reapi::ContentAddressableStorage::StubInterface> cas_;
  const std::unique_ptr<reapi::ActionCache::StubInterface> action_cache_;
  const std::unique_ptr<reapi::Capabilities::StubInterface> capabilities_;
  ByteStreamClient streams_;
  absl::Mutex mutex_;
  int64_t max_batch_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // 0: not read from the server yet
};

// Asks the server at first use and keeps the answer. Two threads may both ask; they get the same. A
// failure is not kept, so that the next call asks again.
absl::StatusOr<int64_t> GrpcBlobStore::MaxBatchBytes() {
  {
    absl::MutexLock lock(&mutex_);
    if (max_batch_bytes_ > 0) return max_batch_bytes_;
  }
  ASSIGN_OR_RETURN(const int64_t asked, AskMaxBatchBytes());
  absl::MutexLock lock(&mutex_);
  max_batch_bytes_ = asked;
  return asked;
}

// A server without the capabilities service gets our own bound. FAILED_PRECONDITION, which is not
// retried: the server uses another hash.
absl::StatusOr<int64_t> GrpcBlobStore::AskMaxBatchBytes() {
  reapi::GetCapabilitiesRequest request;
  request.set_instance_name(options_.instance_name);
  reapi::ServerCapabilities response;
  const absl::Status status = Unary("GetCapabilities", [&](grpc::ClientContext& context) {
    return FromBlobCall(capabilities_->GetCapabilities(&context, request, &response));
  });
  if (absl::IsUnimplemented(status)) return options_.max_batch_bytes;
  RETURN_IF_ERROR(status);
  const reapi::CacheCapabilities& cache = response.cache_capabilities();
  const auto& functions = cache.digest_functions();
  if (!functions.empty() && std::find(functions.begin(), functions.end(),
                                      reapi::DigestFunction::SHA256) == functions.end()) {
    return absl::FailedPreconditionError("the content store does not support SHA-256");
  }
  const int64_t limit = cache.max_batch_total_size_bytes();  // 0: only the message size limits it
  return limit > 0 ? std::min(limit, options_.max_batch_bytes) : options_.max_batch_bytes;
}

// Returns the missing digests in the caller's order, with its repetitions.
absl::StatusOr<std::vector<Digest>> GrpcBlobStore::FindMissing(const std::vector<Digest>& digests) {
  absl::flat_hash_set<std::string> missing;
  // Many digests are asked for in several calls, since a message has a bound.
  for (size_t begin = 0; begin < digests.size(); begin += options_.max_find_digests) {
    const size_t end = std::min(digests.size(), begin + options_.max_find_digests);
    reapi::FindMissingBlobsRequest request;
    request.set_instance_name(options_.instance_name);
    for (size_t i = begin; i < end; ++i) {
      RETURN_IF_ERROR(CheckDigest(digests[i]));
      if (!IsEmpty(digests[i])) *request.add_blob_digests() = digests[i];
    }
    if (request.blob_digests().empty()) continue;
    reapi::FindMissingBlobsResponse response;
    RETURN_IF_ERROR(Unary("FindMissingBlobs", [&](grpc::ClientContext& context) {
      return FromBlobCall(cas_->FindMissingBlobs(&context, request, &response));
    }));
    for (const Digest& digest : response.missing_blob_digests()) missing.insert(ToString(digest));
  }
  // Servers may answer in any order, and only once for a repeated digest.
  std::vector<Digest> in_order;
  for (const Digest& digest : digests) {
    if (missing.contains(ToString(digest))) in_order.push_back(digest);
  }
  return in_order;
}

// A large upload first asks what the server has: content repeats between crawls, and the question
// is cheaper than the bytes. A small one is sent at once, which saves a round trip.
absl::Status GrpcBlobStore::Put(const std::vector<Blob>& blobs) {
  std::vector<const Blob*> pending;
  absl::flat_hash_set<std::string> seen;
  int64_t bytes = 0;
  for (const Blob& blob : blobs) {
    RETURN_IF_ERROR(CheckDigest(blob.digest));
    // Checked here, since a stream sends as many bytes as the digest says. The server checks the
    // hash.
    if (static_cast<int64_t>(blob.bytes.size()) != blob.digest.size_bytes()) {
      return absl::InvalidArgumentError(
          absl::StrCat(ToString(blob.digest), ": the content has ", blob.bytes.size(), " bytes"));
    }
    if (IsEmpty(blob.digest) || !seen.insert(ToString(blob.digest)).second) continue;
    pending.push_back(&blob);
    bytes += blob.digest.size_bytes();
  }
  // Only now the server is asked, once for all blobs that are not repeated.
  if (bytes > options_.find_before_put_bytes) RETURN_IF_ERROR(KeepMissing(&pending));
  if (pending.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int64_t max_batch, MaxBatchBytes());
  std::vector<const Blob*> small;
  for (const Blob* blob : pending) {
    if (blob->digest.size_bytes() + kBytesPerBlob <= max_batch) {
      small.push_back(blob);
    } else {
      RETURN_IF_ERROR(streams_.Write(blob->digest, blob->bytes));
    }
  }
  return InBatches<const Blob*>(
      small, max_batch, [](const Blob* blob) { return blob->digest.size_bytes(); },
      [this](std::vector<const Blob*> batch) { return UpdateBatch(std::move(batch)); });
}

// Removes the blobs that the server has.
absl::Status GrpcBlobStore::KeepMissing(std::vector<const Blob*>* blobs) {
  std::vector<Digest> digests;
  for (const Blob* blob : *blobs) digests.push_back(blob->digest);
  ASSIGN_OR_RETURN(const std::vector<Digest> missing, FindMissing(digests));
  absl::flat_hash_set<std::string> names;
  for (const Digest& digest : missing) names.insert(ToString(digest));
  blobs->erase(
      std::remove_if(blobs->begin(), blobs->end(),
                     [&](const Blob* blob) { return !names.contains(ToString(blob->digest)); }),
      blobs->end());
  return absl::OkStatus();
}

// Each try sends the blobs that no earlier try stored.
absl::Status GrpcBlobStore::UpdateBatch(std::vector<const Blob*> pending) {
  return Unary("BatchUpdateBlobs", [&](grpc::ClientContext& context) -> absl::Status {
    reapi::BatchUpdateBlobsRequest request;
    request.set_instance_name(options_.instance_name);
    for (const Blob* blob : pending) {
      auto* part = request.add_requests();
      *part->mutable_digest() = blob->digest;
      part->set_data(blob->bytes);
    }
    reapi::BatchUpdateBlobsResponse response;
    RETURN_IF_ERROR(FromBlobCall(cas_->BatchUpdateBlobs(&context, request, &response)));
    absl::Status worst;
    // Servers may answer in any order, so answers are joined with blobs by their digests.
    absl::flat_hash_set<std::string> stored;
    for (const auto& answer : response.responses()) {
      const absl::Status status = rpc::FromProtoStatus(answer.status());
      if (status.ok()) stored.insert(ToString(answer.digest()));
      Worsen(Annotate(status, ToString(answer.digest())), &worst);
    }
    pending.erase(
        std::remove_if(pending.begin(), pending.end(),
                       [&](const Blob* blob) { return stored.contains(ToString(blob->digest)); }),
        pending.end());
    if (!pending.empty() && worst.ok()) {
      return absl::InternalError(
          absl::StrCat("the server did not answer for ", ToString(pending.front()->digest)));
    }
    return worst;
  });
}

// Returns the contents in the caller's order. A digest may occur several times: its content is
// copied for each use except the last, which takes it.
absl::StatusOr<std::vector<std::string>> GrpcBlobStore::Get(const std::vector<Digest>& digests) {
  Contents contents;
  contents[ToString(ComputeDigest(""))] = "";
  const absl::Status read = ReadAll(digests, &contents);
  if (absl::IsNotFound(read)) {
    // Batches and streams are not read in the caller's order; FindMissing finds the first missing
    // one.
    const absl::StatusOr<std::vector<Digest>> missing = FindMissing(digests);
    if (missing.ok() && !missing->empty()) {
      return absl::NotFoundError(absl::StrCat("no blob ", ToString(missing->front())));
    }
  }
  RETURN_IF_ERROR(read);
  absl::flat_hash_map<std::string, int> uses;
  // Counts the uses of each digest, so that its last use can take the content without a copy.
  for (const Digest& digest : digests) ++uses[ToString(digest)];
  std::vector<std::string> in_order;
  in_order.reserve(digests.size());
  for (const Digest& digest : digests) {
    const std::string name = ToString(digest);
    std::string& bytes = contents[name];
    in_order.push_back(--uses[name] == 0 ? std::move(bytes) : bytes);
  }
  return in_order;
}

// Reads the digests that are not in `contents` yet.
absl::Status GrpcBlobStore::ReadAll(const std::vector<Digest>& digests, Contents* contents) {
  std::vector<const Digest*> small;
  std::vector<const Digest*> large;
  ASSIGN_OR_RETURN(const int64_t max_batch, MaxBatchBytes());
  for (const Digest& digest : digests) {
    RETURN_IF_ERROR(CheckDigest(digest));
    if (!contents->try_emplace(ToString(digest)).second) continue;
    const bool fits = digest.size_bytes() + kBytesPerBlob <= max_batch;
    (fits ? small : large).push_back(&digest);
  }
  RETURN_IF_ERROR(InBatches<const Digest*>(
      small, max_batch, [](const Digest* digest) { return digest->size_bytes(); },
      [this, contents](std::vector<const Digest*> batch) {
        return ReadBatch(std::move(batch), contents);
      }));
  for (const Digest* digest : large) {
    ASSIGN_OR_RETURN(std::string bytes, streams_.Read(*digest));
    if (!SameDigest(ComputeDigest(bytes), *digest)) {
      return absl::DataLossError(absl::StrCat(ToString(*digest), ": the content does not match"));
    }
    (*contents)[ToString(*digest)] = std::move(bytes);
  }
  return absl::OkStatus();
}

// As UpdateBatch: each try asks for the blobs that no earlier try read.
absl::Status GrpcBlobStore::ReadBatch(std::vector<const Digest*> pending, Contents* contents) {
  return Unary("BatchReadBlobs", [&](grpc::ClientContext& context) -> absl::Status {
    reapi::BatchReadBlobsRequest request;
    request.set_instance_name(options_.instance_name);
    for (const Digest* digest : pending) *request.add_digests() = *digest;
    reapi::BatchReadBlobsResponse response;
    RETURN_IF_ERROR(FromBlobCall(cas_->BatchReadBlobs(&context, request, &response)));
    absl::flat_hash_map<std::string, absl::Status> answers;
    for (auto& answer : *response.mutable_responses()) {
      answers[ToString(answer.digest())] = TakeAnswer(answer, contents);
    }
    absl::Status worst;
    std::vector<const Digest*> left;
    for (const Digest* digest : pending) {
      const auto at = answers.find(ToString(*digest));
      if (at == answers.end()) {
        return absl::InternalError(
            absl::StrCat("the server did not answer for ", ToString(*digest)));
      }
      if (at->second.ok()) continue;
      left.push_back(digest);
      Worsen(Annotate(at->second, at->first), &worst);
    }
    pending = std::move(left);
    return worst;
  });
}

// Checks the content of one blob and stores it in `contents`.
absl::Status GrpcBlobStore::TakeAnswer(reapi::BatchReadBlobsResponse::Response& answer,
                                       Contents* contents) {
  RETURN_IF_ERROR(rpc::FromProtoStatus(answer.status()));
  if (answer.compressor() != reapi::Compressor::IDENTITY) {
    return absl::InternalError("the server compressed a blob that was requested uncompressed");
  }
  if (!SameDigest(ComputeDigest(answer.data()), answer.digest())) {
    return absl::DataLossError("the content does not match");
  }
  (*contents)[ToString(answer.digest())] = std::move(*answer.mutable_data());
  return absl::OkStatus();
}

// NOT_FOUND: the action has no result. Asks the server to put stdout, which is our StageResult,
// into the answer.
absl::StatusOr<ActionResult> GrpcBlobStore::GetActionResult(const Digest& action) {
  RETURN_IF_ERROR(CheckDigest(action));
  reapi::GetActionResultRequest request;
  request.set_instance_name(options_.instance_name);
  *request.mutable_action_digest() = action;
  request.set_inline_stdout(true);
  ActionResult result;
  RETURN_IF_ERROR(Unary("GetActionResult", [&](grpc::ClientContext& context) {
    return FromBlobCall(action_cache_->GetActionResult(&context, request, &result));
  }));
  RETURN_IF_ERROR(InlineStdout(&result));
  return result;
}

// Reads stdout from its blob if the server did not inline it: bazel-remote stores large output as a
// blob and answers with its digest.
absl::Status GrpcBlobStore::InlineStdout(ActionResult* result) {
  if (!result->has_stdout_digest() || !result->stdout_raw().empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(std::vector<std::string> stdout_bytes, Get({result->stdout_digest()}));
  result->set_stdout_raw(std::move(stdout_bytes.front()));
  return absl::OkStatus();
}

// The grant travels as metadata, so other REAPI servers ignore it.
absl::Status GrpcBlobStore::PutGrantedResult(const Digest& action, const ActionResult& result,
                                             const std::string& grant) {
  RETURN_IF_ERROR(CheckDigest(action));
  reapi::UpdateActionResultRequest request;
  request.set_instance_name(options_.instance_name);
  *request.mutable_action_digest() = action;
  *request.mutable_action_result() = result;
  return Unary("UpdateActionResult", [&](grpc::ClientContext& context) {
    if (!grant.empty()) context.AddMetadata(access::kGrantMetadata, grant);
    ActionResult stored;
    return FromBlobCall(action_cache_->UpdateActionResult(&context, request, &stored));
  });
}

}  // namespace

std::unique_ptr<BlobStore> NewGrpcBlobStore(const std::shared_ptr<grpc::Channel>& channel,
                                            GrpcBlobStoreOptions options) {
  return std::make_unique<GrpcBlobStore>(channel, std::move(options));
}

}  // namespace kernelmill::cas
