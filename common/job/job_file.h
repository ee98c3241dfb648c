#ifndef KERNELMILL_COMMON_JOB_JOB_FILE_H_
#define KERNELMILL_COMMON_JOB_JOB_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::job {

// Reads a job file: YAML whose keys are the fields of JobSpec, with enum values as short lower-case
// words ("role: holdout"). "-" is standard input, whose folder is the current one.
//
// Relative origins (`path`, `inductor`, and a `git` that is a path) are relative to the file's
// folder, and ~/ is the home folder; such a source keeps the path as written for its name, unless
// it has a name. A `git` that is owner/name means that repository at GitHub, as if its URL was
// written. Each `list` (of sources, pairs, opt-outs or reviews) is read and replaced by its
// entries.
//
// INVALID_ARGUMENT is one line, "FILE:LINE: KEY: what must hold": unknown or repeated keys, wrong
// types, unknown words, all that CheckJobSpec refuses, and a file over 4 MiB. An error within a
// list names the list's file and line.
// NOT_FOUND: the file or a list does not exist. FAILED_PRECONDITION: the file is a pipe, a device
// or a folder. RESOURCE_EXHAUSTED: a list is too large.
absl::StatusOr<v1::JobSpec> LoadJobFile(const std::string& path);

// Does the same with the text of a job file. `path` is used in messages and to find the lists that
// the file names.
absl::StatusOr<v1::JobSpec> ParseJobFile(absl::string_view text, const std::string& path);

// Returns the spec as a job file. Equal specs give equal bytes, and ParseJobFile gives an equal
// spec back if every local origin is absolute.
std::string JobFileYaml(const v1::JobSpec& spec);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_JOB_FILE_H_
