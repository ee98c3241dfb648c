#ifndef KERNELMILL_COMMON_CAS_BYTE_STREAM_CLIENT_H_
#define KERNELMILL_COMMON_CAS_BYTE_STREAM_CLIENT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cas/digest.h"
#include "common/cas/grpc_blob_store.h"
#include "google/bytestream/bytestream.grpc.pb.h"

namespace kernelmill::cas {

// Moves one blob at a time as a stream; part of GrpcBlobStore. Thread-safe.
class ByteStreamClient {
 public:
  // `options` must outlive it.
  ByteStreamClient(std::shared_ptr<grpc::Channel> channel, const GrpcBlobStoreOptions* options);

  // Uploads a blob. After a break it asks how much has arrived and goes on there.
  absl::Status Write(const Digest& digest, absl::string_view bytes);

  // Reads a blob, going on after a break where it broke. The content is not checked. DATA_LOSS:
  // more or fewer bytes than the digest says.
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

}  // namespace kernelmill::cas

#endif  // KERNELMILL_COMMON_CAS_BYTE_STREAM_CLIENT_H_
