#ifndef KERNELMILL_COMMON_JOB_JOB_FILE_H_
#define KERNELMILL_COMMON_JOB_JOB_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::job {

// Reads a job file: YAML whose keys are the fields of JobSpec, enums as short lower-case words
// ("role: holdout"). Relative origins (`path`, and a `git` that is a path) are taken from the
// file's folder; such a source is named as the file writes it, unless it has a name. The
// repositories that a `list` names stand in its place, and so do the entries of a list of pairs or
// of what is opted out. "-" is standard input, whose folder is the one that the process works in.
//
// INVALID_ARGUMENT is one line, "FILE:LINE: KEY: what": unknown or repeated keys, wrong types,
// unknown words, all that CheckJobSpec refuses, and, of the list's file and line, what
// ParseRepositoryList, ParsePairList or ParseOptOutList refuses. NOT_FOUND: no such file.
// RESOURCE_EXHAUSTED: over 4 MiB.
absl::StatusOr<v1::JobSpec> LoadJobFile(const std::string& path);

// The same of a file's text; `path` is used for messages and to find what it names.
absl::StatusOr<v1::JobSpec> ParseJobFile(absl::string_view text, const std::string& path);

// The spec as a job file: equal specs give equal bytes, and ParseJobFile gives an equal spec back
// where every local origin is absolute.
std::string JobFileYaml(const v1::JobSpec& spec);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_JOB_FILE_H_
