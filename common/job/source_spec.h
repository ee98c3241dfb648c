#ifndef KERNELMILL_COMMON_JOB_SOURCE_SPEC_H_
#define KERNELMILL_COMMON_JOB_SOURCE_SPEC_H_

#include <string>

#include "absl/status/status.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::job {

// INVALID_ARGUMENT, naming the field from `where` on ("sources[2].ref: ..."), unless the source, as
// it is written, can be asked for. Says nothing of whether its origin can be reached.
absl::Status CheckSource(const std::string& where, const v1::Source& source);

// INVALID_ARGUMENT unless each name that a source uses is that of another source, no holdout, which
// is no search; what a search finds uses what the search does. Lists must have been read.
absl::Status CheckUses(const v1::JobSpec& spec);

// Writes out what the source does not say.
void FillSourceDefaults(v1::Source* source);

// How records name the source: its name, else git URL, name==version, or path.
std::string SourceName(const v1::Source& source);

// A repository that the search `discover` found, as a source of its own.
v1::Source FoundSource(const v1::Source& discover, const std::string& git_url);

// Whether the source says exactly which bytes it is: a 40-digit commit, or a SHA-256.
bool IsPinned(const v1::Source& source);

// The part of a source that decides what is fetched: origin, name, ref, sha256 and globs.
v1::Source FetchPart(const v1::Source& source);

// A pinned source as the manifest names it: its name in place of where it was fetched from. Its
// `url`, which records show, stays.
v1::Source Identity(const v1::Source& source);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_SOURCE_SPEC_H_
