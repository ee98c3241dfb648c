#ifndef KERNELMILL_SERVICES_FETCHER_CORE_DISCOVER_DISCOVER_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_DISCOVER_DISCOVER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::fetcher {

// An answer of GitHub's REST API.
struct ApiAnswer {
  std::string body;
  std::string etag;   // empty: the answer cannot be asked for again by a tag
  bool kept = false;  // it comes from the cache, and GitHub said that it has not changed
};

// GitHub's REST API, as a search uses it.
class SearchApi {
 public:
  virtual ~SearchApi() = default;
  // Returns the answer to a path. NOT_FOUND: the path does not exist; INVALID_ARGUMENT: the search
  // is refused; PERMISSION_DENIED; and errors that may be retried.
  virtual absl::StatusOr<ApiAnswer> Get(const std::string& path) = 0;
  // Notes that the answer could be parsed, so that it may be kept for the next search.
  virtual void Keep(const std::string& path, const ApiAnswer& answer) = 0;
};

// Bounds on the requests of one search, so that a server cannot keep it busy forever.
struct DiscoverLimits {
  int64_t pages = 2'000;
  int64_t lookups = 20'000;
};

// The repositories that a search found, and how complete the search was.
struct Discovery {
  std::vector<std::string> urls;  // sorted, each once
  int64_t incomplete = 0;         // pages that may lack rows, as the server says
  int64_t out_of_reach = 0;       // rows that the server counts but does not return
};

// Returns the repositories that a search finds, at most `search.limit()`: those with the most
// stars, equal ones by name. The same answers give the same repositories. discover.cc has the basic
// idea.
//
// INVALID_ARGUMENT: see CheckSearch; FAILED_PRECONDITION: over a limit; DATA_LOSS: an answer that
// is not the API's. Other errors: as SearchApi.
absl::StatusOr<Discovery> DiscoverRepositories(const v1::Discover& search, SearchApi& api,
                                               const DiscoverLimits& limits = {});

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_DISCOVER_DISCOVER_H_
