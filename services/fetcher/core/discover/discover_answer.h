#ifndef KERNELMILL_SERVICES_FETCHER_CORE_DISCOVER_DISCOVER_ANSWER_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_DISCOVER_DISCOVER_ANSWER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// A repository as GitHub's REST API describes it.
struct FoundRepository {
  std::string name;  // owner/name
  std::string url;   // the URL of its page, which git accepts; code search gives none that is used
  int64_t stars = 0;
  bool fork = false;
  bool archived = false;
  bool closed = false;  // private or disabled
  std::vector<std::string> topics;
};

// A page of a search's answer. Malformed rows are counted and dropped.
struct SearchPage {
  int64_t total = 0;        // rows of all pages, also those out of reach
  bool incomplete = false;  // the search took too long and may have more rows
  int rows = 0;             // on this page
  std::vector<FoundRepository> repositories;
};

// Parse answers. DATA_LOSS: the answer is not of that form. At most the rows that a page can have
// are read, even from a hostile server.
absl::StatusOr<SearchPage> ParseRepositorySearch(absl::string_view body);
absl::StatusOr<SearchPage> ParseCodeSearch(absl::string_view body);
absl::StatusOr<FoundRepository> ParseRepository(absl::string_view body);

// Returns the message in the body of an error, short and on one line; empty if it has no message.
std::string ErrorText(absl::string_view body);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_DISCOVER_DISCOVER_ANSWER_H_
