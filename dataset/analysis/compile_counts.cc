#include "dataset/analysis/compile_counts.h"

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "common/manifest/ledger.h"

namespace kernelmill::dataset {
namespace {

// Returns the kind of what was missing. It drops parameters' names: there are too many.
std::string MissingKind(absl::string_view missing) {
  for (const absl::string_view kind : {"type", "constexpr"}) {
    if (absl::StartsWith(missing, kind) && missing.substr(kind.size(), 1) == ":") {
      return std::string(kind);
    }
  }
  return missing.empty() ? "unspecified" : std::string(missing);
}

void AddResult(const v1::CompileResult& result, TargetCounts* counts) {
  if (result.status() == v1::COMPILE_STATUS_OK) {
    ++counts->ok;
  } else if (result.status() == v1::COMPILE_STATUS_ERROR) {
    ++counts->error;
    ++counts->errors[result.stage().empty() ? "unspecified" : result.stage()];
  } else {
    ++counts->unknown;
    ++counts->missing[MissingKind(result.missing())];
  }
}

void AddAll(const std::map<std::string, int64_t>& more, std::map<std::string, int64_t>* sum) {
  for (const auto& [word, count] : more) (*sum)[word] += count;
}

Json WordsJson(const std::map<std::string, int64_t>& counts) {
  Json list = Json::array();
  for (const auto& [word, count] : counts) list.push_back({{"name", Text(word)}, {"count", count}});
  return list;
}

}  // namespace

void AddCompiled(const v1::Verdict& verdict, CompileCounts* counts) {
  if (!verdict.has_compiled()) return;
  const v1::CompiledKernel& compiled = verdict.compiled();
  if (!compiled.not_attempted().empty()) {
    ++counts->not_attempted[compiled.not_attempted()];
    return;
  }
  const v1::RuleResult::Outcome outcome = manifest::GetOutcome(verdict, "compiles");
  ++(outcome == v1::RuleResult::OUTCOME_PASS   ? counts->compiles
     : outcome == v1::RuleResult::OUTCOME_FAIL ? counts->fails
                                               : counts->unknown);
  for (const v1::CompileResult& result : compiled.results()) {
    AddResult(result, &counts->targets[{result.toolchain(), result.target()}]);
  }
}

void AddTo(const CompileCounts& more, CompileCounts& sum) {
  sum.compiles += more.compiles;
  sum.fails += more.fails;
  sum.unknown += more.unknown;
  AddAll(more.not_attempted, &sum.not_attempted);
  for (const auto& [target, counts] : more.targets) {
    TargetCounts& to = sum.targets[target];
    to.ok += counts.ok;
    to.error += counts.error;
    to.unknown += counts.unknown;
    AddAll(counts.errors, &to.errors);
    AddAll(counts.missing, &to.missing);
  }
}

Json CompileCountsJson(const CompileCounts& counts) {
  Json targets = Json::array();
  for (const auto& [target, of] : counts.targets) {
    targets.push_back({{"toolchain", target.first},
                       {"target", target.second},
                       {"ok", of.ok},
                       {"error", of.error},
                       {"unknown", of.unknown},
                       {"errors", WordsJson(of.errors)},
                       {"missing", WordsJson(of.missing)}});
  }
  return {{"compiles", counts.compiles},
          {"fails", counts.fails},
          {"unknown", counts.unknown},
          {"not_attempted", WordsJson(counts.not_attempted)},
          {"targets", std::move(targets)}};
}

}  // namespace kernelmill::dataset
