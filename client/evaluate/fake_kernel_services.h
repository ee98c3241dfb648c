#ifndef KERNELMILL_CLIENT_EVALUATE_FAKE_KERNEL_SERVICES_H_
#define KERNELMILL_CLIENT_EVALUATE_FAKE_KERNEL_SERVICES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/evaluate/kernel_services.h"
#include "common/dsl/names.h"

namespace kernelmill::client {

// Services for tests. A text with "@jit NAME" is a kernel of this name. It has two loads, one of
// them masked if the text has "mask". A text with "(((" does not parse.
class FakeKernelServices final : public KernelServices {
 public:
  absl::StatusOr<v1::KernelShard> Extract(const v1::ExtractRequest& request) override {
    if (request.files_size() > most_files) return absl::ResourceExhaustedError("send fewer files");
    v1::KernelShard shard;
    for (const v1::SourceFile& file : request.files()) {
      v1::ExtractedFile* extracted = shard.add_files();
      extracted->set_path(file.path());
      const bool parsed = absl::StrContains(file.content(), "@jit");
      extracted->set_parse_errors(parsed && absl::StrContains(file.content(), "((("));
      extracted->set_first_error_line(1);
      const size_t at = file.content().find("@jit ");
      if (at == std::string::npos) continue;
      v1::Kernel* kernel = shard.add_kernels();
      kernel->set_path(file.path());
      kernel->set_source(file.content());
      kernel->set_name(
          file.content().substr(at + 5, file.content().find_first_of(" \n", at + 5) - at - 5));
      kernel->set_dsl(dsl::kTriton);
      kernel->set_role(v1::KERNEL_ROLE_KERNEL);
      kernel->set_self_contained(true);
      for (const auto& [word, reason] : unresolved) {
        if (!absl::StrContains(file.content(), word)) continue;
        kernel->set_self_contained(false);
        v1::UnresolvedName* name = kernel->add_unresolved_names();
        name->set_name(word);
        name->set_reason(reason);
      }
    }
    ++extract_calls;
    return shard;
  }

  absl::StatusOr<int> FirstErrorLine(const std::string& text) override {
    return absl::StrContains(text, "(((") ? 1 : 0;
  }

  absl::StatusOr<v1::VerdictShard> Validate(const v1::ValidateRequest& request) override {
    v1::VerdictShard shard;
    for (const v1::Kernel& kernel : request.kernels().kernels()) {
      v1::Verdict* verdict = shard.add_verdicts();
      const bool masked = absl::StrContains(kernel.source(), "mask");
      verdict->mutable_quality()->mutable_masks()->set_loads(2);
      verdict->mutable_quality()->mutable_masks()->set_masked_loads(masked ? 1 : 0);
      AddRule("has_bounds_masking", masked, verdict);
      AddRule("self_contained", kernel.self_contained(), verdict);
    }
    return shard;
  }

  // Returns the result that `compiles` has for the kernel's name, for each toolchain and target; ok
  // without one.
  absl::StatusOr<v1::CompiledShard> Compile(const v1::CompileRequest& request) override {
    v1::CompiledShard shard;
    for (const v1::Kernel& kernel : request.kernels().kernels()) {
      compiled.push_back(kernel);
      const auto given = compiles.find(kernel.name());
      v1::CompiledKernel* result = shard.add_kernels();
      if (!kernel.self_contained()) {
        result->set_not_attempted("not_self_contained");
        continue;
      }
      for (const std::string& toolchain : request.compile().toolchains()) {
        for (const std::string& target : request.compile().targets()) {
          v1::CompileResult* added = result->add_results();
          if (given != compiles.end()) *added = given->second;
          if (given == compiles.end()) added->set_status(v1::COMPILE_STATUS_OK);
          added->set_toolchain(toolchain);
          added->set_target(target);
        }
      }
    }
    return shard;
  }

  absl::StatusOr<ShingleOverlap> Compare(const std::string& text,
                                         const std::string& reference) override {
    return ShingleOverlap{text == reference ? 1.0 : 0.25, text == reference ? 1.0 : 0.5};
  }

  absl::StatusOr<std::vector<std::optional<DatasetMatch>>> FindInDataset(
      const std::vector<v1::Kernel>& kernels) override {
    std::vector<std::optional<DatasetMatch>> found;
    for (const v1::Kernel& kernel : kernels) {
      const auto at = dataset.find(kernel.source());
      searched.push_back(kernel.source());
      found.push_back(at == dataset.end() ? std::nullopt : std::optional(at->second));
    }
    return found;
  }

  // Answers with the outcome that `runs` has for a code; without a task if it has none.
  absl::StatusOr<RunResults> RunAnswers(const std::vector<RunRequest>& requests) override {
    RunResults results;
    for (const RunRequest& request : requests) {
      const auto at = runs.find(request.code);
      results.outcomes.push_back(at == runs.end() ? std::nullopt : std::optional(at->second));
    }
    results.toolchain = {{"triton", "3.5.1"}};
    return results;
  }

  std::map<std::string, std::string> unresolved;      // by word in the text: the reason
  std::map<std::string, v1::CompileResult> compiles;  // by kernel
  std::map<std::string, DatasetMatch> dataset;        // by source
  std::map<std::string, RunOutcome> runs;             // by code
  std::vector<v1::Kernel> compiled;
  std::vector<std::string> searched;
  int most_files = 1000;  // in one call
  int extract_calls = 0;

 private:
  static void AddRule(const char* check, bool passes, v1::Verdict* verdict) {
    v1::RuleResult* rule = verdict->add_rules();
    rule->set_rule(check);
    rule->set_outcome(passes ? v1::RuleResult::OUTCOME_PASS : v1::RuleResult::OUTCOME_FAIL);
  }
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_FAKE_KERNEL_SERVICES_H_
