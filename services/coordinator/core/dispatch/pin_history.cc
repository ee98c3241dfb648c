#include "services/coordinator/core/visits.h"

#include "absl/strings/str_cat.h"

namespace kernelmill::coordinator {
namespace {

Visit Begin(const v1::Source& source, absl::Time now) {
  Visit visit;
  visit.git = source.git();
  visit.ref = source.ref();
  visit.when = now;
  return visit;
}

}  // namespace

std::optional<Visit> VisitOf(const v1::Source& source, const v1::StageResult& result,
                             absl::Time now) {
  if (!source.has_git()) return std::nullopt;
  Visit visit = Begin(source, now);
  visit.commit = result.pinned().ref();
  return visit;
}

std::optional<Visit> VisitOf(const v1::Source& source, const absl::Status& error, absl::Time now) {
  // Many servers say of a repository that is not there that it wants a password.
  const bool its_own = absl::IsNotFound(error) || absl::IsUnavailable(error) ||
                       absl::IsDeadlineExceeded(error) || absl::IsPermissionDenied(error);
  if (!source.has_git() || !its_own) return std::nullopt;
  Visit visit = Begin(source, now);
  visit.code = error.code();
  return visit;
}

absl::Duration CooldownAfter(const Visit& visit, const v1::VisitPolicy& policy) {
  if (visit.code == absl::StatusCode::kOk) return absl::Hours(policy.success_hours());
  if (visit.code == absl::StatusCode::kNotFound) return absl::Hours(policy.not_found_hours());
  return absl::Hours(policy.failure_hours());
}

bool IsRecent(const Visit& visit, const v1::VisitPolicy& policy, absl::Time now) {
  return visit.when <= now && now - visit.when < CooldownAfter(visit, policy);
}

absl::StatusOr<v1::StageResult> PinFrom(const Visit& visit, const v1::Source& source) {
  if (visit.code != absl::StatusCode::kOk) {
    const absl::string_view how =
        visit.code == absl::StatusCode::kNotFound ? "was not there" : "could not be reached";
    return absl::Status(
        visit.code,
        absl::StrCat("not visited: it ", how, " at ",
                     absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", visit.when, absl::UTCTimeZone()),
                     ", and the job's visits say to leave it alone for a while"));
  }
  v1::StageResult result;
  *result.mutable_pinned() = source;
  result.mutable_pinned()->set_ref(visit.commit);
  return result;
}

}  // namespace kernelmill::coordinator
