#include "services/coordinator/core/dispatch/pin_history.h"

#include "absl/strings/str_cat.h"
#include "common/job/source_spec.h"

namespace kernelmill::coordinator {
namespace {

PinRecord Begin(const v1::Source& source, absl::Time now) {
  PinRecord record;
  record.git = source.git();
  record.ref = source.ref();
  record.when = now;
  return record;
}

}  // namespace

std::optional<PinRecord> MakePinRecord(const v1::Source& source, const v1::StageResult& result,
                                       absl::Time now) {
  if (!source.has_git()) return std::nullopt;
  PinRecord record = Begin(source, now);
  record.commit = result.pinned().ref();
  return record;
}

// Returns the record of a failed pin if the failure says something about the repository; nothing
// for errors of this system.
std::optional<PinRecord> MakePinRecord(const v1::Source& source, const absl::Status& error,
                                       absl::Time now) {
  // PERMISSION_DENIED is included, since many servers ask for a password if a repository does not
  // exist.
  const bool its_own = absl::IsNotFound(error) || absl::IsUnavailable(error) ||
                       absl::IsDeadlineExceeded(error) || absl::IsPermissionDenied(error);
  if (!source.has_git() || !its_own) return std::nullopt;
  PinRecord record = Begin(source, now);
  record.code = error.code();
  return record;
}

absl::Duration CooldownAfter(const PinRecord& last, const v1::VisitPolicy& policy) {
  if (last.code == absl::StatusCode::kOk) return absl::Hours(policy.success_hours());
  if (last.code == absl::StatusCode::kNotFound) return absl::Hours(policy.not_found_hours());
  return absl::Hours(policy.failure_hours());
}

// A record from the future (the clock was set back) is not recent.
bool IsRecent(const PinRecord& last, const v1::VisitPolicy& policy, absl::Time now) {
  return last.when <= now && now - last.when < CooldownAfter(last, policy);
}

// Returns the result, or the error, that the last visit gave.
absl::StatusOr<v1::StageResult> ResultFrom(const PinRecord& last, const v1::Source& source) {
  if (last.code != absl::StatusCode::kOk) {
    const absl::string_view how =
        last.code == absl::StatusCode::kNotFound ? "was missing" : "was unreachable";
    return absl::Status(
        last.code,
        absl::StrCat("not visited: it ", how, " at ",
                     absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", last.when, absl::UTCTimeZone()),
                     ", and the job's `visits` do not allow another try yet"));
  }
  v1::StageResult result;
  *result.mutable_pinned() = job::FetchPart(source);  // as in a worker's result
  result.mutable_pinned()->set_ref(last.commit);
  return result;
}

}  // namespace kernelmill::coordinator
