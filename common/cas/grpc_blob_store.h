#ifndef KERNELMILL_COMMON_CAS_GRPC_BLOB_STORE_H_
#define KERNELMILL_COMMON_CAS_GRPC_BLOB_STORE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "common/cas/blob_store.h"
#include "common/rpc/retry.h"

namespace grpc {
class Channel;
}

namespace kernelmill::cas {

struct GrpcBlobStoreOptions {
  std::string instance_name;  // the server's tenant; most have only ""
  rpc::RetryPolicy retry;
  rpc::Sleeper sleep;  // between tries; null sleeps
  // Of each try of a call. A stream gets a second more for each MiB that it moves.
  absl::Duration call_deadline = absl::Seconds(60);
  // The content of one batch, with an allowance for each blob; lowered to what the server
  // advertises. Many servers take messages up to gRPC's default of 4 MiB. Larger blobs move as
  // streams.
  int64_t max_batch_bytes = (4 << 20) - (128 << 10);
  int64_t stream_message_bytes = 1 << 20;
  // Digests in one FindMissingBlobs call; some servers refuse requests of tens of thousands.
  int max_find_digests = 2000;
  // Put asks what is missing before it sends more than this.
  int64_t find_before_put_bytes = 64 << 10;
};

// The content store behind `channel`: kernelmill-store or any other server of the Remote Execution
// API v2. Tries again what may be tried again, resumes broken streams where they broke, and checks
// every byte that it reads. Thread-safe. Errors are those of BlobStore and of the wire;
// FAILED_PRECONDITION: the server does not know SHA-256.
std::unique_ptr<BlobStore> NewGrpcBlobStore(std::shared_ptr<grpc::Channel> channel,
                                            GrpcBlobStoreOptions options);

}  // namespace kernelmill::cas

#endif  // KERNELMILL_COMMON_CAS_GRPC_BLOB_STORE_H_
