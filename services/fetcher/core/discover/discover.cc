// Discovery, the basic idea: GitHub returns at most the first 1000 rows of a search. A search with
// more rows is cut in two by the number of stars, and each half again, until every part has at most
// 1000 rows or only one number of stars. Rows beyond that are counted as out of reach. The range
// with the most stars is searched first, so that the walk can stop as soon as it has `limit`
// repositories.
//
// Code search finds files, not repositories, and knows no stars, so it is cut by the size of the
// files instead, and each repository that it names is looked up. If words of the README are asked
// for too, which a look-up does not tell, the repositories are taken that both searches find.
#include "services/fetcher/core/discover/discover.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "services/fetcher/core/discover/discover_answer.h"
#include "services/fetcher/core/discover/discover_query.h"

namespace kernelmill::fetcher {
namespace {

constexpr int kTries = 3;  // for a page that is not complete
// The upper end that is assumed when an open range is cut: above every number that occurs.
constexpr int64_t kMostStars = 1 << 20;
constexpr int64_t kMostBytes = 384 << 10;  // GitHub's code search has no larger files

// One of the two searches: how its pages are requested and parsed.
struct Query {
  NumberRange whole;
  int64_t largest;
  std::function<std::string(const NumberRange&, int page)> path;
  absl::StatusOr<SearchPage> (*parse)(absl::string_view body);
};

class Finder {
 public:
  Finder(const v1::Discover& search, SearchApi& api, const DiscoverLimits& limits)
      : search_(search), api_(api), limits_(limits) {}

  absl::StatusOr<Discovery> Find() {
    if (search_.code().empty()) {
      RETURN_IF_ERROR(FindRepositories());
    } else {
      RETURN_IF_ERROR(FindCode());
      RETURN_IF_ERROR(search_.readme().empty() ? LookUpNamed() : FindRepositories());
    }
    discovery_.urls = Best();
    return std::move(discovery_);
  }

 private:
  absl::Status FindRepositories();
  absl::Status FindCode();
  absl::Status LookUpNamed();
  // Calls `take` with every row, range by range from the highest, until `enough` returns true.
  absl::Status Walk(const Query& query, const std::function<void(FoundRepository&)>& take,
                    const std::function<bool()>& enough);
  absl::Status TakePages(const Query& query, const NumberRange& range, SearchPage first,
                         const std::function<void(FoundRepository&)>& take);
  absl::StatusOr<SearchPage> GetPage(const Query& query, const NumberRange& range, int page);

  bool HasTopics(const FoundRepository& repository) const;
  void Take(FoundRepository& repository);
  std::vector<std::string> Best() const;

  const v1::Discover& search_;
  SearchApi& api_;
  const DiscoverLimits limits_;
  int64_t pages_ = 0;
  // Repositories that have the code, by their name in lower case, since GitHub ignores case.
  std::map<std::string, std::string> named_;
  std::map<std::string, FoundRepository> found_;  // by URL
  Discovery discovery_;
};

absl::Status Finder::FindRepositories() {
  Query query{NumberRange{search_.min_stars()}, kMostStars, {}, &ParseRepositorySearch};
  query.path = [this](const NumberRange& stars, int page) {
    return RepositorySearchPath(search_, stars, page);
  };
  const auto take = [this](FoundRepository& repository) {
    const bool named = named_.count(absl::AsciiStrToLower(repository.name)) > 0;
    if (search_.code().empty() || named) Take(repository);
  };
  // All ranges that are left have fewer stars.
  const auto enough = [this] { return found_.size() >= static_cast<size_t>(search_.limit()); };
  return Walk(query, take, enough);
}

absl::Status Finder::FindCode() {
  Query query{NumberRange{}, kMostBytes, {}, &ParseCodeSearch};
  query.path = [this](const NumberRange& bytes, int page) {
    return CodeSearchPath(search_, bytes, page);
  };
  const auto take = [this](FoundRepository& repository) {
    if (repository.closed || (repository.fork && !search_.forks())) return;
    named_.emplace(absl::AsciiStrToLower(repository.name), repository.name);
  };
  return Walk(query, take, [] { return false; });
}

// Each look-up is a request, so their number is limited. FAILED_PRECONDITION: the search is too
// wide.
absl::Status Finder::LookUpNamed() {
  if (static_cast<int64_t>(named_.size()) > limits_.lookups) {
    return absl::FailedPreconditionError(
        absl::StrCat("the code is in more than ", limits_.lookups, " repositories; narrow it"));
  }
  for (const auto& [key, name] : named_) {
    const std::string path = RepositoryPath(name);
    const absl::StatusOr<ApiAnswer> answer = api_.Get(path);
    if (absl::IsNotFound(answer.status())) continue;  // it was deleted after it was indexed
    RETURN_IF_ERROR(answer.status());
    ASSIGN_OR_RETURN(FoundRepository repository, ParseRepository(answer->body));
    api_.Keep(path, *answer);
    if (HasTopics(repository)) Take(repository);
  }
  return absl::OkStatus();
}

absl::Status Finder::Walk(const Query& query, const std::function<void(FoundRepository&)>& take,
                          const std::function<bool()>& enough) {
  std::vector<NumberRange> ranges = {query.whole};  // the highest range is the last
  while (!ranges.empty() && !enough()) {
    const NumberRange range = ranges.back();
    ranges.pop_back();
    ASSIGN_OR_RETURN(SearchPage first, GetPage(query, range, 1));
    if (first.total > kReachableRows) {
      if (const auto halves = SplitRange(range, query.largest)) {
        ranges.push_back(halves->second);
        ranges.push_back(halves->first);
        continue;
      }
      discovery_.out_of_reach += first.total - kReachableRows;
    }
    RETURN_IF_ERROR(TakePages(query, range, std::move(first), take));
  }
  return absl::OkStatus();
}

// Ends at the last reachable row, or at an empty page: totals may be estimates.
absl::Status Finder::TakePages(const Query& query, const NumberRange& range, SearchPage first,
                               const std::function<void(FoundRepository&)>& take) {
  const int64_t rows = std::min(first.total, kReachableRows);
  SearchPage page = std::move(first);
  for (int number = 1; page.rows > 0; ++number) {
    for (FoundRepository& repository : page.repositories) take(repository);
    if (int64_t{number} * kRowsPerPage >= rows) break;
    ASSIGN_OR_RETURN(page, GetPage(query, range, number + 1));
  }
  return absl::OkStatus();
}

// Asks again for a page that GitHub marks as incomplete, because its search ran out of time. The
// last answer counts, and the discovery notes it. Only complete pages are cached.
absl::StatusOr<SearchPage> Finder::GetPage(const Query& query, const NumberRange& range, int page) {
  const std::string path = query.path(range, page);
  for (int attempt = 1;; ++attempt) {
    if (++pages_ > limits_.pages) {
      return absl::FailedPreconditionError(
          absl::StrCat("the search has more than ", limits_.pages, " pages; narrow it"));
    }
    ASSIGN_OR_RETURN(const ApiAnswer answer, api_.Get(path));
    ASSIGN_OR_RETURN(SearchPage found, query.parse(answer.body));
    if (!found.incomplete) {
      api_.Keep(path, answer);
      return found;
    }
    if (attempt == kTries) {
      ++discovery_.incomplete;
      return found;
    }
  }
}

bool Finder::HasTopics(const FoundRepository& repository) const {
  const std::set<std::string> topics(repository.topics.begin(), repository.topics.end());
  return std::all_of(search_.topics().begin(), search_.topics().end(),
                     [&](const std::string& t) { return topics.count(absl::AsciiStrToLower(t)); });
}

void Finder::Take(FoundRepository& repository) {
  const bool wanted = repository.stars >= search_.min_stars() && !repository.closed &&
                      (search_.forks() || !repository.fork) &&
                      (search_.archived() || !repository.archived);
  if (!wanted) return;
  std::string url = repository.url;
  found_.emplace(std::move(url), std::move(repository));
}

// Returns the URLs with the most stars, sorted: the coordinator demands this order.
std::vector<std::string> Finder::Best() const {
  std::vector<const FoundRepository*> ranked;
  ranked.reserve(found_.size());
  for (const auto& [url, repository] : found_) ranked.push_back(&repository);
  std::sort(ranked.begin(), ranked.end(), [](const FoundRepository* a, const FoundRepository* b) {
    return std::tie(b->stars, a->name, a->url) < std::tie(a->stars, b->name, b->url);
  });
  if (ranked.size() > static_cast<size_t>(search_.limit())) ranked.resize(search_.limit());
  std::vector<std::string> urls;
  urls.reserve(ranked.size());
  for (const FoundRepository* repository : ranked) urls.push_back(repository->url);
  std::sort(urls.begin(), urls.end());
  return urls;
}

}  // namespace

absl::StatusOr<Discovery> DiscoverRepositories(const v1::Discover& search, SearchApi& api,
                                               const DiscoverLimits& limits) {
  RETURN_IF_ERROR(CheckSearch(search));
  return Finder(search, api, limits).Find();
}

}  // namespace kernelmill::fetcher
