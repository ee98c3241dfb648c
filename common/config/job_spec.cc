#include "common/config/job_spec.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/hex.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/base/url.h"
#include "common/config/compile_policy.h"
#include "common/config/mix_check.h"
#include "common/config/opt_out.h"
#include "common/config/review_list.h"
#include "common/config/split_policy.h"
#include "common/dsl/labels.h"
#include "common/spdx/expression.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::config {
namespace {

constexpr size_t kMaxText = 4096;
constexpr int kMaxSources = 100'000;
constexpr int kMaxFound = 20'000;     // by one search
constexpr double kMaxHours = 87'600;  // ten years
// After a visit, as Software Heritage does it.
constexpr double kSuccessHours = 12;
constexpr double kFailureHours = 14 * 24;
constexpr double kNotFoundHours = 31 * 24;

absl::Status Wrong(absl::string_view where, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", what));
}

absl::Status CheckName(absl::string_view name) {
  const bool known = std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
  });
  if (name.empty() || name.size() > 64 || !known || name[0] == '.' || name[0] == '-') {
    return Wrong("name",
                 "1 to 64 letters, digits, '.', '_' and '-', not beginning with '.' or '-'");
  }
  return absl::OkStatus();
}

absl::Status CheckPackage(absl::string_view where, absl::string_view package) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(package, absl::MaxSplits("==", 1));
  const auto known = [](absl::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
      return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-' || c == '+' || c == '!';
    });
  };
  if (!known(parts.first) || !known(parts.second)) {
    return Wrong(where, "a package is written name==version");
  }
  return absl::OkStatus();
}

// A page on the web that may stand in every record: http:// or https://, a host, and no
// credentials. A query or a fragment would come before the path that a link appends.
bool IsWebUrl(absl::string_view url) {
  if (!absl::ConsumePrefix(&url, "https://") && !absl::ConsumePrefix(&url, "http://")) return false;
  const absl::string_view authority = url.substr(0, url.find('/'));
  return !authority.empty() && !absl::StrContains(authority, '@') &&
         std::none_of(url.begin(), url.end(), [](unsigned char c) {
           return c <= ' ' || c >= 0x7f || absl::StrContains("?#\"<>\\^`{|}", c);
         });
}

// They would end in the dataset. The text of the URL is in no message.
absl::Status CheckNoCredentials(const std::string& where, absl::string_view url) {
  if (!HasCredentials(url)) return absl::OkStatus();
  return Wrong(where, "is a URL with a user name or password in it: it would end in the dataset");
}

absl::Status CheckUrl(const std::string& where, const std::string& url) {
  if (url.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckText(where, url));
  if (IsWebUrl(url)) return absl::OkStatus();
  return Wrong(where, "is no http:// or https:// URL without credentials, query and fragment");
}

// Where a git repository is on the web if its URL says so; else nothing.
std::string DefaultUrl(const v1::Source& source) {
  const bool page = absl::StartsWith(source.git(), "https://") && IsWebUrl(source.git());
  return page ? source.git() : "";
}

// What a source of many repositories cannot have.
absl::Status CheckOfMany(const std::string& where, const v1::Source& source) {
  if (!source.name().empty()) return Wrong(where + ".name", "is of one repository");
  if (!source.ref().empty()) return Wrong(where + ".ref", "is of one repository");
  if (!source.sha256().empty()) return Wrong(where + ".sha256", "is of one repository");
  if (!source.url().empty()) return Wrong(where + ".url", "is of one repository");
  return absl::OkStatus();
}

absl::Status CheckDiscover(const std::string& where, const v1::Source& source) {
  const v1::Discover& discover = source.discover();
  const std::string prefix = where + ".discover.";
  RETURN_IF_ERROR(CheckOfMany(where, source));
  if (discover.min_stars() < 0) return Wrong(prefix + "min_stars", "is negative");
  if (discover.limit() < 0 || discover.limit() > kMaxFound) {
    return Wrong(prefix + "limit", absl::StrCat("is not 1 to ", kMaxFound));
  }
  if (discover.topics().empty() && discover.readme().empty() && discover.code().empty()) {
    return Wrong(where + ".discover", "has none of topics, readme and code");
  }
  RETURN_IF_ERROR(CheckText(prefix + "language", discover.language()));
  RETURN_IF_ERROR(CheckText(prefix + "code", discover.code()));
  for (const std::string& topic : discover.topics()) {
    RETURN_IF_ERROR(CheckText(prefix + "topics", topic));
  }
  for (const std::string& word : discover.readme()) {
    RETURN_IF_ERROR(CheckText(prefix + "readme", word));
  }
  return absl::OkStatus();
}

absl::Status CheckOrigin(const std::string& where, const v1::Source& source) {
  switch (source.origin_case()) {
    case v1::Source::kGit:
      if (source.git().empty()) return Wrong(where + ".git", "is empty");
      if (!source.sha256().empty()) return Wrong(where + ".sha256", "is for packages and paths");
      RETURN_IF_ERROR(CheckNoCredentials(where + ".git", source.git()));
      return CheckText(where + ".git", source.git());
    case v1::Source::kPackage:
      if (!source.ref().empty()) return Wrong(where + ".ref", "is for git");
      RETURN_IF_ERROR(CheckText(where + ".package", source.package()));
      return CheckPackage(where + ".package", source.package());
    case v1::Source::kPath:
      if (source.path().empty()) return Wrong(where + ".path", "is empty");
      if (!source.ref().empty()) return Wrong(where + ".ref", "is for git");
      return CheckText(where + ".path", source.path());
    case v1::Source::kInductor:
      if (source.inductor().empty()) return Wrong(where + ".inductor", "is empty");
      if (!source.ref().empty()) return Wrong(where + ".ref", "is for git");
      return CheckText(where + ".inductor", source.inductor());
    case v1::Source::kDiscover:
      return CheckDiscover(where, source);
    case v1::Source::kList:
      if (source.list().empty()) return Wrong(where + ".list", "is empty");
      RETURN_IF_ERROR(CheckOfMany(where, source));
      return CheckText(where + ".list", source.list());
    case v1::Source::ORIGIN_NOT_SET:
      return Wrong(where, "has none of git, package, path, inductor, discover and list");
  }
  return Wrong(where, "has an unknown origin");
}

absl::Status CheckSource(const std::string& where, const v1::Source& source) {
  RETURN_IF_ERROR(CheckOrigin(where, source));
  RETURN_IF_ERROR(CheckText(where + ".ref", source.ref()));
  RETURN_IF_ERROR(CheckText(where + ".name", source.name()));
  RETURN_IF_ERROR(CheckNoCredentials(where + ".name", source.name()));
  RETURN_IF_ERROR(CheckText(where + ".category", source.category()));
  RETURN_IF_ERROR(CheckUrl(where + ".url", source.url()));
  if (!source.sha256().empty() && !IsLowerHex(source.sha256(), 64)) {
    return Wrong(where + ".sha256", "is not 64 lowercase hexadecimal digits");
  }
  for (const std::string& glob : source.include()) {
    RETURN_IF_ERROR(CheckText(where + ".include", glob));
    if (glob.empty()) return Wrong(where + ".include", "has an empty glob");
  }
  for (const std::string& glob : source.exclude()) {
    RETURN_IF_ERROR(CheckText(where + ".exclude", glob));
    if (glob.empty()) return Wrong(where + ".exclude", "has an empty glob");
  }
  if (source.tier() < 0) return Wrong(where + ".tier", "is negative");
  if (!(source.weight() >= 0 && source.weight() <= 1e6)) {
    return Wrong(where + ".weight", "is not between 0 and 1000000");
  }
  if (!source.license().empty()) {
    RETURN_IF_ERROR(
        Annotate(spdx::SpdxExpression::Parse(source.license()).status(), where + ".license"));
  }
  if (!v1::SourceRole_IsValid(source.role())) return Wrong(where + ".role", "is unknown");
  if (!v1::SourceKeep_IsValid(source.keep())) return Wrong(where + ".keep", "is unknown");
  if (source.keep() == v1::SOURCE_KEEP_FILES && source.role() == v1::SOURCE_ROLE_HOLDOUT) {
    return Wrong(where + ".keep", "is files, but nothing of a holdout is kept");
  }
  return absl::OkStatus();
}

// Each name is that of another source, no holdout, which is no search; what a search finds uses
// what the search does.
absl::Status CheckUses(const v1::JobSpec& spec) {
  std::map<std::string, const v1::Source*> by_name;
  for (const v1::Source& source : spec.sources()) {
    if (!source.has_discover() && !source.has_list()) by_name.emplace(SourceName(source), &source);
  }
  for (int i = 0; i < spec.sources_size(); ++i) {
    std::set<std::string> seen;
    for (const std::string& name : spec.sources(i).uses()) {
      const std::string where = absl::StrCat("sources[", i, "].uses");
      const auto used = by_name.find(name);
      if (used == by_name.end()) {
        return Wrong(where,
                     absl::StrCat("has ", JsonString(name), ", which is no source of the job"));
      }
      if (used->second == &spec.sources(i)) return Wrong(where, "has the source itself");
      if (used->second->role() == v1::SOURCE_ROLE_HOLDOUT) {
        return Wrong(where, absl::StrCat("has ", JsonString(name),
                                         ", a holdout: no module may have its text"));
      }
      if (!seen.insert(name).second) {
        return Wrong(where, absl::StrCat("has ", JsonString(name), " twice"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckHours(const std::string& where, double hours) {
  if (hours >= 0 && hours <= kMaxHours) return absl::OkStatus();
  return Wrong(where, absl::StrCat("is not between 0 and ", kMaxHours));
}

absl::Status CheckShare(const std::string& where, double share) {
  if (share >= 0 && share <= 1) return absl::OkStatus();
  return Wrong(where, "is not between 0 and 1");
}

absl::Status CheckDedup(const v1::DedupPolicy& policy) {
  RETURN_IF_ERROR(CheckShare("dedup.threshold", policy.threshold()));
  RETURN_IF_ERROR(CheckShare("dedup.structural_threshold", policy.structural_threshold()));
  const v1::ContaminationPolicy& contamination = policy.contamination();
  RETURN_IF_ERROR(CheckShare("dedup.contamination.threshold", contamination.threshold()));
  RETURN_IF_ERROR(CheckShare("dedup.contamination.overlap", contamination.overlap()));
  RETURN_IF_ERROR(CheckShare("dedup.contamination.structural", contamination.structural()));
  if (v1::ContaminationAction_IsValid(contamination.action())) return absl::OkStatus();
  return Wrong("dedup.contamination.action", "is unknown");
}

absl::Status CheckWords(const std::string& where,
                        const google::protobuf::RepeatedPtrField<std::string>& words,
                        const std::vector<absl::string_view>& known) {
  for (const std::string& word : words) {
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    return Wrong(where, absl::StrCat("unknown word ", JsonString(word), "; ",
                                     absl::StrJoin(known, ", "), " are known"));
  }
  return absl::OkStatus();
}

absl::Status CheckQuality(const v1::QualityPolicy& policy) {
  for (const std::string& check : policy.require()) {
    if (v1::Checks::descriptor()->FindFieldByName(check) == nullptr) {
      return Wrong("quality.require", absl::StrCat("unknown check ", JsonString(check)));
    }
  }
  if (!(policy.min_score() >= 0 && policy.min_score() <= 1)) {
    return Wrong("quality.min_score", "is not between 0 and 1");
  }
  if (policy.min_tokens() < 0) return Wrong("quality.min_tokens", "is negative");
  RETURN_IF_ERROR(CheckWords("quality.exclude_kinds", policy.exclude_kinds(), dsl::KernelKinds()));
  RETURN_IF_ERROR(CheckWords("quality.targets", policy.targets(), dsl::KernelTargets()));
  if (!v1::SensitivePolicy_IsValid(policy.secrets())) return Wrong("quality.secrets", "is unknown");
  if (!v1::SensitivePolicy_IsValid(policy.emails())) return Wrong("quality.emails", "is unknown");
  return absl::OkStatus();
}

// What nobody asks a compiler is exempt of all kernels: requiring it would silently do nothing.
absl::Status CheckEvidence(const v1::JobSpec& spec) {
  for (const std::string& check : spec.quality().require()) {
    if (!IsOfCompilers(check) || spec.has_compile()) continue;
    return Wrong("quality.require",
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
    if (license.empty()) return Wrong("licenses.allow", "has an empty identifier");
  }
  if (!v1::AdaptedPolicy_IsValid(spec.licenses().adapted()))
    return Wrong("licenses.adapted", "is unknown");
  return absl::OkStatus();
}

absl::Status CheckPairs(const v1::JobSpec& spec) {
  if (static_cast<size_t>(spec.pairs_size()) > kMaxPairs) {
    return Wrong("pairs", absl::StrCat("has more than ", kMaxPairs));
  }
  for (int i = 0; i < spec.pairs_size(); ++i) {
    const std::string where = absl::StrCat("pairs[", i, "]");
    const v1::CuratedPair& pair = spec.pairs(i);
    if (pair.list().empty()) {
      RETURN_IF_ERROR(CheckPair(where, pair));
    } else if (pair.has_cuda() || pair.has_triton()) {
      return Wrong(where, "has a list beside a pair");
    } else {
      RETURN_IF_ERROR(CheckText(where + ".list", pair.list()));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOptOuts(const v1::JobSpec& spec) {
  if (static_cast<size_t>(spec.opt_out_size()) > kMaxOptOuts) {
    return Wrong("opt_out", absl::StrCat("has more than ", kMaxOptOuts));
  }
  for (int i = 0; i < spec.opt_out_size(); ++i) {
    const std::string where = absl::StrCat("opt_out[", i, "]");
    const v1::OptOut& entry = spec.opt_out(i);
    if (entry.list().empty()) {
      RETURN_IF_ERROR(CheckOptOut(where, entry));
    } else if (!entry.repository().empty() || !entry.owner().empty() || !entry.path().empty() ||
               !entry.sha256().empty()) {
      return Wrong(where, "has a list beside an entry");
    } else {
      RETURN_IF_ERROR(CheckText(where + ".list", entry.list()));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckReviews(const v1::JobSpec& spec) {
  if (static_cast<size_t>(spec.reviews_size()) > kMaxReviews) {
    return Wrong("reviews", absl::StrCat("has more than ", kMaxReviews));
  }
  for (int i = 0; i < spec.reviews_size(); ++i) {
    const std::string where = absl::StrCat("reviews[", i, "]");
    const v1::Review& review = spec.reviews(i);
    if (review.list().empty()) {
      RETURN_IF_ERROR(CheckReview(where, review));
    } else if (review.has_kernel() || review.has_cuda() || review.has_triton()) {
      return Wrong(where, "has a list beside a decision");
    } else {
      RETURN_IF_ERROR(CheckText(where + ".list", review.list()));
    }
  }
  return absl::OkStatus();
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
      return Wrong(absl::StrCat("opt_out[", entry, "]"),
                   "names a holdout, of which dedup.contamination.action: label keeps copies");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckGates(const v1::Gates& gates) {
  if (gates.min_kept() < 0) return Wrong("gates.min_kept", "is negative");
  if (gates.max_failed_sources() < 0) return Wrong("gates.max_failed_sources", "is negative");
  RETURN_IF_ERROR(CheckShare("gates.max_rejected", gates.max_rejected()));
  RETURN_IF_ERROR(CheckShare("gates.max_duplicate", gates.max_duplicate()));
  RETURN_IF_ERROR(CheckShare("gates.max_contaminated", gates.max_contaminated()));
  RETURN_IF_ERROR(CheckShare("gates.max_unknown_license", gates.max_unknown_license()));
  return CheckShare("gates.max_failed_files", gates.max_failed_files());
}

// A torch_compile_debug folder has its models' graphs beside the kernels, in Python too.
void FillGlobs(v1::Source& source) {
  if (!source.include().empty()) return;
  source.add_include("**/*.py");
  if (source.has_inductor() && source.exclude().empty()) source.add_exclude("**/fx_graph_*.py");
}

void FillDefaults(v1::Discover& discover) {
  if (discover.min_stars() == 0) discover.set_min_stars(100);
  if (discover.language().empty()) discover.set_language("Python");
  if (discover.limit() == 0) discover.set_limit(1000);
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

absl::Status CheckText(absl::string_view where, absl::string_view text) {
  if (text.size() > kMaxText) return Wrong(where, absl::StrCat("longer than ", kMaxText, " bytes"));
  for (const char c : text) {
    if (absl::ascii_iscntrl(c)) return Wrong(where, "has a control character");
  }
  if (!text.empty() && text[0] == '-') return Wrong(where, "begins with '-'");
  return absl::OkStatus();
}

absl::Status CheckJobSpec(const v1::JobSpec& spec) {
  for (int i = 0; i < spec.sources_size(); ++i) {
    if (spec.sources(i).has_list()) {
      return Wrong(absl::StrCat("sources[", i, "].list"), "is to be read where the job file is");
    }
  }
  for (int i = 0; i < spec.pairs_size(); ++i) {
    if (!spec.pairs(i).list().empty()) {
      return Wrong(absl::StrCat("pairs[", i, "].list"), "is to be read where the job file is");
    }
  }
  for (int i = 0; i < spec.opt_out_size(); ++i) {
    if (!spec.opt_out(i).list().empty()) {
      return Wrong(absl::StrCat("opt_out[", i, "].list"), "is to be read where the job file is");
    }
  }
  for (int i = 0; i < spec.reviews_size(); ++i) {
    if (!spec.reviews(i).list().empty()) {
      return Wrong(absl::StrCat("reviews[", i, "].list"), "is to be read where the job file is");
    }
  }
  RETURN_IF_ERROR(CheckWrittenSpec(spec));
  RETURN_IF_ERROR(CheckUses(spec));
  return CheckOptedOutHoldouts(spec);
}

absl::Status CheckWrittenSpec(const v1::JobSpec& spec) {
  RETURN_IF_ERROR(CheckName(spec.name()));
  if (spec.sources().empty()) return Wrong("sources", "is empty");
  if (spec.sources_size() > kMaxSources) {
    return Wrong("sources", absl::StrCat("has more than ", kMaxSources));
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
  for (v1::Source& source : *spec.mutable_sources()) {
    if (source.git().size() && source.ref().empty()) source.set_ref("HEAD");
    FillGlobs(source);
    if (source.has_discover()) FillDefaults(*source.mutable_discover());
    if (source.category().empty()) source.set_category(SourceName(source));
    if (source.url().empty()) source.set_url(DefaultUrl(source));
    if (source.tier() == 0) source.set_tier(1);
    if (source.weight() == 0) source.set_weight(1);
    if (source.role() == v1::SOURCE_ROLE_UNSPECIFIED) source.set_role(v1::SOURCE_ROLE_CANDIDATE);
    // One way to say the default, so that saying it makes no other dataset.
    if (source.keep() == v1::SOURCE_KEEP_KERNELS) source.clear_keep();
  }
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

std::string SourceName(const v1::Source& source) {
  if (!source.name().empty()) return source.name();
  if (source.has_git()) return source.git();
  if (source.has_package()) return source.package();
  if (source.has_inductor()) return source.inductor();
  if (source.has_discover()) return "discover";
  return source.path();
}

v1::Source FoundSource(const v1::Source& discover, const std::string& git_url) {
  v1::Source source = discover;
  const bool labelled = source.category() != SourceName(discover);
  source.set_git(git_url);
  source.set_ref("HEAD");
  if (!labelled) source.set_category(git_url);
  source.set_url(DefaultUrl(source));
  return source;
}

bool IsPinned(const v1::Source& source) {
  return source.has_git() ? IsLowerHex(source.ref(), 40) : IsLowerHex(source.sha256(), 64);
}

v1::Source FetchPart(const v1::Source& source) {
  v1::Source part = source;
  part.clear_category();
  part.clear_tier();
  part.clear_weight();
  part.clear_role();
  part.clear_license();
  part.clear_url();
  part.clear_uses();
  if (source.keep() != v1::SOURCE_KEEP_FILES) part.clear_keep();
  return part;
}

v1::Source Identity(const v1::Source& source) {
  v1::Source identity = source;
  const std::string name = SourceName(source);
  if (identity.has_git()) identity.set_git(name);
  if (identity.has_package()) identity.set_package(name);
  if (identity.has_path()) identity.set_path(name);
  if (identity.has_inductor()) identity.set_inductor(name);
  identity.clear_name();
  return identity;
}

}  // namespace kernelmill::config
