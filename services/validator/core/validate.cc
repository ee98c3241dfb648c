#include "services/validator/core/validate.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/path.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "services/validator/core/license/finder.h"
#include "services/validator/core/license/policy.h"
#include "services/validator/core/license/tree/others_notices.h"
#include "services/validator/core/license/words/origins.h"
#include "services/validator/core/quality/checks.h"
#include "services/validator/core/quality/mask_coverage.h"
#include "services/validator/core/quality/rules.h"
#include "services/validator/core/quality/sensitive.h"
#include "services/validator/core/quality/text_signals.h"
#include "services/validator/core/tokens/encoding.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kMaxLicenseCounters = 50;
constexpr size_t kMaxCounterName = 120;
constexpr int kMaxAdaptations = 16;  // of one kernel

// Which files a source has, by their last two parts and by their names.
class TreeFiles : public OwnFiles {
 public:
  explicit TreeFiles(const v1::SourceTree& tree) : tree_(tree) {}

  bool Has(absl::string_view path) const override {
    if (!filled_) {
      filled_ = true;
      for (const v1::FileEntry& file : tree_.files()) {
        ends_.insert(BaseName(file.path()));
        ends_.insert(LastTwo(file.path()));
      }
    }
    return ends_.contains(LastTwo(path));
  }

 private:
  static absl::string_view LastTwo(absl::string_view path) {
    const absl::string_view folder = FolderOf(path);
    if (folder.empty()) return path;
    const absl::string_view parent = BaseName(folder);
    return path.substr(static_cast<size_t>(parent.data() - path.data()));
  }

  const v1::SourceTree& tree_;
  mutable bool filled_ = false;
  mutable absl::flat_hash_set<absl::string_view> ends_;
};

// The files that have kernels, with their licences and what they say of origins, found once.
class Files {
 public:
  Files(const v1::FileShard& files, const v1::SourceTree& tree, absl::string_view stated)
      : tree_(tree), own_(tree), finder_(tree, stated) {
    for (const v1::SourceFile& file : files.files()) contents_[file.path()] = &file.content();
  }

  absl::StatusOr<const std::string*> ContentOf(const std::string& path) const {
    const auto content = contents_.find(path);
    if (content != contents_.end()) return content->second;
    return absl::InvalidArgumentError(
        absl::StrCat("a kernel is of ", JsonString(path), ", which is not among the files"));
  }

  v1::License LicenseOf(const v1::Kernel& kernel, const std::string& content) {
    const FileFacts& file = FactsOf(kernel.path(), content, kernel.has_json_pointer());
    v1::License license = file.license;
    if (kernel.has_json_pointer()) {
      // What its string says is about its own lines, which are counted as the kernel's are.
      AddOrigins(FindOrigins(kernel.path(), kernel.source(), tree_.repository(), own_), kernel,
                 kernel.first_line() - 1, &license);
    } else {
      AddOrigins(file.origins, kernel, 0, &license);
    }
    return license;
  }

 private:
  struct FileFacts {
    v1::License license;
    std::vector<OriginStatement> origins;
  };

  const FileFacts& FactsOf(const std::string& path, const std::string& content, bool is_json) {
    const auto known = facts_.find(path);
    if (known != facts_.end()) return known->second;
    FileFacts facts;
    if (!is_json) facts.origins = FindOrigins(path, content, tree_.repository(), own_);
    std::vector<std::string> of_the_file;
    for (const OriginStatement& origin : facts.origins) {
      if (origin.whole_file) of_the_file.push_back(origin.origin);
    }
    facts.license = finder_.Find(path, content, of_the_file);
    return facts_.emplace(path, std::move(facts)).first->second;
  }

  static void AddOrigins(const std::vector<OriginStatement>& origins, const v1::Kernel& kernel,
                         int lines_before, v1::License* license) {
    for (const OriginStatement& origin : origins) {
      if (license->adapted_from_size() == kMaxAdaptations) return;
      if (lines_before == 0 && !IsAbout(origin, kernel.first_line(), kernel.last_line())) continue;
      v1::Adaptation& adaptation = *license->add_adapted_from();
      adaptation.set_origin(origin.origin);
      adaptation.set_path(ToUtf8(kernel.path()));
      adaptation.set_line(origin.line + lines_before);
    }
  }

  const v1::SourceTree& tree_;
  const TreeFiles own_;
  LicenseFinder finder_;
  std::map<absl::string_view, const std::string*> contents_;
  std::map<std::string, FileFacts> facts_;
};

// "license:adapted:vllm-project/vllm", for the first origin whose licence or notice is not there.
void RejectAdapted(OthersNotices& notices, v1::Verdict* verdict) {
  const v1::License& license = verdict->license();
  for (const v1::Adaptation& adaptation : license.adapted_from()) {
    if (notices.Cover(adaptation, license)) continue;
    verdict->add_reasons(absl::StrCat("license:adapted:", adaptation.origin()));
    std::sort(verdict->mutable_reasons()->begin(), verdict->mutable_reasons()->end());
    verdict->set_accepted(false);
    return;
  }
}

v1::TokenCounts CountTokens(absl::string_view text) {
  v1::TokenCounts counts;
  counts.set_cl100k_base(static_cast<int64_t>(bpe::Cl100kBase().Count(text)));
  counts.set_o200k_base(static_cast<int64_t>(bpe::O200kBase().Count(text)));
  return counts;
}

// All that is to be known of the kernel before policies decide.
void Judge(const v1::Kernel& kernel, absl::string_view file, bool license_allowed,
           v1::Verdict* verdict) {
  const CodeFacts closure = ReadClosure(kernel);
  v1::Quality& quality = *verdict->mutable_quality();
  *quality.mutable_masks() = CoverMasks(closure);
  ReadLines(kernel, &quality);
  // What stands before a string of a JSON file is not said of it.
  quality.set_generated(GeneratedSign(kernel, kernel.has_json_pointer() ? kernel.source() : file));
  for (v1::Sensitive& finding : FindSensitive(kernel))
    *quality.add_sensitive() = std::move(finding);
  v1::Checks& checks = *verdict->mutable_checks();
  checks = CheckKernel(kernel, closure);
  checks.set_license_permissive(license_allowed);
  checks.set_handwritten(quality.generated().empty());
  checks.set_readable(!IsMinified(quality));
  ListRules(kernel, verdict);
  Score(verdict);
  *verdict->mutable_source_tokens() = CountTokens(kernel.source());
  *verdict->mutable_module_tokens() = CountTokens(kernel.module());
}

}  // namespace

absl::StatusOr<v1::VerdictShard> Validate(const v1::KernelShard& kernels,
                                          const v1::FileShard& files, const v1::SourceTree& tree,
                                          const v1::ValidateParams& params) {
  for (const std::string& check : params.quality().require()) {
    RETURN_IF_ERROR(CheckIsKnown(check));
  }
  const LicensePolicy policy(params.licenses());
  Files known(files, tree, params.source_license());
  OthersNotices notices(tree);
  v1::VerdictShard shard;
  for (const v1::Kernel& kernel : kernels.kernels()) {
    ASSIGN_OR_RETURN(const std::string* const file, known.ContentOf(kernel.path()));
    v1::Verdict& verdict = *shard.add_verdicts();
    *verdict.mutable_license() = known.LicenseOf(kernel, *file);
    Judge(kernel, *file, policy.Allows(verdict.license().expression()), &verdict);
    Decide(kernel, params.quality(), &verdict);
    if (policy.rejects_adapted()) RejectAdapted(notices, &verdict);
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
