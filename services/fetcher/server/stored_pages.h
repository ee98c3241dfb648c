#ifndef KERNELMILL_SERVICES_FETCHER_SERVER_STORED_PAGES_H_
#define KERNELMILL_SERVICES_FETCHER_SERVER_STORED_PAGES_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "services/fetcher/adapters/github/page_cache.h"

namespace kernelmill::fetcher {

// Pages in the content store: each a blob, its tag in the action cache under DiscoverPageKey's
// digest, as an action's result whose one output is the page, so that a store which drops pages
// drops what names them too. A store that is away costs requests and is logged.
class StoredPages : public PageCache {
 public:
  // `store` must outlive it.
  explicit StoredPages(cas::BlobStore& store) : store_(store) {}

  std::optional<CachedPage> Find(const std::string& url) override;
  void Keep(const std::string& url, const CachedPage& page) override;

 private:
  absl::StatusOr<CachedPage> Get(const std::string& url);
  absl::Status Put(const std::string& url, const CachedPage& page);

  cas::BlobStore& store_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_SERVER_STORED_PAGES_H_
