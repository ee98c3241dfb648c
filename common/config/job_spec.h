#ifndef KERNELMILL_COMMON_CONFIG_JOB_SPEC_H_
#define KERNELMILL_COMMON_CONFIG_JOB_SPEC_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::config {

// INVALID_ARGUMENT, naming the field as a job file would ("sources[2].ref: ..."), unless the job
// can be run: at least one source, each with an origin, well-formed names, known checks, a
// threshold in (0, 1]. Says nothing of whether an origin can be reached.
absl::Status CheckJobSpec(const v1::JobSpec& spec);

// The same of a job as it is written: its lists need not have been read yet.
absl::Status CheckWrittenSpec(const v1::JobSpec& spec);

// The curated pairs that a job may have.
inline constexpr size_t kMaxPairs = 10'000;

// INVALID_ARGUMENT, naming `where`, unless the pair names two kernels.
absl::Status CheckPair(const std::string& where, const v1::CuratedPair& pair);

// Text that may become an argument of a program or a part of a path. INVALID_ARGUMENT, naming
// `where`: over 4096 bytes, with a control character, or beginning with '-'.
absl::Status CheckText(absl::string_view where, absl::string_view text);

// The spec with every default written out, so that equal jobs are equal messages.
v1::JobSpec WithDefaults(v1::JobSpec spec);

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

}  // namespace kernelmill::config

#endif  // KERNELMILL_COMMON_CONFIG_JOB_SPEC_H_
