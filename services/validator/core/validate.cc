// The order of the steps matters: first everything that is a fact about the kernel (licence,
// signals, checks, kind, target, score), then what the job's policy makes of it (Decide), then the
// two rejections that need the whole source: code adapted from others, and opt-outs. A rejection
// never ends a verdict early: the record shows all reasons.
#include "services/validator/core/validate.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/opt_out.h"
#include "common/sensitive/sensitive.h"
#include "common/source_files/whole_files.h"
#include "common/tokens/encoding.h"
#include "services/validator/core/license/source_licenses.h"
#include "services/validator/core/opt_out.h"
#include "services/validator/core/quality/checks.h"
#include "services/validator/core/quality/code_facts.h"
#include "services/validator/core/quality/kind.h"
#include "services/validator/core/quality/rules.h"
#include "services/validator/core/quality/target.h"
#include "services/validator/core/quality/text_signals.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kMaxLicenseCounters = 50;
constexpr size_t kMaxCounterName = 120;

// The files that have kernels, and the targets of their imports, which are read once.
class Files {
 public:
  explicit Files(const v1::FileShard& files) {
    for (const v1::SourceFile& file : files.files()) contents_[file.path()] = &file.content();
  }

  absl::StatusOr<const std::string*> FindContent(const std::string& path) const {
    const auto content = contents_.find(path);
    if (content != contents_.end()) return content->second;
    return absl::InvalidArgumentError(
        absl::StrCat("the file ", JsonString(path), " of a kernel must be among the files"));
  }

  const Label& FindImports(const std::string& path, const std::string& content) {
    const auto known = imports_.find(path);
    if (known != imports_.end()) return known->second;
    return imports_.emplace(path, TargetOfImports(content)).first->second;
  }

 private:
  std::map<absl::string_view, const std::string*> contents_;
  std::map<std::string, Label> imports_;
};

// Adds "license:adapted:vllm-project/vllm" for the first origin whose licence or notice the tree
// does not have.
void RejectAdapted(SourceLicenses& licenses, v1::Verdict* verdict) {
  const std::string origin = licenses.OriginWithoutNotice(verdict->license());
  if (origin.empty()) return;
  verdict->add_reasons(absl::StrCat("license:adapted:", origin));
  std::sort(verdict->mutable_reasons()->begin(), verdict->mutable_reasons()->end());
  verdict->set_accepted(false);
}

// Counts the tokens of a text by both vocabularies.
v1::TokenCounts CountTokens(absl::string_view text) {
  v1::TokenCounts counts;
  counts.set_cl100k_base(static_cast<int64_t>(bpe::Cl100kBase().Count(text)));
  counts.set_o200k_base(static_cast<int64_t>(bpe::O200kBase().Count(text)));
  return counts;
}

// Fills in the checks that compilers answer; false if the job does not compile.
void SetCompilerChecks(const v1::Verdict& verdict, v1::Checks* checks) {
  const auto passes = [&](absl::string_view check) {
    return CompilerRule(check, verdict.compiled()).outcome() == v1::RuleResult::OUTCOME_PASS;
  };
  checks->set_compiles(passes("compiles"));
  checks->set_imports(passes("imports"));
}

// Fills in everything about the kernel that policies decide by.
void Judge(const v1::Kernel& kernel, absl::string_view file, const Label& imports,
           bool license_allowed, v1::Verdict* verdict) {
  const CodeFacts closure = ReadClosure(kernel);
  v1::Quality& quality = *verdict->mutable_quality();
  *quality.mutable_masks() = CoverMasks(closure);
  ReadLines(kernel, &quality);
  // Text around embedded code is not about the code.
  quality.set_generated(
      GeneratedSign(kernel, source_files::IsEmbedded(kernel) ? kernel.source() : file));
  const absl::string_view above = CommentAbove(kernel, file);
  const Label kind = FindKind(kernel, CollectProse(kernel, above), quality.generated());
  const Label target = FindTarget(kernel, imports);
  verdict->set_kind(kind.word);
  verdict->set_kind_rule(kind.rule);
  verdict->set_target(target.word);
  verdict->set_target_rule(target.rule);
  for (v1::Sensitive& finding : sensitive::FindSensitive(kernel))
    *quality.add_sensitive() = std::move(finding);
  v1::Checks& checks = *verdict->mutable_checks();
  checks = CheckKernel(kernel, closure);
  checks.set_license_permissive(license_allowed);
  checks.set_handwritten(quality.generated().empty());
  checks.set_readable(!IsMinified(quality));
  SetCompilerChecks(*verdict, &checks);
  ListRules(kernel, verdict);
  Score(kernel, above, verdict);
  *verdict->mutable_source_tokens() = CountTokens(kernel.source());
  *verdict->mutable_module_tokens() = CountTokens(kernel.module());
}

// Does the same for a whole file, whose only text is its source.
void JudgeFile(const v1::Kernel& file, bool license_allowed, v1::Verdict* verdict) {
  v1::Quality& quality = *verdict->mutable_quality();
  v1::Checks& checks = *verdict->mutable_checks();
  checks.set_license_permissive(license_allowed);
  if (source_files::WholeFileProblem(file.source()).empty()) {
    ReadLines(file, &quality);
    quality.set_generated(GeneratedSign(file, file.source()));
    for (v1::Sensitive& finding : sensitive::FindSensitive(file))
      *quality.add_sensitive() = std::move(finding);
    *verdict->mutable_source_tokens() = CountTokens(file.source());
  }
  checks.set_handwritten(quality.generated().empty());
  checks.set_readable(!IsMinified(quality));
  verdict->set_kind(kFileKind);
  ListRules(file, verdict);
}

}  // namespace

// Returns a verdict for each kernel, in their order. INVALID_ARGUMENT: an unknown check, a kernel
// without its file, or compile results of another shard.
absl::StatusOr<v1::VerdictShard> Validate(const v1::KernelShard& kernels,
                                          const v1::FileShard& files, const v1::SourceTree& tree,
                                          const v1::ValidateParams& params,
                                          const v1::CompiledShard* compiled) {
  if (compiled != nullptr && compiled->kernels_size() != kernels.kernels_size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the compiled shard has ", compiled->kernels_size(), " kernels; it must have ",
                     kernels.kernels_size()));
  }
  for (const std::string& check : params.quality().require()) {
    RETURN_IF_ERROR(CheckIsKnown(check));
  }
  const LicensePolicy policy(params.licenses());
  Files known(files);
  SourceLicenses licenses(tree, {params.source_license(),
                                 {params.path_licenses().begin(), params.path_licenses().end()}});
  ASSIGN_OR_RETURN(OptOuts opt_outs, OptOuts::Create(tree, params.opt_out()));
  v1::VerdictShard shard;
  for (int i = 0; i < kernels.kernels_size(); ++i) {
    const v1::Kernel& kernel = kernels.kernels(i);
    ASSIGN_OR_RETURN(const std::string* const file, known.FindContent(kernel.path()));
    v1::Verdict& verdict = *shard.add_verdicts();
    if (compiled != nullptr) *verdict.mutable_compiled() = compiled->kernels(i);
    *verdict.mutable_license() = licenses.Of(kernel, *file);
    const bool allowed = policy.Allows(verdict.license().expression());
    if (kernel.form() == v1::KERNEL_FORM_FILE) {
      JudgeFile(kernel, allowed, &verdict);
    } else {
      Judge(kernel, *file, known.FindImports(kernel.path(), *file), allowed, &verdict);
    }
    Decide(kernel, params.quality(), &verdict);
    if (policy.rejects_adapted()) RejectAdapted(licenses, &verdict);
    opt_outs.Reject(kernel, &verdict);
  }
  return shard;
}

// The number of counters is bounded: at most kMaxLicenseCounters licences have one of their own.
std::map<std::string, int64_t> CountVerdicts(const v1::VerdictShard& verdicts) {
  std::map<std::string, int64_t> counters;
  std::map<std::string, int64_t> licenses;
  for (const v1::Verdict& verdict : verdicts.verdicts()) {
    const bool file = verdict.kind() == kFileKind;
    const absl::string_view unit = file ? "training_files" : "kernels";
    if (verdict.accepted()) {
      ++counters[absl::StrCat(unit, ".accepted")];
    } else {
      const absl::string_view reason = job::GravestReason(verdict);
      ++counters[absl::StrCat(unit, ".rejected.", reason.substr(0, reason.find(':')))];
    }
    if (file) continue;
    for (const std::string& check : CheckNames()) {
      if (Passes(verdict.checks(), check)) ++counters[absl::StrCat("checks.", check)];
    }
    ++counters[absl::StrCat("kinds.", verdict.kind())];
    ++counters[absl::StrCat("targets.", verdict.target())];
    std::string name = absl::StrCat("license.", verdict.license().expression());
    const bool room = licenses.contains(name) || licenses.size() < kMaxLicenseCounters;
    if (name.size() > kMaxCounterName || !room) name = "license.other";
    ++licenses[name];
  }
  counters.merge(licenses);
  return counters;
}

}  // namespace kernelmill::validator
