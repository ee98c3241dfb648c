#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_FETCH_CACHE_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_FETCH_CACHE_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// What a fetch of a repository leaves for the next one of the same URL.
struct CachedFetch {
  std::string commit;
  std::string pack;  // a git pack: the commit, its trees, and the blobs that were wanted of it
};

// Where fetches are kept: the port between the git adapter and the content store. It saves
// transfers and decides nothing: a fetch that is lost, old, damaged or another repository's costs a
// full fetch at most. Hence no errors.
class FetchCache {
 public:
  virtual ~FetchCache() = default;
  virtual std::optional<CachedFetch> Load(absl::string_view url) = 0;
  virtual void Save(absl::string_view url, const CachedFetch& cached) = 0;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_FETCH_CACHE_H_
