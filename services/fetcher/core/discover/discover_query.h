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

// A range of numbers, both ends included: of a repository's stars, or of a file's bytes.
struct NumberRange {
  static constexpr int64_t kOpen = std::numeric_limits<int64_t>::max();
  int64_t low = 0;
  int64_t high = kOpen;
};

// Cuts a range in two, the upper half first. The cut is at the geometric mean, since there are many
// small numbers and few large ones. An open end counts as `largest` for the cut, and stays open.
// Nothing if the range has only one number.
std::optional<std::pair<NumberRange, NumberRange>> SplitRange(const NumberRange& range,
                                                              int64_t largest);

// Rows on a page, and rows of all pages of one search that GitHub returns.
inline constexpr int kRowsPerPage = 100;
inline constexpr int64_t kReachableRows = 1000;

// Paths of GitHub's REST API with their queries. Pages count from 1.
//
// Returns the path that searches repositories with the search's topics, README words and language,
// and stars in the range; the most stars first.
std::string RepositorySearchPath(const v1::Discover& search, const NumberRange& stars, int page);
// Returns the path that searches files of the search's language with its code and a size in the
// range.
std::string CodeSearchPath(const v1::Discover& search, const NumberRange& bytes, int page);
// Returns the path of one repository. IsRepositoryName(name) must be true.
std::string RepositoryPath(absl::string_view name);

// Returns whether the text is owner/name and, used as a path, leads nowhere else.
bool IsRepositoryName(absl::string_view text);

// Checks that the search has conditions and a limit, as job::WithDefaults leaves it.
// INVALID_ARGUMENT if not.
absl::Status CheckSearch(const v1::Discover& search);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_DISCOVER_DISCOVER_QUERY_H_
