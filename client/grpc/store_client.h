#ifndef KERNELMILL_CLIENT_GRPC_STORE_CLIENT_H_
#define KERNELMILL_CLIENT_GRPC_STORE_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/grpc/backup_client.h"
#include "client/grpc/retrying_caller.h"
#include "common/cas/digest.h"
#include "kernelmill/v1/store.pb.h"

namespace grpc {
class Channel;
}

namespace kernelmill::client {

// A client of the store's service for its operator. It is abstract so that its users do not compile
// gRPC's generated code. Thread-safe. UNIMPLEMENTED: the store is not a kernelmill-store;
// UNAVAILABLE: it is out of reach; CANCELLED: Interrupt() was called.
class StoreClient : public BackupClient {
 public:
  virtual absl::StatusOr<v1::StatResponse> Stat(bool sum_holds) = 0;
  // Reads every blob. `on_progress` gets the progress and the damaged blobs so far; the last
  // progress is returned.
  virtual absl::StatusOr<v1::VerifyProgress> Verify(
      bool drop_damaged, const std::function<void(const v1::VerifyProgress&)>& on_progress) = 0;
  // With `dry_run` it only returns what it would drop.
  virtual absl::StatusOr<v1::CollectGarbageResponse> CollectGarbage(int64_t target_bytes,
                                                                    bool dry_run) = 0;
  virtual absl::Status Hold(const std::string& name, const std::vector<cas::Digest>& blobs,
                            absl::Duration ttl) = 0;
  // OK also if the hold does not exist.
  virtual absl::Status Release(const std::string& name) = 0;
  virtual absl::StatusOr<v1::ForgetResultsResponse> ForgetResults(
      const v1::ForgetResultsRequest& request) = 0;
};

// Makes a client over gRPC. It repeats calls other than Verify while the store is out of reach.
// Calls have no deadline.
std::unique_ptr<StoreClient> NewStoreClient(std::shared_ptr<grpc::Channel> channel,
                                            ReconnectOptions reconnect = {});

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_GRPC_STORE_CLIENT_H_
