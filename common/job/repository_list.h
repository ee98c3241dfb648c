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
  std::string ref;  // empty: the list gives none
};

// Reads a list of repositories; its kind is its name's ending:
//   .txt    one a line; '#' begins a comment
//   .csv    RFC 4180, its first row the columns' names
//   .jsonl  a JSON object a line, or a string
// A repository is a URL, or owner/name at GitHub. A row has it under the first of html_url,
// clone_url, git, url, repository, repo and full_name that the list has, and its ref, if any, under
// ref. One that comes again, with the same ref, is left out.
//
// INVALID_ARGUMENT, by FileError: what is none of this; no repository at all; more than a job may
// have.
absl::StatusOr<std::vector<ListedRepository>> ParseRepositoryList(absl::string_view text,
                                                                  const std::string& path);

// The git sources that stand for a `list` source: one for each repository of the list at `path`,
// with all else as `list` has it. Errors: as ParseRepositoryList, and as ReadFile.
absl::StatusOr<std::vector<v1::Source>> ExpandList(const v1::Source& list, const std::string& path);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_REPOSITORY_LIST_H_
