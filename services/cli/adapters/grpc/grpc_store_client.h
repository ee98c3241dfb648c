#ifndef KERNELMILL_SERVICES_CLI_ADAPTERS_GRPC_GRPC_STORE_CLIENT_H_
#define KERNELMILL_SERVICES_CLI_ADAPTERS_GRPC_GRPC_STORE_CLIENT_H_

#include <memory>

#include "services/cli/core/patience.h"
#include "services/cli/core/store_client.h"

namespace grpc {
class Channel;
}

namespace kernelmill::cli {

// The kernelmill.v1.Store behind `channel`. Calls other than Verify are tried again while the store
// is out of reach and patience lasts; all take as long as they need once it answers.
std::unique_ptr<StoreClient> NewGrpcStoreClient(std::shared_ptr<grpc::Channel> channel,
                                                Patience patience = {});

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_ADAPTERS_GRPC_GRPC_STORE_CLIENT_H_
