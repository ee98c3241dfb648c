// From checks to a decision. ListRules writes down every check with its outcome, Score condenses a
// verdict into a number, and Decide compares the verdict with the job's policy. All three are
// functions of the verdict and the kernel only, so they can be tested without a source.
#include "services/validator/core/quality/rules.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/text.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"
#include "common/job/job_spec.h"
#include "common/sensitive/sensitive.h"
#include "common/source_files/whole_files.h"
#include "services/validator/core/quality/checks.h"
#include "services/validator/core/quality/code_facts.h"
#include "services/validator/core/quality/text_signals.h"

namespace kernelmill::validator {
namespace {

constexpr int kNamesInReason = 5;
constexpr char kEmail[] = "email";

// Lists the first names that the module lacks.
std::string FreeNames(const v1::Kernel& kernel) {
  const auto& names = kernel.free_names();
  const auto end = names.size() > kNamesInReason ? names.begin() + kNamesInReason : names.end();
  const absl::string_view more = names.size() > kNamesInReason ? ", ..." : "";
  return ToUtf8(absl::StrCat("not in the module: ", absl::StrJoin(names.begin(), end, ", "), more));
}

// Returns why the check failed.
std::string ExplainFailure(absl::string_view check, const v1::Kernel& kernel,
                           const v1::Verdict& verdict) {
  const v1::Quality& quality = verdict.quality();
  if (check == "has_triton_jit") return "no jit decorator, call or wrapper";
  if (check == "has_bounds_masking") return "no mask, boundary_check, where or descriptor";
  if (check == "has_program_id") return "no program_id";
  if (check == "has_block_size") return "nothing sizes a block";
  if (check == "has_load_store") return "no load or store";
  if (check == "has_docstring") return "no docstring";
  if (check == "license_permissive")
    return absl::StrCat("the policy does not allow ", verdict.license().expression());
  if (check == "parses") return "a syntax error lies inside";
  if (check == "handwritten") return absl::StrCat("its file says: ", quality.generated());
  if (check == "readable") {
    return absl::StrCat("its longest line has ", quality.longest_line(), " bytes, its mean line ",
                        quality.mean_line());
  }
  return FreeNames(kernel);
}

bool IsAmong(const google::protobuf::RepeatedPtrField<std::string>& words,
             const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Adds a reason for each kind of secret or address that the policy rejects.
void AddSensitive(const v1::Quality& quality, const v1::QualityPolicy& policy,
                  std::set<std::string>* reasons) {
  for (const v1::Sensitive& finding : quality.sensitive()) {
    const bool email = finding.kind() == kEmail;
    if ((email ? policy.emails() : policy.secrets()) == v1::SENSITIVE_POLICY_REJECT) {
      reasons->insert(absl::StrCat("sensitive:", finding.kind()));
    }
  }
}

// Adds the reasons that apply to kernels only.
void AddKernelReasons(const v1::Kernel& kernel, const v1::Verdict& verdict,
                      const v1::QualityPolicy& policy, std::set<std::string>* reasons) {
  if (verdict.quality().score() < policy.min_score()) reasons->insert("quality:min_score");
  if (kernel.tokens() < policy.min_tokens()) reasons->insert("quality:min_tokens");
  if (IsAmong(policy.exclude_kinds(), verdict.kind()))
    reasons->insert(absl::StrCat("quality:kind:", verdict.kind()));
  if (!policy.targets().empty() && !IsAmong(policy.targets(), verdict.target()))
    reasons->insert(absl::StrCat("quality:target:", verdict.target()));
}

// Adds the reasons that apply to whole files only. A file with more findings than are listed cannot
// be redacted.
void AddFileReasons(const v1::Kernel& file, const v1::Quality& quality,
                    const v1::QualityPolicy& policy, std::set<std::string>* reasons) {
  const absl::string_view problem = source_files::WholeFileProblem(file.source());
  if (!problem.empty()) reasons->insert(std::string(problem));
  const bool labelled = policy.secrets() == v1::SENSITIVE_POLICY_LABEL &&
                        policy.emails() == v1::SENSITIVE_POLICY_LABEL;
  const bool all_found = quality.sensitive_size() < static_cast<int>(sensitive::kMaxSensitive);
  if (!labelled && !all_found) reasons->insert("sensitive:too_many");
}

// The weights and bounds of the score; rules.h explains them. A change needs a new version of the
// stage `validate`.
constexpr int kMuch = 3, kSome = 2, kLittle = 1;
constexpr double kHasHead = 0.4, kFullyCommented = 0.15, kTier1 = 0.8, kTier2 = 0.5;
constexpr int kWordsOfAHead = 3;
constexpr double kShort = 64, kWhole = 192, kLong = 4096, kVeryLong = 12288, kLeast = 0.7;

// A weighted mean of the parts that apply.
class Mean {
 public:
  void Add(int weight, double part) {
    sum_ += weight * part;
    weights_ += weight;
  }
  void AddShare(int weight, int64_t of, int64_t all) {
    if (all > 0) Add(weight, static_cast<double>(of) / static_cast<double>(all));
  }
  double Value() const { return weights_ == 0 ? 0 : sum_ / weights_; }

 private:
  double sum_ = 0;
  int weights_ = 0;
};

// Returns whether something shows how the kernel is used.
bool IsLaunched(const v1::Kernel& kernel) {
  return kernel.has_launcher() || !kernel.cuda().launches().empty() ||
         kernel.form() == v1::KERNEL_FORM_KERNEL_ARGUMENT;
}

// A docstring or comment above counts for 0.4, comments for up to 0.6.
double Documented(absl::string_view comment_above, const v1::Verdict& verdict) {
  const bool head =
      verdict.checks().has_docstring() || WordsOfProse(comment_above).size() >= kWordsOfAHead;
  const double comments = std::min(1.0, verdict.quality().comment_ratio() / kFullyCommented);
  return (head ? kHasHead : 0) + (1 - kHasHead) * comments;
}

void AddChecks(const v1::Verdict& verdict, Mean* mean) {
  int64_t passed = 0;
  int64_t asked = 0;
  for (const v1::RuleResult& result : verdict.rules()) {
    const bool counts = absl::StartsWith(result.rule(), "has_") &&
                        result.rule() != "has_docstring" &&
                        result.outcome() != v1::RuleResult::OUTCOME_EXEMPT;
    if (!counts) continue;
    ++asked;
    if (result.outcome() == v1::RuleResult::OUTCOME_PASS) ++passed;
  }
  mean->AddShare(kSome, passed, asked);
}

// Adds the outcome of the compilers, if there is one.
void AddCompiles(const v1::Verdict& verdict, Mean* mean) {
  const v1::RuleResult::Outcome outcome = CompilerRule("compiles", verdict.compiled()).outcome();
  if (outcome == v1::RuleResult::OUTCOME_EXEMPT) return;
  mean->Add(kSome, outcome == v1::RuleResult::OUTCOME_PASS ? 1 : 0);
}

void AddMasks(const v1::Kernel& kernel, const v1::MaskCoverage& masks, Mean* mean) {
  if (dsl::IsC(kernel.dsl())) mean->Add(kSome, IsGuarded(kernel.source()) ? 1 : 0);
  if (!dsl::CompilesAsTriton(kernel.dsl())) return;
  mean->AddShare(kSome, masks.masked_loads() + masks.masked_stores(),
                 masks.loads() + masks.stores());
}

// A role is understood if it is one of pointer, stride, size and constexpr.
void AddParameters(const v1::Kernel& kernel, Mean* mean) {
  if (kernel.dsl() == dsl::kPallas) return;
  const auto understood = [](const v1::Parameter& parameter) {
    return parameter.role() != v1::PARAMETER_ROLE_OTHER &&
           parameter.role() != v1::PARAMETER_ROLE_UNSPECIFIED;
  };
  mean->AddShare(kLittle,
                 std::count_if(kernel.parameters().begin(), kernel.parameters().end(), understood),
                 kernel.parameters_size());
}

// Rises to 1 and falls again, piecewise linear, so that one token more or less never changes the
// tier by a jump.
double LengthFactor(double tokens) {
  if (tokens < kShort) return kLeast * tokens / kShort;
  if (tokens < kWhole) return kLeast + (1 - kLeast) * (tokens - kShort) / (kWhole - kShort);
  if (tokens <= kLong) return 1;
  return std::max(kLeast, 1 - (1 - kLeast) * (tokens - kLong) / (kVeryLong - kLong));
}

// Returns the factor of a kind; 1 for a kind without one.
double KindFactor(absl::string_view kind) {
  static constexpr std::pair<absl::string_view, double> kFactors[] = {
      {"operation", 1},   {"example", 0.8}, {"helper", 0.7}, {"benchmark", 0.7},
      {"generated", 0.6}, {"test", 0.5},    {"broken", 0.2}};
  for (const auto& [name, factor] : kFactors) {
    if (kind == name) return factor;
  }
  return 1;
}

}  // namespace

// Writes an outcome for each check. A check of compilers is listed only if the job compiles.
void ListRules(const v1::Kernel& kernel, v1::Verdict* verdict) {
  for (const std::string& check : CheckNames()) {
    if (job::IsCompilerCheck(check) && !verdict->has_compiled()) continue;
    v1::RuleResult& result = *verdict->add_rules();
    result.set_rule(check);
    const absl::string_view exemption = Exemption(check, kernel);
    if (!exemption.empty()) {
      result.set_outcome(v1::RuleResult::OUTCOME_EXEMPT);
      result.set_reason(std::string(exemption));
    } else if (job::IsCompilerCheck(check)) {
      result = CompilerRule(check, verdict->compiled());
    } else if (Passes(verdict->checks(), check)) {
      result.set_outcome(v1::RuleResult::OUTCOME_PASS);
    } else {
      result.set_outcome(v1::RuleResult::OUTCOME_FAIL);
      result.set_reason(ExplainFailure(check, kernel, *verdict));
    }
  }
}

// The score is a mean of what speaks for the kernel, times factors for its length, its kind and
// syntax errors. Parts that do not apply to its language are left out of the mean instead of
// counting as 0. Three decimals are kept, so that the last bits of floating point never show in a
// dataset.
void Score(const v1::Kernel& kernel, absl::string_view comment_above, v1::Verdict* verdict) {
  const v1::Checks& checks = verdict->checks();
  v1::Quality& quality = *verdict->mutable_quality();
  Mean mean;
  mean.Add(kMuch, IsLaunched(kernel) ? 1 : 0);
  mean.Add(kMuch, Documented(comment_above, *verdict));
  mean.Add(kSome, kernel.tags().empty() ? 0 : 1);
  AddChecks(*verdict, &mean);
  AddMasks(kernel, quality.masks(), &mean);
  if (kernel.dsl() != dsl::kPallas) mean.Add(kSome, checks.self_contained() ? 1 : 0);
  AddCompiles(*verdict, &mean);
  AddParameters(kernel, &mean);
  mean.Add(kLittle, checks.handwritten() && checks.readable() ? 1 : 0);
  const double score = mean.Value() * LengthFactor(kernel.tokens()) * KindFactor(verdict->kind()) *
                       (checks.parses() ? 1 : 0.5);
  quality.set_score(static_cast<double>(static_cast<int64_t>(1000 * score + 0.5)) / 1000);
  quality.set_tier(quality.score() >= kTier1 ? 1 : quality.score() >= kTier2 ? 2 : 3);
}

// Reasons are sorted and each occurs once. Their words are part of the dataset (the ledger counts
// by them) and must stay stable.
void Decide(const v1::Kernel& kernel, const v1::QualityPolicy& quality, v1::Verdict* verdict) {
  std::set<std::string> reasons;
  if (!verdict->checks().license_permissive()) {
    reasons.insert(absl::StrCat("license:", verdict->license().expression()));
  }
  if (kernel.form() == v1::KERNEL_FORM_TEMPLATE) reasons.insert("template");
  if (kernel.form() == v1::KERNEL_FORM_FILE) {
    AddFileReasons(kernel, verdict->quality(), quality, &reasons);
  } else {
    AddKernelReasons(kernel, *verdict, quality, &reasons);
  }
  for (const v1::RuleResult& result : verdict->rules()) {
    if (IsAmong(quality.require(), result.rule()) &&
        result.outcome() == v1::RuleResult::OUTCOME_FAIL) {
      reasons.insert(absl::StrCat("quality:", result.rule()));
    }
  }
  AddSensitive(verdict->quality(), quality, &reasons);
  verdict->clear_reasons();
  for (const std::string& reason : reasons) verdict->add_reasons(reason);
  verdict->set_accepted(reasons.empty());
}

}  // namespace kernelmill::validator
