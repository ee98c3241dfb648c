// The checks of a job, one function for each message of job.proto. A job is checked by the client
// that reads the file and again by the coordinator that gets it, so a check uses nothing except the
// message itself. Each function begins its error with the key of the field; job_file.cc finds the
// line in the file by that key.
//
// WithDefaults is what makes jobs comparable: two job files that mean the same give equal messages,
// and with them equal actions and equal datasets.
#include "common/job/job_spec.h"

#include <google/protobuf/repeated_ptr_field.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/base/url.h"
#include "common/dsl/labels.h"
#include "common/job/field_check.h"
#include "common/job/opt_out.h"
#include "common/job/pair_list.h"
#include "common/job/review_list.h"
#include "common/job/source_spec.h"
#include "common/spdx/expression.h"
#include "common/toolchains/toolchains.h"
#include "common/words/suggestion.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::job {
namespace {

// Checks repositories of one split. Two spellings of one repository have one RepositoryKey. `known`
// says where each repository was named before, by its key.
absl::Status CheckNames(const std::string& list,
                        const google::protobuf::RepeatedPtrField<std::string>& names,
                        std::map<std::string, std::string>* known) {
  for (int i = 0; i < names.size(); ++i) {
    const std::string where = absl::StrCat("splits.", list, "[", i, "]");
    RETURN_IF_ERROR(CheckText(where, names.Get(i)));
    if (names.Get(i).empty()) return FieldError(where, "must not be empty");
    const auto [at, added] =
        known->try_emplace(RepositoryKey(names.Get(i)), absl::StrCat(list, "[", i, "]"));
    if (!added) return FieldError(where, absl::StrCat("names the same repository as ", at->second));
  }
  return absl::OkStatus();
}

}  // namespace

// Both lists share `known`, so that no repository is in two splits.
absl::Status CheckSplits(const v1::SplitPolicy& policy) {
  RETURN_IF_ERROR(CheckShare("splits.validation", policy.validation()));
  RETURN_IF_ERROR(CheckShare("splits.test", policy.test()));
  if (policy.validation() + policy.test() >= 1) {
    return FieldError("splits",
                      "validation and test must add up to less than 1, so that train has a share");
  }
  RETURN_IF_ERROR(CheckText("splits.seed", policy.seed()));
  std::map<std::string, std::string> known;
  RETURN_IF_ERROR(CheckNames("validation_repositories", policy.validation_repositories(), &known));
  return CheckNames("test_repositories", policy.test_repositories(), &known);
}

bool Divides(const v1::SplitPolicy& policy) {
  return policy.validation() > 0 || policy.test() > 0 ||
         !policy.validation_repositories().empty() || !policy.test_repositories().empty();
}

namespace {

constexpr size_t kMaxName = 64;
constexpr int kMaxPhases = 100;
constexpr int kMaxParts = 1000;
constexpr int64_t kMaxTokens = int64_t{1} << 50;
constexpr double kMaxEpochs = 10'000;
// Files of rows, and templates of instruct.
constexpr absl::string_view kConfigs[] = {"kernels", "fim",      "instruct", "files",
                                          "write",   "complete", "launch",   "document",
                                          "repair",  "optimise", "review"};

absl::Status Wrong(const std::string& where, absl::string_view what) {
  return FieldError("mix." + where, what);
}

// Checks the name of a phase or a corpus, which must be unique.
absl::Status CheckOwnName(const std::string& where, const std::string& name,
                          std::set<std::string>& names) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
  });
  if (name.empty() || name.size() > kMaxName || !plain) {
    return Wrong(where, "must be 1 to 64 letters, digits, '.', '_' and '-'");
  }
  if (!names.insert(name).second)
    return Wrong(where, absl::StrCat(JsonString(name), " must not be used twice"));
  return absl::OkStatus();
}

absl::Status CheckTokens(const std::string& where, int64_t tokens) {
  if (tokens >= 0 && tokens <= kMaxTokens) return absl::OkStatus();
  return Wrong(where, absl::StrCat("must be between 0 and ", kMaxTokens));
}

// Checks a number that is finite and not negative; 0 means that it was not given.
absl::Status CheckAmount(const std::string& where, double amount, double most) {
  if (std::isfinite(amount) && amount >= 0 && amount <= most) return absl::OkStatus();
  return Wrong(where, absl::StrCat("must be between 0 and ", most));
}

// A part is rows of the dataset or an outside corpus. Only rows can be chosen by repository,
// category, DSL and tier.
absl::Status CheckPart(const std::string& where, const v1::MixPart& part,
                       const std::set<std::string>& corpora) {
  if (!part.corpus().empty()) {
    if (!corpora.contains(part.corpus())) {
      return Wrong(where + ".corpus",
                   absl::StrCat(JsonString(part.corpus()), " must be listed in mix.corpora"));
    }
    if (!part.config().empty() ||
        part.repositories_size() + part.categories_size() + part.dsls_size() + part.tiers_size() >
            0) {
      return Wrong(where, "must not choose rows of an outside corpus");
    }
  }
  if (!part.config().empty() &&
      std::find(std::begin(kConfigs), std::end(kConfigs), part.config()) == std::end(kConfigs)) {
    return Wrong(where + ".config",
                 absl::StrCat("unknown config ", JsonString(part.config()),
                              DidYouMean(part.config(), {std::begin(kConfigs), std::end(kConfigs)}),
                              "; use one of ", absl::StrJoin(kConfigs, ", ")));
  }
  for (const int tier : part.tiers()) {
    if (tier < 1 || tier > 3) return Wrong(where + ".tiers", "must be 1, 2 or 3");
  }
  RETURN_IF_ERROR(CheckAmount(where + ".weight", part.weight(), 1e9));
  RETURN_IF_ERROR(CheckAmount(where + ".epochs", part.epochs(), kMaxEpochs));
  if (part.weight() > 0 && part.epochs() > 0) {
    return Wrong(where, "must have a weight or epochs, not both");
  }
  return absl::OkStatus();
}

// Weights share the tokens of a phase; epochs state an amount of their own. So a phase without
// tokens must have no weights.
absl::Status CheckPhase(const std::string& where, const v1::MixPhase& phase,
                        const std::set<std::string>& corpora) {
  RETURN_IF_ERROR(CheckTokens(where + ".tokens", phase.tokens()));
  if (phase.parts_size() == 0) return Wrong(where + ".parts", "must list at least one part");
  if (phase.parts_size() > kMaxParts)
    return Wrong(where + ".parts", absl::StrCat("must have at most ", kMaxParts, " entries"));
  // A part without epochs takes a share by weight, so the phase must say how many tokens there are.
  bool shares = false;
  for (int i = 0; i < phase.parts_size(); ++i) {
    RETURN_IF_ERROR(CheckPart(absl::StrCat(where, ".parts[", i, "]"), phase.parts(i), corpora));
    shares = shares || phase.parts(i).epochs() == 0;
  }
  if (shares && phase.tokens() == 0) {
    return Wrong(where + ".tokens", "must be given, since parts without epochs share it");
  }
  return absl::OkStatus();
}

}  // namespace

// Names of corpora are collected first, since parts refer to them.
absl::Status CheckMix(const v1::Mix& mix) {
  std::set<std::string> corpora;
  for (int i = 0; i < mix.corpora_size(); ++i) {
    const std::string where = absl::StrCat("corpora[", i, "]");
    RETURN_IF_ERROR(CheckOwnName(where + ".name", mix.corpora(i).name(), corpora));
    RETURN_IF_ERROR(CheckTokens(where + ".tokens", mix.corpora(i).tokens()));
  }
  RETURN_IF_ERROR(CheckAmount("max_epochs", mix.max_epochs(), kMaxEpochs));
  if (mix.phases_size() > kMaxPhases)
    return Wrong("phases", absl::StrCat("must have at most ", kMaxPhases, " entries"));
  std::set<std::string> names;
  for (int i = 0; i < mix.phases_size(); ++i) {
    const std::string where = absl::StrCat("phases[", i, "]");
    RETURN_IF_ERROR(CheckOwnName(where + ".name", mix.phases(i).name(), names));
    RETURN_IF_ERROR(CheckPhase(where, mix.phases(i), corpora));
  }
  return absl::OkStatus();
}

namespace {

using Words = google::protobuf::RepeatedPtrField<std::string>;
using KnownWords = std::vector<std::string>;

// Returns the names of the pinned toolchains, from common/toolchains.
KnownWords KnownToolchains() {
  KnownWords names;
  for (const toolchains::PinnedToolchain& toolchain : toolchains::PinnedToolchains()) {
    names.emplace_back(toolchain.name);
  }
  return names;
}

KnownWords KnownTargets() {
  return {toolchains::CompileTargets().begin(), toolchains::CompileTargets().end()};
}

KnownWords KnownForms() { return {toolchains::KeptForms().begin(), toolchains::KeptForms().end()}; }

// `what`: a word of the list is called in an error, as in "unknown target".
absl::Status CheckWords(absl::string_view list, absl::string_view what, const Words& words,
                        const KnownWords& known) {
  std::set<absl::string_view> seen;
  for (int i = 0; i < words.size(); ++i) {
    const std::string where = absl::StrCat("compile.", list, "[", i, "]: ");
    if (std::find(known.begin(), known.end(), words.Get(i)) == known.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          where, "unknown ", what, " ", JsonString(words.Get(i)), DidYouMean(words.Get(i), known),
          "; use one of ", absl::StrJoin(known, ", ")));
    }
    if (!seen.insert(words.Get(i)).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, JsonString(words.Get(i)), " must not be listed twice"));
    }
  }
  return absl::OkStatus();
}

// Returns the words of `known` that `words` names, in the order of `known`.
Words InKnownOrder(const Words& words, const KnownWords& known) {
  Words ordered;
  for (const std::string& word : known) {
    if (std::find(words.begin(), words.end(), word) != words.end()) *ordered.Add() = word;
  }
  return ordered;
}

Words All(const KnownWords& known) { return {known.begin(), known.end()}; }

}  // namespace

// 0 seconds means the default, kDefaultCompileSeconds.
absl::Status CheckCompile(const v1::CompilePolicy& policy) {
  RETURN_IF_ERROR(CheckWords("toolchains", "toolchain", policy.toolchains(), KnownToolchains()));
  RETURN_IF_ERROR(CheckWords("targets", "target", policy.targets(), KnownTargets()));
  RETURN_IF_ERROR(CheckWords("keep", "form", policy.keep(), KnownForms()));
  if (policy.max_seconds() >= 0 && policy.max_seconds() <= kMaxCompileSeconds) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("compile.max_seconds: must be 1 to ", kMaxCompileSeconds));
}

bool IsCompilerCheck(absl::string_view check) { return check == "compiles" || check == "imports"; }

// An empty list means all, so a job that lists all words and one that lists none are equal
// afterwards.
v1::CompilePolicy WithCompileDefaults(const v1::CompilePolicy& policy) {
  v1::CompilePolicy full;
  *full.mutable_toolchains() = policy.toolchains().empty()
                                   ? All(KnownToolchains())
                                   : InKnownOrder(policy.toolchains(), KnownToolchains());
  *full.mutable_targets() = policy.targets().empty()
                                ? All(KnownTargets())
                                : InKnownOrder(policy.targets(), KnownTargets());
  *full.mutable_keep() = InKnownOrder(policy.keep(), KnownForms());
  full.set_max_seconds(policy.max_seconds() == 0 ? kDefaultCompileSeconds : policy.max_seconds());
  return full;
}

// The pinned hash of each toolchain is part of the parameters, and so of the action's key: other
// wheels mean another action.
v1::CompileParams MakeCompileParams(const v1::CompilePolicy& policy) {
  v1::CompileParams params;
  for (const std::string& name : policy.toolchains()) {
    const toolchains::PinnedToolchain* const pinned = toolchains::FindToolchain(name);
    v1::Toolchain& toolchain = *params.add_toolchains();
    toolchain.set_name(name);
    if (pinned != nullptr) toolchain = toolchains::ToProto(*pinned);
  }
  *params.mutable_targets() = policy.targets();
  *params.mutable_keep() = policy.keep();
  params.set_max_seconds(policy.max_seconds());
  return params;
}

namespace {

template <typename Entry>
using Repeated = google::protobuf::RepeatedPtrField<Entry>;

constexpr int kMaxSources = 100'000;
constexpr double kMaxHours = 87'600;  // ten years
// How long a repository is left alone after a visit, as Software Heritage does it.
constexpr double kSuccessHours = 12;
constexpr double kFailureHours = 14 * 24;
constexpr double kNotFoundHours = 31 * 24;

// Checks the job's name, which appears in file names and on command lines.
absl::Status CheckName(absl::string_view name) {
  const bool known = std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
  });
  // A leading dot would make a hidden file, and a leading minus an option.
  if (name.empty() || name.size() > 64 || !known || name[0] == '.' || name[0] == '-') {
    return FieldError("name",
                      "must be 1 to 64 letters, digits, '.', '_' and '-', and must not begin with "
                      "'.' or '-'");
  }
  return absl::OkStatus();
}

// NaN fails both comparisons and is refused.
absl::Status CheckHours(const std::string& where, double hours) {
  if (hours >= 0 && hours <= kMaxHours) return absl::OkStatus();
  return FieldError(where, absl::StrCat("must be between 0 and ", kMaxHours));
}

// Thresholds are shares. 0 means the default, which WithDefaults writes out.
absl::Status CheckDedup(const v1::DedupPolicy& policy) {
  RETURN_IF_ERROR(CheckShare("dedup.threshold", policy.threshold()));
  RETURN_IF_ERROR(CheckShare("dedup.structural_threshold", policy.structural_threshold()));
  const v1::ContaminationPolicy& contamination = policy.contamination();
  RETURN_IF_ERROR(CheckShare("dedup.contamination.threshold", contamination.threshold()));
  RETURN_IF_ERROR(CheckShare("dedup.contamination.overlap", contamination.overlap()));
  RETURN_IF_ERROR(CheckShare("dedup.contamination.structural", contamination.structural()));
  if (v1::ContaminationAction_IsValid(contamination.action())) return absl::OkStatus();
  return FieldError("dedup.contamination.action", "must be drop or label");
}

// Checks that each word is one of a vocabulary (common/dsl/labels.h).
absl::Status CheckWords(const std::string& where, const Repeated<std::string>& words,
                        const std::vector<absl::string_view>& known) {
  for (const std::string& word : words) {
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    return FieldError(where, absl::StrCat("unknown word ", JsonString(word),
                                          DidYouMean(word, {known.begin(), known.end()}),
                                          "; use one of ", absl::StrJoin(known, ", ")));
  }
  return absl::OkStatus();
}

KnownWords KnownChecks() {
  KnownWords names;
  const auto& checks = *v1::Checks::descriptor();
  for (int i = 0; i < checks.field_count(); ++i) names.push_back(checks.field(i)->name());
  return names;
}

absl::Status CheckQuality(const v1::QualityPolicy& policy) {
  // Checks are the fields of the message Checks, so a new one is known here at once.
  for (const std::string& check : policy.require()) {
    if (v1::Checks::descriptor()->FindFieldByName(check) == nullptr) {
      return FieldError("quality.require", absl::StrCat("unknown check ", JsonString(check),
                                                        DidYouMean(check, KnownChecks())));
    }
  }
  if (!(policy.min_score() >= 0 && policy.min_score() <= 1)) {
    return FieldError("quality.min_score", "must be between 0 and 1");
  }
  if (policy.min_tokens() < 0) return FieldError("quality.min_tokens", "must not be negative");
  RETURN_IF_ERROR(CheckWords("quality.exclude_kinds", policy.exclude_kinds(), dsl::KernelKinds()));
  RETURN_IF_ERROR(CheckWords("quality.targets", policy.targets(), dsl::KernelTargets()));
  if (!v1::SensitivePolicy_IsValid(policy.secrets()))
    return FieldError("quality.secrets", "must be redact, reject or label");
  if (!v1::SensitivePolicy_IsValid(policy.emails()))
    return FieldError("quality.emails", "must be redact, reject or label");
  return absl::OkStatus();
}

// Without a compiler every kernel is exempt from its checks, so requiring one would silently do
// nothing.
absl::Status CheckEvidence(const v1::JobSpec& spec) {
  for (const std::string& check : spec.quality().require()) {
    if (!IsCompilerCheck(check) || spec.has_compile()) continue;
    return FieldError("quality.require",
                      absl::StrCat(JsonString(check), " requires compile in the job"));
  }
  return absl::OkStatus();
}

// A lock file may be of a job that did not require hashes.
absl::Status CheckHashes(const v1::JobSpec& spec) {
  if (!spec.require_hashes()) return absl::OkStatus();
  for (int i = 0; i < spec.sources_size(); ++i) {
    if (!spec.sources(i).hash_computed()) continue;
    return FieldError(
        absl::StrCat("sources[", i, "].hash_computed"),
        "is refused by require_hashes: remove it if you have checked sha256 yourself");
  }
  return absl::OkStatus();
}

bool HasEvidence(const v1::JobSpec& spec) {
  return std::any_of(spec.sources().begin(), spec.sources().end(), [](const v1::Source& source) {
    return source.role() == v1::SOURCE_ROLE_EVIDENCE;
  });
}

// A policy without evidence would silently do nothing.
absl::Status CheckEvidencePolicy(const v1::JobSpec& spec) {
  if (!spec.has_evidence()) return absl::OkStatus();
  if (!HasEvidence(spec)) {
    return FieldError("evidence", "requires a source with the role evidence");
  }
  return CheckShare("evidence.min_adequacy", spec.evidence().min_adequacy());
}

// The cases that are run come from evidence, so without any nothing would be run.
absl::Status CheckRun(const v1::JobSpec& spec) {
  if (!spec.has_run()) return absl::OkStatus();
  const KnownWords known = {toolchains::RunDevices().begin(), toolchains::RunDevices().end()};
  const std::string& device = spec.run().device();
  if (std::find(known.begin(), known.end(), device) == known.end()) {
    return FieldError(
        "run.device",
        absl::StrCat(device.empty() ? "must be given"
                                    : absl::StrCat("unknown device ", JsonString(device),
                                                   DidYouMean(device, known)),
                     "; use one of ", absl::StrJoin(known, ", ")));
  }
  if (HasEvidence(spec)) return absl::OkStatus();
  return FieldError("run", "requires a source with the role evidence, which has the cases");
}

// Checks everything of a job except its sources and entries.
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
  RETURN_IF_ERROR(CheckEvidencePolicy(spec));
  RETURN_IF_ERROR(CheckRun(spec));
  RETURN_IF_ERROR(CheckHashes(spec));
  for (const std::string& license : spec.licenses().allow()) {
    if (license.empty())
      return FieldError("licenses.allow", "must not contain an empty identifier");
    if (license == spdx::kAnyLicense) continue;
    RETURN_IF_ERROR(Annotate(spdx::ParseKnownLicenses(license).status(), "licenses.allow"));
  }
  if (!v1::AdaptedPolicy_IsValid(spec.licenses().adapted()))
    return FieldError("licenses.adapted", "must be label or reject");
  return absl::OkStatus();
}

// An entry may be a list, which is a file of entries. The client replaces it by these before it
// submits the job. IsList says whether the entry is one.
bool IsList(const v1::Source& source) { return source.has_list(); }
template <typename Entry>
bool IsList(const Entry& entry) {
  return !entry.list().empty();
}

// The coordinator cannot read files of the client, so a list that is left is an error there.
template <typename Entry>
absl::Status CheckListsAreRead(absl::string_view field, const Repeated<Entry>& entries) {
  for (int i = 0; i < entries.size(); ++i) {
    if (!IsList(entries.Get(i))) continue;
    return FieldError(absl::StrCat(field, "[", i, "].list"),
                      "must be replaced by the list's entries before the job is submitted");
  }
  return absl::OkStatus();
}

// A field with entries. An entry may be a list.
struct EntryField {
  absl::string_view key;
  size_t most;             // entries
  absl::string_view kind;  // the name of an entry in errors
};

// Checks each entry with `check`, unless it is a list. A list must be nothing else: `says_more`
// tells whether an entry also has other fields.
template <typename Entry, typename SaysMore, typename Check>
absl::Status CheckEntries(const EntryField& field, const Repeated<Entry>& entries,
                          SaysMore says_more, Check check) {
  // The bound protects the coordinator, which keeps the job in memory.
  if (static_cast<size_t>(entries.size()) > field.most) {
    return FieldError(field.key, absl::StrCat("must have at most ", field.most, " entries"));
  }
  for (int i = 0; i < entries.size(); ++i) {
    const std::string where = absl::StrCat(field.key, "[", i, "]");
    const Entry& entry = entries.Get(i);
    if (!IsList(entry)) {
      RETURN_IF_ERROR(check(where, entry));
    } else if (says_more(entry)) {
      return FieldError(where, absl::StrCat("must be a list or ", field.kind, ", not both"));
    } else {
      RETURN_IF_ERROR(CheckText(where + ".list", entry.list()));
    }
  }
  return absl::OkStatus();
}

// A pair that is a list must have no kernels of its own.
absl::Status CheckPairs(const v1::JobSpec& spec) {
  const auto says_more = [](const v1::CuratedPair& pair) {
    return pair.has_cuda() || pair.has_triton();
  };
  return CheckEntries({"pairs", kMaxPairs, "a pair"}, spec.pairs(), says_more, CheckPair);
}

absl::Status CheckOptOuts(const v1::JobSpec& spec) {
  const auto says_more = [](const v1::OptOut& entry) {
    return !entry.repository().empty() || !entry.owner().empty() || !entry.path().empty() ||
           !entry.sha256().empty();
  };
  return CheckEntries({"opt_out", kMaxOptOuts, "an entry"}, spec.opt_out(), says_more, CheckOptOut);
}

absl::Status CheckReviews(const v1::JobSpec& spec) {
  const auto says_more = [](const v1::Review& review) {
    return review.has_kernel() || review.has_cuda() || review.has_triton();
  };
  return CheckEntries({"reviews", kMaxReviews, "a decision"}, spec.reviews(), says_more,
                      CheckReview);
}

// Checks that no holdout is opted out while its copies stay. Copies of a holdout are dropped as
// contaminated, unless the policy only labels them.
absl::Status CheckOptedOutHoldouts(const v1::JobSpec& spec) {
  if (spec.dedup().contamination().action() != v1::CONTAMINATION_ACTION_LABEL) {
    return absl::OkStatus();
  }
  // An entry without a repository or an owner names a hash, and no source.
  const OptOutIndex index(spec.opt_out());
  for (const v1::Source& source : spec.sources()) {
    if (source.role() != v1::SOURCE_ROLE_HOLDOUT) continue;
    for (const int entry : index.Naming(source)) {
      if (spec.opt_out(entry).repository().empty() && spec.opt_out(entry).owner().empty()) continue;
      return FieldError(absl::StrCat("opt_out[", entry, "]"),
                        "must not name a holdout while dedup.contamination.action is label, which "
                        "keeps its copies; use drop");
    }
  }
  return absl::OkStatus();
}

// 0 means that the job has no such gate.
absl::Status CheckGates(const v1::Gates& gates) {
  if (gates.min_kept() < 0) return FieldError("gates.min_kept", "must not be negative");
  if (gates.max_failed_sources() < 0)
    return FieldError("gates.max_failed_sources", "must not be negative");
  RETURN_IF_ERROR(CheckShare("gates.max_rejected", gates.max_rejected()));
  RETURN_IF_ERROR(CheckShare("gates.max_duplicate", gates.max_duplicate()));
  RETURN_IF_ERROR(CheckShare("gates.max_contaminated", gates.max_contaminated()));
  RETURN_IF_ERROR(CheckShare("gates.max_unknown_license", gates.max_unknown_license()));
  return CheckShare("gates.max_failed_files", gates.max_failed_files());
}

// The similarities from which on two kernels count as near duplicates, or one as contaminated.
constexpr double kNearDuplicate = 0.7;
constexpr double kStructuralDuplicate = 0.9;
constexpr double kContaminated = 0.5;
constexpr double kStructurallyContaminated = 0.85;

// The share of mutants that a kernel's cases must catch.
constexpr double kMinAdequacy = 0.8;

// 0 is not a useful threshold, so it means that the job gives none.
void FillDefaults(v1::DedupPolicy& dedup) {
  if (dedup.threshold() == 0) dedup.set_threshold(kNearDuplicate);
  if (dedup.structural_threshold() == 0) dedup.set_structural_threshold(kStructuralDuplicate);
  v1::ContaminationPolicy& contamination = *dedup.mutable_contamination();
  if (contamination.threshold() == 0) contamination.set_threshold(kContaminated);
  if (contamination.overlap() == 0) contamination.set_overlap(kContaminated);
  if (contamination.structural() == 0) contamination.set_structural(kStructurallyContaminated);
  if (contamination.action() == v1::CONTAMINATION_ACTION_UNSPECIFIED) {
    contamination.set_action(v1::CONTAMINATION_ACTION_DROP);
  }
}

// 0 hours is a useful value (always visit), so presence decides.
void FillDefaults(v1::VisitPolicy& visits) {
  if (!visits.has_success_hours()) visits.set_success_hours(kSuccessHours);
  if (!visits.has_failure_hours()) visits.set_failure_hours(kFailureHours);
  if (!visits.has_not_found_hours()) visits.set_not_found_hours(kNotFoundHours);
}

}  // namespace

// Checks a job as the coordinator gets it: lists have been read, and references between sources and
// entries must hold.
absl::Status CheckJobSpec(const v1::JobSpec& spec) {
  RETURN_IF_ERROR(CheckListsAreRead("sources", spec.sources()));
  RETURN_IF_ERROR(CheckListsAreRead("pairs", spec.pairs()));
  RETURN_IF_ERROR(CheckListsAreRead("opt_out", spec.opt_out()));
  RETURN_IF_ERROR(CheckListsAreRead("reviews", spec.reviews()));
  RETURN_IF_ERROR(CheckWrittenSpec(spec));
  RETURN_IF_ERROR(CheckUses(spec));
  return CheckOptedOutHoldouts(spec);
}

// The sources come first, since an error there is the most likely one.
absl::Status CheckWrittenSpec(const v1::JobSpec& spec) {
  RETURN_IF_ERROR(CheckName(spec.name()));
  if (spec.sources().empty()) return FieldError("sources", "must list at least one source");
  if (spec.sources_size() > kMaxSources) {
    return FieldError("sources", absl::StrCat("must have at most ", kMaxSources, " entries"));
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

// Defaults that differ between jobs (a source's category is its name) are written out too, so that
// no later stage has to know them.
v1::JobSpec WithDefaults(v1::JobSpec spec) {
  for (v1::Source& source : *spec.mutable_sources()) {
    const bool runs = spec.has_run() && source.role() == v1::SOURCE_ROLE_EVIDENCE;
    if (runs && source.include().empty()) {
      for (const absl::string_view glob : {kEvidenceInclude, kTensorInclude}) {
        source.add_include(std::string(glob));
      }
    }
    FillSourceDefaults(&source);
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
  if (HasEvidence(spec) && !spec.evidence().has_min_adequacy()) {
    spec.mutable_evidence()->set_min_adequacy(kMinAdequacy);
  }
  return spec;
}

}  // namespace kernelmill::job
