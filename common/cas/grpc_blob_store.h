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

// How a GrpcBlobStore talks to its server.
struct GrpcBlobStoreOptions {
  std::string instance_name;  // the server's tenant; most servers have only ""
  rpc::RetryPolicy retry;
  rpc::Sleeper sleep;  // called between tries; null: sleeps
  // The deadline of each try of a call. A stream gets one more second for each MiB.
  absl::Duration call_deadline = absl::Seconds(60);
  // The content of one batch, including an allowance for each blob; the server's advertised limit
  // applies if it is lower. Many servers only accept messages up to gRPC's default of 4 MiB. Larger
  // blobs are sent as streams.
  int64_t max_batch_bytes = (4 << 20) - (128 << 10);
  int64_t stream_message_bytes = 1 << 20;
  // Digests in one FindMissingBlobs call; some servers refuse requests of tens of thousands.
  int max_find_digests = 2000;
  // Put calls FindMissing first if it has more bytes than this.
  int64_t find_before_put_bytes = 64 << 10;
};

// Makes a client of the content store behind `channel`: kernelmill-store or any other server of the
// Remote Execution API v2. It retries retryable errors, resumes broken streams, and checks every
// byte that it reads. Thread-safe. Errors: those of BlobStore and of gRPC. FAILED_PRECONDITION: the
// server does not support SHA-256.
std::unique_ptr<BlobStore> NewGrpcBlobStore(const std::shared_ptr<grpc::Channel>& channel,
                                            GrpcBlobStoreOptions options);

}  // namespace kernelmill::cas

#endif  // KERNELMILL_COMMON_CAS_GRPC_BLOB_STORE_H_
