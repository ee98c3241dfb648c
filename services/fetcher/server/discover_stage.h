#ifndef KERNELMILL_SERVICES_FETCHER_SERVER_DISCOVER_STAGE_H_
#define KERNELMILL_SERVICES_FETCHER_SERVER_DISCOVER_STAGE_H_

#include <memory>

#include "common/worker/stage.h"
#include "services/fetcher/server/fetcher_stages.h"

namespace kernelmill::fetcher {

// The stage discover: lists the repositories that a search finds. It asks each time, and keeps the
// pages that it is answered in the store, to be asked for by their tags. Counters:
// discover.requests, discover.not_modified (of them), discover.repositories, discover.incomplete
// (pages that may lack rows) and discover.out_of_reach (rows that GitHub counts and gives to
// nobody). Errors: see NewFetcherStages.
std::unique_ptr<worker::Stage> NewDiscoverStage(const FetcherOptions& options);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_SERVER_DISCOVER_STAGE_H_
