#include "services/coordinator/core/plan/result_checks.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/cas/digest.h"
#include "common/job/job_spec.h"
#include "common/job/source_spec.h"

namespace kernelmill::coordinator {
namespace {

// Results come from workers, which may be broken or of another build. Each check here gives
// INVALID_ARGUMENT; the attempt then counts as failed. The bounds keep one result from filling the
// coordinator's memory; kMaxCount keeps a sum of many counters from overflowing.
constexpr int kMaxCounters = 1000;
constexpr size_t kMaxCounterName = 256;
constexpr int64_t kMaxCount = int64_t{1} << 52;
constexpr int kMaxFailures = 100;
constexpr size_t kMaxPath = 64 << 10;  // longer than any file system allows
constexpr size_t kMaxReason = 4096;

// Checks that a job file could name the URL instead of the search.
absl::Status CheckFoundUrl(const v1::Source& search, const std::string& url) {
  if (!absl::StartsWith(url, "https://") && !absl::StartsWith(url, "http://")) {
    return absl::InvalidArgumentError(
        absl::StrCat("found: must be a URL with http or https, not ", JsonString(url)));
  }
  v1::JobSpec spec;
  spec.set_name("found");
  *spec.add_sources() = job::FoundSource(search, url);
  return Annotate(job::CheckJobSpec(spec), "found");
}

}  // namespace

// Checks that a pin changed nothing of the source but what pinning sets: the ref of a git source,
// the SHA-256 of another one, and whether a package's was computed. The comparison restores the
// asked value in a copy and compares bytes.
absl::Status CheckPinned(const v1::Source& asked, const v1::StageResult& result) {
  const v1::Source& pinned = result.pinned();
  if (!job::IsPinned(pinned)) {
    return absl::InvalidArgumentError(absl::StrCat("pin: the source is not pinned: ref ",
                                                   JsonString(pinned.ref()), ", sha256 ",
                                                   JsonString(pinned.sha256())));
  }
  v1::Source rest = pinned;
  if (asked.has_git()) {
    rest.set_ref(asked.ref());
  } else {
    rest.set_sha256(asked.sha256());
    if (asked.has_package()) rest.clear_hash_computed();
  }
  // How much of the files is read is the plan's to say, not the answer's.
  v1::Source expected = job::FetchPart(asked);
  rest.clear_keep();
  expected.clear_keep();
  if (cas::SerializeDeterministically(rest) == cas::SerializeDeterministically(expected)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("pin: expected the source ",
                                                 JsonString(job::SourceName(asked)), ", not ",
                                                 JsonString(job::SourceName(pinned))));
}

// Found URLs must be strictly sorted: so they are also distinct, and a repeated search gives the
// same job.
absl::Status CheckFound(const v1::Source& search, const v1::StageResult& result) {
  if (result.found_size() > search.discover().limit()) {
    return absl::InvalidArgumentError(absl::StrCat("found: has ", result.found_size(),
                                                   " repositories, the limit is ",
                                                   search.discover().limit()));
  }
  for (int i = 0; i < result.found_size(); ++i) {
    RETURN_IF_ERROR(CheckFoundUrl(search, result.found(i)));
    if (i > 0 && result.found(i - 1) >= result.found(i)) {
      return absl::InvalidArgumentError(absl::StrCat("found[", i, "]: must be sorted"));
    }
  }
  return absl::OkStatus();
}

// The name has the device and the content, so that results of several runs stay apart. Nothing but
// the hash is the worker's to say.
absl::StatusOr<v1::Source> MakeRunSource(const std::string& device, const v1::StageResult& result) {
  v1::Source source;
  source.set_sha256(result.pinned().sha256());
  v1::Source said = result.pinned();
  said.clear_sha256();
  if (result.outputs_size() != 2 || said.ByteSizeLong() > 0 || !job::IsPinned(source)) {
    return absl::InvalidArgumentError(
        absl::StrCat("run: must have the outputs 'tree' and 'files' and their hash, not ",
                     result.outputs_size(), " outputs and the hash ", JsonString(source.sha256())));
  }
  source.set_path(job::RunSourceName(device, source.sha256()));
  source.set_role(v1::SOURCE_ROLE_EVIDENCE);
  job::FillSourceDefaults(&source);
  return source;
}

absl::Status CheckReport(const v1::StageResult& result) {
  if (result.counters_size() > kMaxCounters || result.failures_size() > kMaxFailures) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the result has ", result.counters_size(), " counters and ", result.failures_size(),
        " failures, the limits are ", kMaxCounters, " and ", kMaxFailures));
  }
  for (const v1::Counter& counter : result.counters()) {
    if (counter.name().empty() || counter.name().size() > kMaxCounterName) {
      return absl::InvalidArgumentError("a counter's name is empty or too long");
    }
    // A stage may correct an earlier stage's counter with a negative value.
    if (counter.value() < -kMaxCount || counter.value() > kMaxCount) {
      return absl::InvalidArgumentError(
          absl::StrCat("counter ", JsonString(counter.name()), " is ", counter.value()));
    }
  }
  for (const v1::FileFailure& failure : result.failures()) {
    if (failure.path().size() > kMaxPath || failure.reason().size() > kMaxReason) {
      return absl::InvalidArgumentError("a failure's path or reason is too long");
    }
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::coordinator
