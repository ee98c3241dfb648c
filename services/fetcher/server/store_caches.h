#ifndef KERNELMILL_SERVICES_FETCHER_SERVER_STORE_CACHES_H_
#define KERNELMILL_SERVICES_FETCHER_SERVER_STORE_CACHES_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cas/blob_store.h"
#include "kernelmill/v1/source.pb.h"
#include "services/fetcher/adapters/git/git_source.h"
#include "services/fetcher/adapters/github/github_client.h"

namespace kernelmill::fetcher {

// The adapters' caches, kept in the content store. The cached bytes are a blob, and what is known
// about them is the result of an action whose only output is the blob, so a store that drops the
// blob drops the result too. If the store is unavailable, the fetcher logs that and transfers the
// bytes again.
//
// StoreFetchCache: the key is the digest of the URL's v1::CachedFetchKey, the result a
// v1::CachedFetch, the blob the pack.

// The key is the digest of the URL's v1::CachedFetchKey, the result a v1::CachedFetch, the blob the
// pack.
class StoreFetchCache : public FetchCache {
 public:
  // `store` must outlive this object.
  explicit StoreFetchCache(cas::BlobStore& store) : store_(store) {}

  std::optional<CachedFetch> Load(absl::string_view url) override;
  void Save(absl::string_view url, const CachedFetch& fetch) override;

  // Returns the commit that Load would return, without its pack; empty if the cache has no fetch.
  std::string FindCommit(absl::string_view url);

 private:
  absl::StatusOr<v1::CachedFetch> Find(absl::string_view url);
  absl::StatusOr<CachedFetch> TryLoad(absl::string_view url);

  cas::BlobStore& store_;
};

// StorePageCache: the key is the digest of the URL's v1::DiscoverPageKey, the result a
// v1::DiscoverPage, the blob the page's body.
class StorePageCache : public PageCache {
 public:
  // `store` must outlive this object.
  explicit StorePageCache(cas::BlobStore& store) : store_(store) {}

  std::optional<CachedPage> Find(const std::string& url) override;
  void Keep(const std::string& url, const CachedPage& page) override;

 private:
  absl::StatusOr<CachedPage> TryFind(const std::string& url);

  cas::BlobStore& store_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_SERVER_STORE_CACHES_H_
