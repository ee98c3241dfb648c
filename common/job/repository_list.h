#ifndef KERNELMILL_COMMON_JOB_REPOSITORY_LIST_H_
#define KERNELMILL_COMMON_JOB_REPOSITORY_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::job {

// A repository that a list names.
struct ListedRepository {
  std::string url;
  std::string ref;  // empty: the list gives no ref
};

// Reads a list of repositories. The ending of its name gives its kind:
//   .txt    a repository a line; '#' begins a comment
//   .csv    RFC 4180; the first row has the columns' names
//   .jsonl  a JSON object or a JSON string a line
// A repository is a URL, or owner/name at GitHub. It is taken from the first of the columns or keys
// html_url, clone_url, git, url, repository, repo and full_name that exists; its ref, if any, from
// `ref`. A repository that is repeated with the same ref is dropped.
//
// INVALID_ARGUMENT (FileError): another kind of file; a row without a repository; no row; more rows
// than a job may have.
absl::StatusOr<std::vector<ListedRepository>> ParseRepositoryList(absl::string_view text,
                                                                  const std::string& path);

// Returns a git source for each repository of the list at `path`. All other fields are those of the
// `list` source. Errors: as ParseRepositoryList and ReadFile.
absl::StatusOr<std::vector<v1::Source>> ExpandList(const v1::Source& list, const std::string& path);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_REPOSITORY_LIST_H_
