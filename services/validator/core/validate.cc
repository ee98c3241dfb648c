#include "services/validator/core/validate.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "services/validator/core/bpe/encoding.h"
#include "services/validator/core/checks.h"
#include "services/validator/core/license_finder.h"
#include "services/validator/core/license_policy.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kMaxLicenseCounters = 50;
constexpr size_t kMaxCounterName = 120;

// The licence of each file that has kernels, found once.
class FileLicenses {
 public:
  FileLicenses(const v1::FileShard& files, const v1::SourceTree& tree) : finder_(tree) {
    for (const v1::SourceFile& file : files.files()) contents_[file.path()] = &file.content();
  }

  absl::StatusOr<v1::License> Of(const std::string& path) {
    const auto known = licenses_.find(path);
    if (known != licenses_.end()) return known->second;
    const auto content = contents_.find(path);
    if (content == contents_.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a kernel is of ", JsonString(path), ", which is not among the files"));
    }
    return licenses_.emplace(path, finder_.Find(path, *content->second)).first->second;
  }

 private:
  LicenseFinder finder_;
  std::map<absl::string_view, const std::string*> contents_;
  std::map<std::string, v1::License> licenses_;
};

std::vector<std::string> Reasons(const v1::Kernel& kernel, const v1::Verdict& verdict,
                                 const v1::QualityPolicy& quality) {
  std::vector<std::string> reasons;
  if (!verdict.checks().license_permissive()) {
    reasons.push_back(absl::StrCat("license:", verdict.license().expression()));
  }
  if (kernel.form() == v1::KERNEL_FORM_TEMPLATE) reasons.emplace_back("template");
  for (const std::string& check : quality.require()) {
    if (Applies(check, kernel) && !Passes(verdict.checks(), check)) {
      reasons.push_back(absl::StrCat("quality:", check));
    }
  }
  std::sort(reasons.begin(), reasons.end());
  reasons.erase(std::unique(reasons.begin(), reasons.end()), reasons.end());
  return reasons;
}

v1::TokenCounts CountTokens(absl::string_view text) {
  v1::TokenCounts counts;
  counts.set_cl100k_base(static_cast<int64_t>(bpe::Cl100kBase().Count(text)));
  counts.set_o200k_base(static_cast<int64_t>(bpe::O200kBase().Count(text)));
  return counts;
}

}  // namespace

absl::StatusOr<v1::VerdictShard> Validate(const v1::KernelShard& kernels,
                                          const v1::FileShard& files, const v1::SourceTree& tree,
                                          const v1::ValidateParams& params) {
  for (const std::string& check : params.quality().require()) {
    RETURN_IF_ERROR(CheckIsKnown(check));
  }
  const LicensePolicy policy(params.licenses());
  FileLicenses licenses(files, tree);
  v1::VerdictShard shard;
  for (const v1::Kernel& kernel : kernels.kernels()) {
    v1::Verdict& verdict = *shard.add_verdicts();
    ASSIGN_OR_RETURN(*verdict.mutable_license(), licenses.Of(kernel.path()));
    *verdict.mutable_checks() = CheckKernel(kernel, policy.Allows(verdict.license().expression()));
    *verdict.mutable_source_tokens() = CountTokens(kernel.source());
    *verdict.mutable_module_tokens() = CountTokens(kernel.module());
    for (std::string& reason : Reasons(kernel, verdict, params.quality())) {
      verdict.add_reasons(std::move(reason));
    }
    verdict.set_accepted(verdict.reasons().empty());
  }
  return shard;
}

std::map<std::string, int64_t> CountVerdicts(const v1::VerdictShard& verdicts) {
  std::map<std::string, int64_t> counters;
  std::map<std::string, int64_t> licenses;
  for (const v1::Verdict& verdict : verdicts.verdicts()) {
    if (verdict.accepted()) {
      ++counters["kernels.accepted"];
    } else {
      const absl::string_view reason = verdict.reasons(0);
      ++counters[absl::StrCat("kernels.rejected.", reason.substr(0, reason.find(':')))];
    }
    for (const std::string& check : CheckNames()) {
      if (Passes(verdict.checks(), check)) ++counters[absl::StrCat("checks.", check)];
    }
    std::string name = absl::StrCat("license.", verdict.license().expression());
    const bool room = licenses.contains(name) || licenses.size() < kMaxLicenseCounters;
    if (name.size() > kMaxCounterName || !room) name = "license.other";
    ++licenses[name];
  }
  counters.merge(licenses);
  return counters;
}

}  // namespace kernelmill::validator
