#ifndef KERNELMILL_DATASET_ANALYSIS_COMPILE_COUNTS_H_
#define KERNELMILL_DATASET_ANALYSIS_COMPILE_COUNTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "dataset/output/json.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// The results of a compiler for one target.
struct TargetCounts {
  int64_t ok = 0;
  int64_t error = 0;
  int64_t unknown = 0;
  std::map<std::string, int64_t> errors;   // by stage
  std::map<std::string, int64_t> missing;  // by kind, without a parameter's name: "type"
};

// The compilers' results for kernels. A kernel counts in one of the first four.
struct CompileCounts {
  int64_t compiles = 0;  // as the check: at least one compiler accepts it
  int64_t fails = 0;
  int64_t unknown = 0;                           // tried without a definite result
  std::map<std::string, int64_t> not_attempted;  // by reason
  std::map<std::pair<std::string, std::string>, TargetCounts> targets;  // by toolchain and target
};

// Adds the results for the verdict's kernel. Does nothing if the job does not compile.
void AddCompiled(const v1::Verdict& verdict, CompileCounts* counts);
void AddTo(const CompileCounts& more, CompileCounts& sum);

// Makes the object for report.json and ANALYSIS.json.
Json CompileCountsJson(const CompileCounts& counts);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_ANALYSIS_COMPILE_COUNTS_H_
