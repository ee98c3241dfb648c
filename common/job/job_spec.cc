#include "common/job/job_spec.h"

#include <google/protobuf/repeated_ptr_field.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/dsl/labels.h"
#include "common/job/compile_policy.h"
#include "common/job/field_check.h"
#include "common/job/mix_check.h"
#include "common/job/opt_out.h"
#include "common/job/review_list.h"
#include "common/job/source_spec.h"
#include "common/job/split_policy.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::job {
namespace {

template <typename Entry>
using Repeated = google::protobuf::RepeatedPtrField<Entry>;

constexpr int kMaxSources = 100'000;
constexpr double kMaxHours = 87'600;  // ten years
// After a visit, as Software Heritage does it.
constexpr double kSuccessHours = 12;
constexpr double kFailureHours = 14 * 24;
constexpr double kNotFoundHours = 31 * 24;

absl::Status CheckName(absl::string_view name) {
  const bool known = std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
  });
  if (name.empty() || name.size() > 64 || !known || name[0] == '.' || name[0] == '-') {
    return FieldError("name",
                      "1 to 64 letters, digits, '.', '_' and '-', not beginning with '.' or '-'");
  }
  return absl::OkStatus();
}

absl::Status CheckHours(const std::string& where, double hours) {
  if (hours >= 0 && hours <= kMaxHours) return absl::OkStatus();
  return FieldError(where, absl::StrCat("is not between 0 and ", kMaxHours));
}

absl::Status CheckDedup(const v1::DedupPolicy& policy) {
  RETURN_IF_ERROR(CheckShare("dedup.threshold", policy.threshold()));
  RETURN_IF_ERROR(CheckShare("dedup.structural_threshold", policy.structural_threshold()));
  const v1::ContaminationPolicy& contamination = policy.contamination();
  RETURN_IF_ERROR(CheckShare("dedup.contamination.threshold", contamination.threshold()));
  RETURN_IF_ERROR(CheckShare("dedup.contamination.overlap", contamination.overlap()));
  RETURN_IF_ERROR(CheckShare("dedup.contamination.structural", contamination.structural()));
  if (v1::ContaminationAction_IsValid(contamination.action())) return absl::OkStatus();
  return FieldError("dedup.contamination.action", "is unknown");
}

absl::Status CheckWords(const std::string& where, const Repeated<std::string>& words,
                        const std::vector<absl::string_view>& known) {
  for (const std::string& word : words) {
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    return FieldError(where, absl::StrCat("unknown word ", JsonString(word), "; ",
                                          absl::StrJoin(known, ", "), " are known"));
  }
  return absl::OkStatus();
}

absl::Status CheckQuality(const v1::QualityPolicy& policy) {
  for (const std::string& check : policy.require()) {
    if (v1::Checks::descriptor()->FindFieldByName(check) == nullptr) {
      return FieldError("quality.require", absl::StrCat("unknown check ", JsonString(check)));
    }
  }
  if (!(policy.min_score() >= 0 && policy.min_score() <= 1)) {
    return FieldError("quality.min_score", "is not between 0 and 1");
  }
  if (policy.min_tokens() < 0) return FieldError("quality.min_tokens", "is negative");
  RETURN_IF_ERROR(CheckWords("quality.exclude_kinds", policy.exclude_kinds(), dsl::KernelKinds()));
  RETURN_IF_ERROR(CheckWords("quality.targets", policy.targets(), dsl::KernelTargets()));
  if (!v1::SensitivePolicy_IsValid(policy.secrets()))
    return FieldError("quality.secrets", "is unknown");
  if (!v1::SensitivePolicy_IsValid(policy.emails()))
    return FieldError("quality.emails", "is unknown");
  return absl::OkStatus();
}

// What nobody asks a compiler is exempt of all kernels: requiring it would silently do nothing.
absl::Status CheckEvidence(const v1::JobSpec& spec) {
  for (const std::string& check : spec.quality().require()) {
    if (!IsOfCompilers(check) || spec.has_compile()) continue;
    return FieldError("quality.require",
                      absl::StrCat(JsonString(check), " is known of a job that has compile alone"));
  }
  return absl::OkStatus();
}

absl::Status CheckPolicies(const v1::JobSpec& spec) {
  RETURN_IF_ERROR(CheckHours("visits.success_hours", spec.visits().success_hours()));
  RETURN_IF_ERROR(CheckHours("visits.failure_hours", spec.visits().failure_hours()));
  RETURN_IF_ERROR(CheckHours("visits.not_found_hours", spec.visits().not_found_hours()));
  RETURN_IF_ERROR(CheckDedup(spec.dedup()));
  RETURN_IF_ERROR(CheckQuality(spec.quality()));
  RETURN_IF_ERROR(CheckMix(spec.mix()));
  RETURN_IF_ERROR(CheckSplits(spec.splits()));
  RETURN_IF_ERROR(CheckCompile(spec.compile()));
  RETURN_IF_ERROR(CheckEvidence(spec));
  for (const std::string& license : spec.licenses().allow()) {
    if (license.empty()) return FieldError("licenses.allow", "has an empty identifier");
  }
  if (!v1::AdaptedPolicy_IsValid(spec.licenses().adapted()))
    return FieldError("licenses.adapted", "is unknown");
  return absl::OkStatus();
}

// Lists stand for sources and other entries until they are read.
bool IsList(const v1::Source& source) { return source.has_list(); }
template <typename Entry>
bool IsList(const Entry& entry) {
  return !entry.list().empty();
}

template <typename Entry>
absl::Status CheckListsAreRead(absl::string_view field, const Repeated<Entry>& entries) {
  for (int i = 0; i < entries.size(); ++i) {
    if (!IsList(entries.Get(i))) continue;
    return FieldError(absl::StrCat(field, "[", i, "].list"), "is to be read where the job file is");
  }
  return absl::OkStatus();
}

// Entries that `check` checks, or that are a list and nothing else: `says_more` whether one is also
// what messages call `kind`.
template <typename Entry, typename SaysMore, typename Check>
absl::Status CheckEntries(absl::string_view field, const Repeated<Entry>& entries, size_t most,
                          absl::string_view kind, SaysMore says_more, Check check) {
  if (static_cast<size_t>(entries.size()) > most) {
    return FieldError(field, absl::StrCat("has more than ", most));
  }
  for (int i = 0; i < entries.size(); ++i) {
    const std::string where = absl::StrCat(field, "[", i, "]");
    const Entry& entry = entries.Get(i);
    if (!IsList(entry)) {
      RETURN_IF_ERROR(check(where, entry));
    } else if (says_more(entry)) {
      return FieldError(where, absl::StrCat("has a list beside ", kind));
    } else {
      RETURN_IF_ERROR(CheckText(where + ".list", entry.list()));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPairs(const v1::JobSpec& spec) {
  const auto says_more = [](const v1::CuratedPair& pair) {
    return pair.has_cuda() || pair.has_triton();
  };
  return CheckEntries("pairs", spec.pairs(), kMaxPairs, "a pair", says_more, CheckPair);
}

absl::Status CheckOptOuts(const v1::JobSpec& spec) {
  const auto says_more = [](const v1::OptOut& entry) {
    return !entry.repository().empty() || !entry.owner().empty() || !entry.path().empty() ||
           !entry.sha256().empty();
  };
  return CheckEntries("opt_out", spec.opt_out(), kMaxOptOuts, "an entry", says_more, CheckOptOut);
}

absl::Status CheckReviews(const v1::JobSpec& spec) {
  const auto says_more = [](const v1::Review& review) {
    return review.has_kernel() || review.has_cuda() || review.has_triton();
  };
  return CheckEntries("reviews", spec.reviews(), kMaxReviews, "a decision", says_more, CheckReview);
}

// Copies of a holdout's text go as contaminated, unless the policy only labels them. So what is
// opted out cannot be such a holdout.
absl::Status CheckOptedOutHoldouts(const v1::JobSpec& spec) {
  if (spec.dedup().contamination().action() != v1::CONTAMINATION_ACTION_LABEL) {
    return absl::OkStatus();
  }
  const OptOutIndex index(spec.opt_out());
  for (const v1::Source& source : spec.sources()) {
    if (source.role() != v1::SOURCE_ROLE_HOLDOUT) continue;
    for (const int entry : index.Naming(source)) {
      if (spec.opt_out(entry).repository().empty() && spec.opt_out(entry).owner().empty()) continue;
      return FieldError(absl::StrCat("opt_out[", entry, "]"),
                        "names a holdout, of which dedup.contamination.action: label keeps copies");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckGates(const v1::Gates& gates) {
  if (gates.min_kept() < 0) return FieldError("gates.min_kept", "is negative");
  if (gates.max_failed_sources() < 0) return FieldError("gates.max_failed_sources", "is negative");
  RETURN_IF_ERROR(CheckShare("gates.max_rejected", gates.max_rejected()));
  RETURN_IF_ERROR(CheckShare("gates.max_duplicate", gates.max_duplicate()));
  RETURN_IF_ERROR(CheckShare("gates.max_contaminated", gates.max_contaminated()));
  RETURN_IF_ERROR(CheckShare("gates.max_unknown_license", gates.max_unknown_license()));
  return CheckShare("gates.max_failed_files", gates.max_failed_files());
}

void FillDefaults(v1::DedupPolicy& dedup) {
  if (dedup.threshold() == 0) dedup.set_threshold(0.7);
  if (dedup.structural_threshold() == 0) dedup.set_structural_threshold(0.9);
  v1::ContaminationPolicy& contamination = *dedup.mutable_contamination();
  if (contamination.threshold() == 0) contamination.set_threshold(0.5);
  if (contamination.overlap() == 0) contamination.set_overlap(0.5);
  if (contamination.structural() == 0) contamination.set_structural(0.85);
  if (contamination.action() == v1::CONTAMINATION_ACTION_UNSPECIFIED) {
    contamination.set_action(v1::CONTAMINATION_ACTION_DROP);
  }
}

void FillDefaults(v1::VisitPolicy& visits) {
  if (!visits.has_success_hours()) visits.set_success_hours(kSuccessHours);
  if (!visits.has_failure_hours()) visits.set_failure_hours(kFailureHours);
  if (!visits.has_not_found_hours()) visits.set_not_found_hours(kNotFoundHours);
}

}  // namespace

absl::Status CheckPair(const std::string& where, const v1::CuratedPair& pair) {
  RETURN_IF_ERROR(CheckReference(where + ".cuda", pair.cuda()));
  return CheckReference(where + ".triton", pair.triton());
}

absl::Status CheckJobSpec(const v1::JobSpec& spec) {
  RETURN_IF_ERROR(CheckListsAreRead("sources", spec.sources()));
  RETURN_IF_ERROR(CheckListsAreRead("pairs", spec.pairs()));
  RETURN_IF_ERROR(CheckListsAreRead("opt_out", spec.opt_out()));
  RETURN_IF_ERROR(CheckListsAreRead("reviews", spec.reviews()));
  RETURN_IF_ERROR(CheckWrittenSpec(spec));
  RETURN_IF_ERROR(CheckUses(spec));
  return CheckOptedOutHoldouts(spec);
}

absl::Status CheckWrittenSpec(const v1::JobSpec& spec) {
  RETURN_IF_ERROR(CheckName(spec.name()));
  if (spec.sources().empty()) return FieldError("sources", "is empty");
  if (spec.sources_size() > kMaxSources) {
    return FieldError("sources", absl::StrCat("has more than ", kMaxSources));
  }
  for (int i = 0; i < spec.sources_size(); ++i) {
    RETURN_IF_ERROR(CheckSource(absl::StrCat("sources[", i, "]"), spec.sources(i)));
  }
  RETURN_IF_ERROR(CheckPairs(spec));
  RETURN_IF_ERROR(CheckOptOuts(spec));
  RETURN_IF_ERROR(CheckGates(spec.gates()));
  RETURN_IF_ERROR(CheckReviews(spec));
  return CheckPolicies(spec);
}

v1::JobSpec WithDefaults(v1::JobSpec spec) {
  for (v1::Source& source : *spec.mutable_sources()) FillSourceDefaults(&source);
  if (spec.licenses().allow().empty()) {
    for (const char* id : {"MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC"}) {
      spec.mutable_licenses()->add_allow(id);
    }
  }
  if (spec.licenses().adapted() == v1::ADAPTED_POLICY_UNSPECIFIED)
    spec.mutable_licenses()->set_adapted(v1::ADAPTED_POLICY_LABEL);
  if (spec.has_visits()) FillDefaults(*spec.mutable_visits());
  FillDefaults(*spec.mutable_dedup());
  v1::QualityPolicy& quality = *spec.mutable_quality();
  if (quality.secrets() == v1::SENSITIVE_POLICY_UNSPECIFIED)
    quality.set_secrets(v1::SENSITIVE_POLICY_REJECT);
  if (quality.emails() == v1::SENSITIVE_POLICY_UNSPECIFIED)
    quality.set_emails(v1::SENSITIVE_POLICY_REDACT);
  if (spec.has_compile()) *spec.mutable_compile() = WithCompileDefaults(spec.compile());
  return spec;
}

}  // namespace kernelmill::job
