#include "client/evaluate/static_checks.h"

#include <array>
#include <cstdlib>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/status.h"
#include "common/job/job_spec.h"

namespace kernelmill::client {
namespace {

constexpr size_t kMaxProblems = 50;

// No name that an import statement could have, so that no sample's code is linked with another's.
std::string PathOf(size_t sample) { return absl::StrFormat("%06d-generation.py", sample); }

absl::StatusOr<size_t> SampleAt(absl::string_view path, size_t samples) {
  size_t sample = 0;
  if (absl::SimpleAtoi(path.substr(0, path.find('-')), &sample) && sample < samples) return sample;
  return absl::InternalError(absl::StrCat("the extractor answered for ", path));
}

struct Found {
  v1::KernelShard kernels;
  std::vector<v1::Verdict> verdicts;
};

void AddProblem(std::string problem, SampleResult* result) {
  if (result->problems.size() < kMaxProblems) result->problems.push_back(std::move(problem));
}

absl::Status SetParses(const v1::ExtractedFile& file, const std::string& text,
                       KernelServices& services, SampleResult* result) {
  const bool empty = absl::StripAsciiWhitespace(text).empty();
  int error_line = file.parse_errors() ? file.first_error_line() : 0;
  if (!empty && file.kernels() == 0 && !file.parse_errors() && file.failed().empty()) {
    ASSIGN_OR_RETURN(error_line, services.FirstErrorLine(text));
  }
  const bool parses = !empty && error_line == 0 && !file.parse_errors() && file.failed().empty();
  result->values[{kStatic, "parses"}] = parses ? 1 : 0;
  if (parses) return absl::OkStatus();
  AddProblem(empty                    ? kNoCode
             : !file.failed().empty() ? absl::StrCat("cannot be read: ", file.failed())
                                      : absl::StrCat("a syntax error near line ", error_line),
             result);
  return absl::OkStatus();
}

// Whether each of the kernels passes of which it can be asked; nothing where it can of none.
void SetCheck(const Found& found, absl::string_view check, SampleResult* result) {
  bool asked = found.verdicts.empty();
  bool passes = !found.verdicts.empty();
  for (size_t i = 0; i < found.verdicts.size(); ++i) {
    for (const v1::RuleResult& rule : found.verdicts[i].rules()) {
      if (rule.rule() != check || rule.outcome() == v1::RuleResult::OUTCOME_EXEMPT) continue;
      asked = true;
      if (rule.outcome() == v1::RuleResult::OUTCOME_PASS) continue;
      passes = false;
      AddProblem(absl::StrCat(found.kernels.kernels(static_cast<int>(i)).name(), ": ", check,
                              rule.reason().empty() ? "" : ": ", rule.reason()),
                 result);
    }
  }
  if (asked) result->values[{kStatic, std::string(check)}] = passes ? 1 : 0;
}

void SetMaskedAccesses(const Found& found, SampleResult* result) {
  int accesses = 0;
  int masked = 0;
  for (const v1::Verdict& verdict : found.verdicts) {
    const v1::MaskCoverage& masks = verdict.quality().masks();
    accesses += masks.loads() + masks.stores();
    masked += masks.masked_loads() + masks.masked_stores();
  }
  if (accesses == 0) return;
  result->values[{kStatic, "masked_accesses"}] = static_cast<double>(masked) / accesses;
}

void AddUndefinedNames(const Found& found, SampleResult* result) {
  for (const v1::Kernel& kernel : found.kernels.kernels()) {
    for (const v1::UnresolvedName& name : kernel.unresolved_names()) {
      AddProblem(absl::StrCat(kernel.name(), " needs ", name.name(), ": ", name.reason()), result);
    }
  }
}

void Judge(const Found& found, SampleResult* result) {
  result->values[{kStatic, "has_kernel"}] = found.verdicts.empty() ? 0 : 1;
  if (found.verdicts.empty()) AddProblem("no kernel in it", result);
  for (const absl::string_view check : StaticChecks()) SetCheck(found, check, result);
  SetMaskedAccesses(found, result);
  AddUndefinedNames(found, result);
}

absl::Status PutWithSamples(v1::KernelShard kernels, const v1::VerdictShard& verdicts,
                            std::vector<Found>* found) {
  if (verdicts.verdicts_size() != kernels.kernels_size()) {
    return absl::InternalError("the validator answered for other kernels");
  }
  for (int i = 0; i < kernels.kernels_size(); ++i) {
    v1::Kernel& kernel = *kernels.mutable_kernels(i);
    ASSIGN_OR_RETURN(const size_t sample, SampleAt(kernel.path(), found->size()));
    *(*found)[sample].kernels.add_kernels() = std::move(kernel);
    (*found)[sample].verdicts.push_back(verdicts.verdicts(i));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const absl::string_view> StaticChecks() {
  static constexpr std::array<absl::string_view, 7> kChecks = {
      "has_triton_jit", "has_bounds_masking", "has_program_id", "has_block_size",
      "has_load_store", "readable",           "self_contained"};
  return kChecks;
}

absl::StatusOr<std::vector<v1::KernelShard>> CheckSamples(absl::Span<const std::string> texts,
                                                          KernelServices& services,
                                                          absl::Span<SampleResult* const> results) {
  v1::ExtractRequest files;
  for (size_t i = 0; i < texts.size(); ++i) {
    v1::SourceFile* file = files.add_files();
    file->set_path(PathOf(i));
    file->set_content(texts[i]);
  }
  ASSIGN_OR_RETURN(v1::KernelShard kernels, services.Extract(files));
  for (const v1::ExtractedFile& file : kernels.files()) {
    ASSIGN_OR_RETURN(const size_t sample, SampleAt(file.path(), texts.size()));
    RETURN_IF_ERROR(SetParses(file, texts[sample], services, results[sample]));
  }
  v1::ValidateRequest judged;
  *judged.mutable_kernels() = kernels;
  *judged.mutable_files() = std::move(*files.mutable_files());
  *judged.mutable_licenses() = job::WithDefaults({}).licenses();
  ASSIGN_OR_RETURN(const v1::VerdictShard verdicts, services.Validate(judged));
  std::vector<Found> found(texts.size());
  RETURN_IF_ERROR(PutWithSamples(std::move(kernels), verdicts, &found));
  std::vector<v1::KernelShard> shards;
  for (size_t i = 0; i < texts.size(); ++i) {
    Judge(found[i], results[i]);
    shards.push_back(std::move(found[i].kernels));
  }
  return shards;
}

}  // namespace kernelmill::client
