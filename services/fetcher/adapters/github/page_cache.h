#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_GITHUB_PAGE_CACHE_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_GITHUB_PAGE_CACHE_H_

#include <optional>
#include <string>

namespace kernelmill::fetcher {

struct CachedPage {
  std::string etag;
  std::string body;
};

// Where pages are kept from one search to the next. What it loses is asked for anew.
class PageCache {
 public:
  virtual ~PageCache() = default;
  virtual std::optional<CachedPage> Find(const std::string& url) = 0;
  virtual void Keep(const std::string& url, const CachedPage& page) = 0;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GITHUB_PAGE_CACHE_H_
