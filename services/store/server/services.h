#ifndef KERNELMILL_SERVICES_STORE_SERVER_SERVICES_H_
#define KERNELMILL_SERVICES_STORE_SERVER_SERVICES_H_

#include <grpcpp/support/status.h>

#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "common/access/grants.h"
#include "common/cas/blob_store.h"
#include "common/rocksdb/backups.h"
#include "common/rpc/stall_guard.h"
#include "common/rpc/status.h"
#include "services/store/core/content_store.h"
#include "services/store/core/garbage_collector.h"
#include "services/store/core/uploads.h"

namespace grpc {
class Service;
}

namespace kernelmill::store {

// Runs a handler's body and converts its status; the only place where the store does so.
inline grpc::Status Answer(absl::FunctionRef<absl::Status()> body) {
  return rpc::ToGrpcStatus(body());
}

// The gRPC services. Each handler decodes a request, calls the core and encodes the answer.
// Thread-safe. The objects passed by pointer must outlive the services.
std::unique_ptr<grpc::Service> NewCasService(ContentStore* store);
std::unique_ptr<grpc::Service> NewByteStreamService(ContentStore* store, Uploads* uploads,
                                                    const rpc::StallGuard::Options& streams);
// `grants`: checks the grant of each result that is written; null: no grants are required.
std::unique_ptr<grpc::Service> NewActionCacheService(ContentStore* store,
                                                     std::shared_ptr<access::GrantKey> grants);
std::unique_ptr<grpc::Service> NewCapabilitiesService(const ContentStore* store);

// A client in this process, which makes no calls.
std::unique_ptr<cas::BlobStore> NewLocalBlobStore(ContentStore* store);

struct StoreServiceParts {
  ContentStore* store = nullptr;
  GarbageCollector* collector = nullptr;
  BackupOptions backups;
};
std::unique_ptr<grpc::Service> NewStoreService(const StoreServiceParts& parts);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_SERVER_SERVICES_H_
