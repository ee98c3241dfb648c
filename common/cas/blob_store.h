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

// A content store and action cache, as the workers see one. Implementations are thread-safe;
// contract tests in tests/contract run on all of them.
class BlobStore {
 public:
  virtual ~BlobStore() = default;

  // Those of `digests` that the store does not hold, in their order.
  virtual absl::StatusOr<std::vector<Digest>> FindMissing(const std::vector<Digest>& digests) = 0;

  // Stores every blob, or fails. INVALID_ARGUMENT: a digest does not match; RESOURCE_EXHAUSTED: no
  // room.
  virtual absl::Status Put(const std::vector<Blob>& blobs) = 0;

  // The content of every digest, in their order, checked against it. NOT_FOUND names the first
  // missing one; DATA_LOSS: the store returned other bytes.
  virtual absl::StatusOr<std::vector<std::string>> Get(const std::vector<Digest>& digests) = 0;

  // The result of an action, its stdout_raw as it was put. NOT_FOUND: none, or a blob it names is
  // gone.
  virtual absl::StatusOr<ActionResult> GetActionResult(const Digest& action) = 0;
  virtual absl::Status PutActionResult(const Digest& action, const ActionResult& result) = 0;
};

// Stores one message in its deterministic form.
template <typename Message>
absl::StatusOr<Digest> PutMessage(BlobStore& store, const Message& message) {
  std::string bytes = SerializeDeterministically(message);
  Digest digest = DigestOf(bytes);
  RETURN_IF_ERROR(store.Put({{digest, std::move(bytes)}}));
  return digest;
}

// Parses one message in the place of another, whose memory it takes over. DATA_LOSS: the blob is
// not such a message.
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

}  // namespace kernelmill::cas

#endif  // KERNELMILL_COMMON_CAS_BLOB_STORE_H_
