#ifndef KERNELMILL_SERVICES_STORE_SERVER_SERVICES_H_
#define KERNELMILL_SERVICES_STORE_SERVER_SERVICES_H_

#include <memory>
#include <string>

#include "common/access/grants.h"
#include "common/rpc/stall_guard.h"
#include "services/store/core/content_store.h"
#include "services/store/core/garbage_collector.h"
#include "services/store/core/uploads.h"
#include "services/store/server/backups.h"

namespace grpc {
class Service;
}

namespace kernelmill::store {

// The handlers of each service: they decode a request, ask the core and encode its answer.
// Thread-safe. What they point to must outlive them.
std::unique_ptr<grpc::Service> NewCasService(ContentStore* store);
std::unique_ptr<grpc::Service> NewByteStreamService(ContentStore* store, Uploads* uploads,
                                                    const rpc::StallGuard::Options& streams);
// With a key, who writes a result needs a grant for it. `grants` may be null.
std::unique_ptr<grpc::Service> NewActionCacheService(ContentStore* store,
                                                     std::shared_ptr<access::GrantKey> grants);
std::unique_ptr<grpc::Service> NewCapabilitiesService(const ContentStore* store);

struct StoreServiceParts {
  ContentStore* store = nullptr;
  GarbageCollector* collector = nullptr;
  BackupOptions backups;
};
std::unique_ptr<grpc::Service> NewStoreService(const StoreServiceParts& parts);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_SERVER_SERVICES_H_
