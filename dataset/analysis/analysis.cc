#include "dataset/analysis/analysis.h"

#include <algorithm>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/text.h"
#include "common/manifest/ledger.h"
#include "dataset/output/json.h"

namespace kernelmill::dataset {
namespace {

constexpr char kUnknown[] = "unknown";

std::string WordOr(std::string word, absl::string_view otherwise) {
  return word.empty() || word == "unspecified" ? std::string(otherwise) : word;
}

void AddTo(const Tally& more, Tally& sum) {
  sum.found += more.found;
  sum.kept += more.kept;
  sum.lines += more.lines;
  sum.size_bytes += more.size_bytes;
  sum.tokens += more.tokens;
}

void AddTo(const Analysis::CheckTally& more, Analysis::CheckTally& sum) {
  AddTo(more.found, sum.found);
  AddTo(more.kept, sum.kept);
}

void AddTo(const Analysis::CompileTally& more, Analysis::CompileTally& sum) {
  AddTo(more.found, sum.found);
  AddTo(more.kept, sum.kept);
}

void AddTo(const FileTally& more, FileTally& sum) {
  sum.files += more.files;
  sum.lines += more.lines;
  sum.size_bytes += more.size_bytes;
}

void AddTo(int64_t more, int64_t& sum) { sum += more; }

// Of maps, and of maps of maps.
template <typename Key, typename Value>
void AddTo(const std::map<Key, Value>& more, std::map<Key, Value>& sum) {
  for (const auto& [key, value] : more) AddTo(value, sum[key]);
}

Tally MakeTally(const v1::Kernel& kernel, const v1::Verdict& verdict, bool kept) {
  Tally tally;
  tally.found = 1;
  if (!kept) return tally;
  tally.kept = 1;
  tally.lines = kernel.last_line() - kernel.first_line() + 1;
  tally.size_bytes = static_cast<int64_t>(kernel.source().size());
  tally.tokens = verdict.source_tokens().cl100k_base();
  return tally;
}

// The words of a kernel in every dimension.
std::vector<std::pair<absl::string_view, std::string>> GetWords(const Analysis::Origin& origin,
                                                               const v1::Kernel& kernel,
                                                               const v1::Verdict& verdict) {
  std::vector<std::pair<absl::string_view, std::string>> words = {
      {"repository", origin.repository},
      {"category", origin.category},
      {"source_tier", absl::StrCat(origin.tier)},
      {"quality_tier", absl::StrCat(verdict.quality().tier())},
      {"dsl", EnumWord(v1::Dsl_Name(kernel.dsl()), "DSL_")},
      {"role", WordOr(EnumWord(v1::KernelRole_Name(kernel.role()), "KERNEL_ROLE_"), "none")},
      {"kind", WordOr(verdict.kind(), kUnknown)},
      {"target", WordOr(verdict.target(), kUnknown)},
      {"license", WordOr(verdict.license().expression(), "NOASSERTION")},
      {"license_basis", LicenseBasis(verdict.license())},
  };
  for (const v1::Tag& tag : kernel.tags()) words.emplace_back("tag", tag.name());
  if (kernel.tags_size() == 0) words.emplace_back("tag", "(none)");
  for (const std::string& feature : kernel.features()) words.emplace_back("feature", feature);
  return words;
}

void CountChecks(const v1::Verdict& verdict, bool kept, Analysis::Checks& checks) {
  for (const v1::RuleResult& result : verdict.rules()) {
    Analysis::CheckTally& tally = checks[result.rule()];
    Count(result.outcome(), tally.found);
    if (kept) Count(result.outcome(), tally.kept);
  }
}

void CountCompiled(const v1::Verdict& verdict, bool kept, Analysis::CompileTally& tally) {
  AddCompiled(verdict, &tally.found);
  if (kept) AddCompiled(verdict, &tally.kept);
}

uint32_t Bounded(int64_t value) {
  return static_cast<uint32_t>(std::clamp<int64_t>(value, 0, std::numeric_limits<uint32_t>::max()));
}

}  // namespace

void Count(v1::RuleResult::Outcome outcome, Outcomes& outcomes) {
  outcomes.pass += outcome == v1::RuleResult::OUTCOME_PASS;
  outcomes.fail += outcome == v1::RuleResult::OUTCOME_FAIL;
  outcomes.exempt += outcome == v1::RuleResult::OUTCOME_EXEMPT;
}

void AddTo(const Outcomes& more, Outcomes& sum) {
  sum.pass += more.pass;
  sum.fail += more.fail;
  sum.exempt += more.exempt;
}

const std::vector<std::string>& AnalysisDimensions() {
  static const auto* const dimensions = new std::vector<std::string>{
      "repository", "category", "dsl",     "tag",           "feature",     "kind",
      "role",       "target",   "license", "license_basis", "source_tier", "quality_tier"};
  return *dimensions;
}

std::string LicenseBasis(const v1::License& license) {
  if (license.expression().empty() || license.expression() == "NOASSERTION") return kUnknown;
  const std::vector<absl::string_view> parts = absl::StrSplit(license.evidence(), '+');
  const auto any = [&](std::initializer_list<absl::string_view> prefixes) {
    return std::any_of(parts.begin(), parts.end(), [&](absl::string_view part) {
      return std::any_of(prefixes.begin(), prefixes.end(),
                         [&](absl::string_view prefix) { return absl::StartsWith(part, prefix); });
    });
  };
  if (any({"spdx-tag", "header", "annotation"})) return "header";
  if (any({"file"})) return "file";
  if (any({"metadata"})) return "metadata";
  if (any({"job"})) return "job";
  return kUnknown;
}

void Analysis::AddKernel(const Origin& origin, const v1::Kernel& kernel, const v1::Verdict& verdict,
                         const v1::Decision& decision) {
  const bool kept = decision.fate() == v1::FATE_KEPT;
  const Tally tally = MakeTally(kernel, verdict, kept);
  AddTo(tally, total_);
  for (auto& [dimension, word] : GetWords(origin, kernel, verdict)) {
    AddTo(tally, by_[std::string(dimension)][ToUtf8(word)]);
  }
  CountChecks(verdict, kept, checks_);
  CountChecks(verdict, kept, checks_by_category_[origin.category]);
  if (verdict.has_compiled()) {
    CountCompiled(verdict, kept, compile_);
    CountCompiled(verdict, kept, compile_by_repository_[origin.repository]);
  }
  AddTo(tally, licenses_by_category_[origin.category][LicenseBasis(verdict.license())]);
  if (!kept) {
    ++losses_[std::string(manifest::FateName(decision.fate()))]
             [manifest::ReasonKind(decision.reason())];
    return;
  }
  tokens_.push_back(Bounded(tally.tokens));
  lines_.push_back(Bounded(tally.lines));
}

void Analysis::AddFile(const Origin& origin, int64_t lines, int64_t size_bytes) {
  const FileTally file = {1, lines, size_bytes};
  AddTo(file, files_by_category_[origin.category]);
  AddTo(file, files_by_repository_[origin.repository]);
}

void Analysis::Add(const Analysis& more) {
  AddTo(more.total_, total_);
  AddTo(more.by_, by_);
  AddTo(more.checks_, checks_);
  AddTo(more.checks_by_category_, checks_by_category_);
  AddTo(more.compile_, compile_);
  AddTo(more.compile_by_repository_, compile_by_repository_);
  AddTo(more.files_by_category_, files_by_category_);
  AddTo(more.files_by_repository_, files_by_repository_);
  AddTo(more.licenses_by_category_, licenses_by_category_);
  AddTo(more.losses_, losses_);
  AddTo(more.clusters_, clusters_);
  tokens_.insert(tokens_.end(), more.tokens_.begin(), more.tokens_.end());
  lines_.insert(lines_.end(), more.lines_.begin(), more.lines_.end());
}

}  // namespace kernelmill::dataset
