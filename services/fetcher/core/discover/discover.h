#ifndef KERNELMILL_SERVICES_FETCHER_CORE_DISCOVER_DISCOVER_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_DISCOVER_DISCOVER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::fetcher {

struct ApiAnswer {
  std::string body;
  std::string etag;   // empty: the answer cannot be asked for again by it
  bool kept = false;  // it is one that was kept, and is still the newest
};

// GitHub's REST API, as a search sees it.
class SearchApi {
 public:
  virtual ~SearchApi() = default;
  // The answer to a path. NOT_FOUND: there is nothing there; INVALID_ARGUMENT: the question is
  // refused; PERMISSION_DENIED; and what may be tried again.
  virtual absl::StatusOr<ApiAnswer> Get(const std::string& path) = 0;
  // The answer made sense: it may be kept for the next time.
  virtual void Keep(const std::string& path, const ApiAnswer& answer) = 0;
};

// What one search may ask for, lest a server leads it on for ever.
struct DiscoverLimits {
  int64_t pages = 2'000;
  int64_t lookups = 20'000;
};

struct Discovery {
  std::vector<std::string> urls;  // sorted, each once
  int64_t incomplete = 0;         // pages that may lack rows, as the server says
  int64_t out_of_reach = 0;       // rows that the server counted and gives to nobody
};

// The repositories that a search finds, at most `search.limit()`: those with the most stars, of
// equals those first by name. The same answers give the same repositories.
//
// GitHub gives the first 1000 rows of a search and no more. A search with more is cut in two by
// stars, and each half again, until every part is within reach or has but one number of stars; code
// search likewise by the size of files, the one number that it knows. Code search finds files, and
// says little of their repositories: each is looked up; where README words are asked for too, which
// no look-up answers, those are taken that both searches find.
//
// INVALID_ARGUMENT: see CheckSearch; FAILED_PRECONDITION: over a limit; DATA_LOSS: not what the API
// answers; else as SearchApi.
absl::StatusOr<Discovery> DiscoverRepositories(const v1::Discover& search, SearchApi& api,
                                               const DiscoverLimits& limits = {});

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_DISCOVER_DISCOVER_H_
