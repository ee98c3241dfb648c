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
  std::string url;   // for git, as people write it; code search gives none that is used
  int64_t stars = 0;
  bool fork = false;
  bool archived = false;
  bool closed = false;  // private or disabled
  std::vector<std::string> topics;
};

// A page of a search's answer. Rows that make no sense are counted and left out.
struct SearchPage {
  int64_t total = 0;        // rows of all pages, those out of reach too
  bool incomplete = false;  // the search took too long: there may be more
  int rows = 0;             // of this page
  std::vector<FoundRepository> repositories;
};

// DATA_LOSS: not such an answer. Of a hostile one no more is taken than a page can have.
absl::StatusOr<SearchPage> ParseRepositorySearch(absl::string_view body);
absl::StatusOr<SearchPage> ParseCodeSearch(absl::string_view body);
absl::StatusOr<FoundRepository> ParseRepository(absl::string_view body);

// What an error's body says, on one line and not long; empty: nothing.
std::string ErrorText(absl::string_view body);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_DISCOVER_DISCOVER_ANSWER_H_
