#ifndef KERNELMILL_DATASET_ANALYSIS_COMPILE_COUNTS_H_
#define KERNELMILL_DATASET_ANALYSIS_COMPILE_COUNTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "dataset/output/json.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// What a compiler made of kernels for one target.
struct TargetCounts {
  int64_t ok = 0;
  int64_t error = 0;
  int64_t unknown = 0;
  std::map<std::string, int64_t> errors;  // by stage
  std::map<std::string, int64_t>
      missing;  // by what was missing, without a parameter's name: "type"
};

// What compilers said of kernels. A kernel counts in one of the first four.
struct CompileCounts {
  int64_t compiles = 0;  // as the check: one compiler takes it
  int64_t fails = 0;
  int64_t unknown = 0;                           // tried, and nothing could be told
  std::map<std::string, int64_t> not_attempted;  // by reason
  std::map<std::pair<std::string, std::string>, TargetCounts> targets;  // by toolchain and target
};

// Adds what is known of the verdict's kernel; nothing where the job compiles nothing.
void AddCompiled(const v1::Verdict& verdict, CompileCounts* counts);
void AddTo(const CompileCounts& more, CompileCounts& sum);

// Of report.json and ANALYSIS.json.
Json CompileCountsJson(const CompileCounts& counts);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_ANALYSIS_COMPILE_COUNTS_H_
