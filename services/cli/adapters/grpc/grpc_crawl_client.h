#ifndef KERNELMILL_SERVICES_CLI_ADAPTERS_GRPC_GRPC_CRAWL_CLIENT_H_
#define KERNELMILL_SERVICES_CLI_ADAPTERS_GRPC_GRPC_CRAWL_CLIENT_H_

#include <memory>

#include "services/cli/core/crawl_client.h"
#include "services/cli/core/patience.h"

namespace grpc {
class Channel;
}

namespace kernelmill::cli {

// The Crawl service behind `channel`. Calls other than Watch are tried again while the coordinator
// is out of reach and patience lasts; each is safe to repeat.
std::unique_ptr<CrawlClient> NewGrpcCrawlClient(std::shared_ptr<grpc::Channel> channel,
                                                Patience patience = {});

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_ADAPTERS_GRPC_GRPC_CRAWL_CLIENT_H_
