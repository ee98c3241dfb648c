#include "services/fetcher/server/discover_stage.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "kernelmill/v1/action.pb.h"
#include "services/fetcher/adapters/github/github_client.h"
#include "services/fetcher/core/discover/discover.h"
#include "services/fetcher/server/fetch_metrics.h"
#include "services/fetcher/server/store_caches.h"

namespace kernelmill::fetcher {
namespace {

class DiscoverStage : public worker::Stage {
 public:
  explicit DiscoverStage(const FetcherOptions& options) : options_(options) {}

  worker::StageId id() const override { return worker::StageId::kDiscover; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    if (!action.params().has_discover()) {
      return absl::InvalidArgumentError("discover without its parameters");
    }
    GithubOptions github;
    github.api = options_.github_api;
    github.time = options_.command_timeout;
    // Read anew each time: tokens are replaced while a fetcher runs.
    ASSIGN_OR_RETURN(github.token, ReadTokenFile(options_.github_token_file));
    StorePageCache pages(store);
    GithubClient client(std::move(github), pages);
    v1::Source search;
    *search.mutable_discover() = action.params().discover().discover();
    const HostRequest request(search);
    const absl::StatusOr<Discovery> found_or = DiscoverRepositories(search.discover(), client);
    request.End(found_or.status());
    RETURN_IF_ERROR(found_or.status());
    const Discovery& found = *found_or;
    v1::StageResult result;
    result.mutable_found()->Add(found.urls.begin(), found.urls.end());
    worker::AddCounter(result, "discover.requests", client.requests());
    worker::AddCounter(result, "discover.not_modified", client.not_modified());
    worker::AddCounter(result, "discover.repositories", static_cast<int64_t>(found.urls.size()));
    worker::AddCounter(result, "discover.incomplete", found.incomplete);
    worker::AddCounter(result, "discover.out_of_reach", found.out_of_reach);
    return result;
  }

 private:
  const FetcherOptions options_;
};

}  // namespace

std::unique_ptr<worker::Stage> NewDiscoverStage(const FetcherOptions& options) {
  return std::make_unique<DiscoverStage>(options);
}

}  // namespace kernelmill::fetcher
