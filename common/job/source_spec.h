#ifndef KERNELMILL_COMMON_JOB_SOURCE_SPEC_H_
#define KERNELMILL_COMMON_JOB_SOURCE_SPEC_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::job {

// Returns the host that fetching the source calls on: that of its URL, "package index", "repository
// search", or empty for a local source. Only politeness (limits for each host) depends on it, so a
// malformed URL may give any text.
std::string SourceHost(const v1::Source& source);

// Returns whether the text can be owner/name at GitHub.
bool IsGithubName(absl::string_view text);
// Returns the URL of the repository owner/name at GitHub.
std::string GithubUrl(absl::string_view name);

// Checks a source as it is written. INVALID_ARGUMENT names the field: "sources[2].ref: ...", where
// `where` is "sources[2]". Does not ask whether the origin can be reached.
absl::Status CheckSource(const std::string& where, const v1::Source& source);

// Checks Source.uses: each name must be that of another source of the job, which must not be a
// holdout, evidence or a search. Lists must have been read.
absl::Status CheckUses(const v1::JobSpec& spec);

// The glob of a source that has no `include`: its programs in Python, notebooks among them; of a
// source of evidence its JSON lines. And what an `inductor` source without globs leaves out: its
// debug folder has the models' graphs beside the kernels, as Python files too.
inline constexpr char kDefaultInclude[] = "**/*.{py,ipynb}";
inline constexpr char kEvidenceInclude[] = "**/*.jsonl";
inline constexpr char kGraphsInclude[] = "**/{graph.json,graph.py,model.py,output_code.py}";
// The tensors of cases, each named by its SHA-256, which evidence also has if its cases are run.
inline constexpr char kTensorInclude[] =
    "**/????????????????????????????????????????????????????????????????";
inline constexpr char kRunFolder[] = "run";  // beside a lock file: see RunSourceName
inline constexpr char kInductorExclude[] = "**/fx_graph_*.py";

// Sets every field that the source leaves out to its default.
void FillSourceDefaults(v1::Source* source);

// Returns the name of the source in records: its name, else git URL, name==version, or path.
std::string SourceName(const v1::Source& source);

// Returns the name of the source that the results of running kernels on `device` become, which is
// also its folder beside the job's lock file: "run/cuda-90-0123456789ab", by the hash of its
// content.
std::string RunSourceName(absl::string_view device, absl::string_view sha256);
// Returns whether the source has such a name and that content.
bool IsRunSource(const v1::Source& source);

// Returns a repository that the search `discover` found as a source of its own.
v1::Source FoundSource(const v1::Source& discover, const std::string& git_url);

// Returns whether the source says exactly which bytes it means: a 40-digit commit, or a SHA-256.
bool IsPinned(const v1::Source& source);

// Returns whether every text of the source is read whole: it keeps files, or it is a holdout, which
// is compared as text.
bool ReadsWholeFiles(const v1::Source& source);

// Returns whether the source's graphs go into the dataset. All of its files are then handed on;
// only its kernels are extracted.
bool KeepsGraphs(const v1::Source& source);

// Returns the source as the job reads it. A job that asks for references reads whole files: tests
// have no kernel marker, and would be skipped.
v1::Source AsRead(const v1::JobSpec& settings, v1::Source source);

// Returns the part of a source that decides what is fetched: origin, name, ref, sha256, globs,
// keep, and the role if that is evidence.
v1::Source FetchPart(const v1::Source& source);

// Returns a pinned source as the manifest has it: its name in place of the URL or folder that it
// was fetched from, so that the dataset's digest does not depend on that. Its `url`, which records
// show, stays.
v1::Source Identity(const v1::Source& source);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_SOURCE_SPEC_H_
