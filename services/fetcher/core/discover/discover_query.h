#ifndef KERNELMILL_SERVICES_FETCHER_CORE_DISCOVER_DISCOVER_QUERY_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_DISCOVER_DISCOVER_QUERY_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::fetcher {

// The numbers from `low` to `high`, both in it: of a repository's stars, or of a file's bytes.
struct NumberRange {
  static constexpr int64_t kOpen = std::numeric_limits<int64_t>::max();
  int64_t low = 0;
  int64_t high = kOpen;
};

// Cuts a range in two, the upper half first: by ratio, for there are few large numbers and many
// small ones. An open end is taken for `largest` when it is cut, and stays open. None: it has but
// one number.
std::optional<std::pair<NumberRange, NumberRange>> SplitRange(const NumberRange& range,
                                                              int64_t largest);

// Rows on a page, and those of all pages of one search that GitHub gives.
inline constexpr int kRowsPerPage = 100;
inline constexpr int64_t kReachableRows = 1000;

// What is asked of GitHub's REST API: paths with their queries. Pages count from 1.
//
// Repositories with the search's topics, README words and language, and stars in the range; the
// most stars first.
std::string RepositorySearchPath(const v1::Discover& search, const NumberRange& stars, int page);
// Files of the search's language with its code, their sizes in the range.
std::string CodeSearchPath(const v1::Discover& search, const NumberRange& bytes, int page);
// One repository. `name` is one by IsRepositoryName.
std::string RepositoryPath(absl::string_view name);

// Whether the text is owner/name, and as a path leads to nothing else.
bool IsRepositoryName(absl::string_view text);

// INVALID_ARGUMENT unless the search has conditions and a limit, as job::WithDefaults leaves it.
absl::Status CheckSearch(const v1::Discover& search);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_DISCOVER_DISCOVER_QUERY_H_
