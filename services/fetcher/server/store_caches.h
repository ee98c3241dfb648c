#ifndef KERNELMILL_SERVICES_FETCHER_SERVER_STORE_CACHES_H_
#define KERNELMILL_SERVICES_FETCHER_SERVER_STORE_CACHES_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cas/blob_store.h"
#include "services/fetcher/adapters/git/fetch_cache.h"
#include "services/fetcher/adapters/github/github_client.h"

namespace kernelmill::fetcher {

// The adapters' caches, kept in the content store. What is cached is a blob, and what is said of it
// is the result of an action whose one output is the blob: a store that drops the blob drops the
// result too. A store that is away costs transfers, and is logged.

// The key is the digest of the URL's v1::CachedFetchKey, the result a v1::CachedFetch, the blob the
// pack.
class StoreFetchCache : public FetchCache {
 public:
  // `store` must outlive it.
  explicit StoreFetchCache(cas::BlobStore& store) : store_(store) {}

  std::optional<CachedFetch> Load(absl::string_view url) override;
  void Save(absl::string_view url, const CachedFetch& fetch) override;

 private:
  absl::StatusOr<CachedFetch> TryLoad(absl::string_view url);

  cas::BlobStore& store_;
};

// The key is the digest of the URL's v1::DiscoverPageKey, the result a v1::DiscoverPage, the blob
// the page's body.
class StorePageCache : public PageCache {
 public:
  // `store` must outlive it.
  explicit StorePageCache(cas::BlobStore& store) : store_(store) {}

  std::optional<CachedPage> Find(const std::string& url) override;
  void Keep(const std::string& url, const CachedPage& page) override;

 private:
  absl::StatusOr<CachedPage> TryFind(const std::string& url);

  cas::BlobStore& store_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_SERVER_STORE_CACHES_H_
