#ifndef KERNELMILL_COMMON_CAS_BLOB_STORE_H_
#define KERNELMILL_COMMON_CAS_BLOB_STORE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/cas/digest.h"

namespace kernelmill::cas {

using ActionResult = ::build::bazel::remote::execution::v2::ActionResult;

struct Blob {
  Digest digest;
  std::string bytes;
};

// A content store and action cache, as its clients see it. Implementations are thread-safe;
// tests/contract runs one suite on all of them.
class BlobStore {
 public:
  virtual ~BlobStore() = default;

  // Returns the digests that the store does not have, in order.
  virtual absl::StatusOr<std::vector<Digest>> FindMissing(const std::vector<Digest>& digests) = 0;

  // Stores all blobs. INVALID_ARGUMENT: a digest does not match. RESOURCE_EXHAUSTED: the store is
  // full.
  virtual absl::Status Put(const std::vector<Blob>& blobs) = 0;

  // Returns the content of every digest, in order, after checking it. NOT_FOUND: a blob is missing;
  // the message names the first. DATA_LOSS: the store returned different bytes.
  virtual absl::StatusOr<std::vector<std::string>> Get(const std::vector<Digest>& digests) = 0;

  // Returns the result of an action, with the stdout_raw that was put. NOT_FOUND: no result, or a
  // blob that it names does not exist.
  virtual absl::StatusOr<ActionResult> GetActionResult(const Digest& action) = 0;
  virtual absl::Status PutActionResult(const Digest& action, const ActionResult& result) = 0;
};

// Stores one message in its deterministic serialization.
template <typename Message>
absl::StatusOr<Digest> PutMessage(BlobStore& store, const Message& message) {
  std::string bytes = SerializeDeterministically(message);
  Digest digest = ComputeDigest(bytes);
  RETURN_IF_ERROR(store.Put({{digest, std::move(bytes)}}));
  return digest;
}

// Parses a message into an existing one, whose memory it reuses. DATA_LOSS: the blob is not such a
// message.
template <typename Message>
absl::Status ParseInto(const std::string& bytes, const Digest& digest, Message* message) {
  if (message->ParseFromString(bytes)) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(ToString(digest), " is not a ", Message::descriptor()->full_name()));
}

template <typename Message>
absl::StatusOr<Message> ParseMessage(const std::string& bytes, const Digest& digest) {
  Message message;
  RETURN_IF_ERROR(ParseInto(bytes, digest, &message));
  return message;
}

template <typename Message>
absl::StatusOr<Message> GetMessage(BlobStore& store, const Digest& digest) {
  ASSIGN_OR_RETURN(std::vector<std::string> blobs, store.Get({digest}));
  return ParseMessage<Message>(blobs.front(), digest);
}

// A second interface of a BlobStore whose server may require a grant (common/access/grants.h) for
// each result; NewGrpcBlobStore's store has it.
class GrantedResults {
 public:
  virtual ~GrantedResults() = default;
  // Stores a result with a grant; empty: no grant. PERMISSION_DENIED: the server does not accept
  // it.
  virtual absl::Status PutGrantedResult(const Digest& action, const ActionResult& result,
                                        const std::string& grant) = 0;
};

}  // namespace kernelmill::cas

#endif  // KERNELMILL_COMMON_CAS_BLOB_STORE_H_
