#ifndef KERNELMILL_DATASET_ANALYSIS_ANALYSIS_H_
#define KERNELMILL_DATASET_ANALYSIS_ANALYSIS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "dataset/output/json.h"
#include "kernelmill/v1/dataset.pb.h"
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

// Counts of kernels, with the sizes of the kept ones.
struct Tally {
  int64_t found = 0;  // kernels in sources that are not holdouts
  int64_t kept = 0;
  int64_t lines = 0;  // this and the rest: of kept kernels
  int64_t size_bytes = 0;
  int64_t tokens = 0;  // `source` in cl100k_base
};

// The outcomes of a check: the number of kernels that pass it, fail it and are exempt from it.
struct Outcomes {
  int64_t pass = 0;
  int64_t fail = 0;
  int64_t exempt = 0;
};

void Count(v1::RuleResult::Outcome outcome, Outcomes& outcomes);
void AddTo(const Outcomes& more, Outcomes& sum);

// Counts of source files with kept kernels.
struct FileTally {
  int64_t files = 0;
  int64_t lines = 0;
  int64_t size_bytes = 0;
};

// Returns the dimensions by which kernels are counted, in the order of ANALYSIS.md. A kernel counts
// once in each, except for tags and features: it counts for each that it has.
const std::vector<std::string>& AnalysisDimensions();

// The statistics of a dataset's candidates, for people. Adding a kernel takes some microseconds, so
// that an exporter counts parts of a dataset on several threads, with an Analysis each, and adds
// them up. It holds 8 bytes per kept kernel, and a tally per word. Not thread-safe.
class Analysis {
 public:
  // The origin of a kernel.
  struct Origin {
    std::string repository;
    std::string category;
    int tier = 1;
  };

  void AddKernel(const Origin& origin, const v1::Kernel& kernel, const v1::Verdict& verdict,
                 const v1::Decision& decision);
  void AddFile(const Origin& origin, int64_t lines, int64_t size_bytes);
  // Adds a kept kernel's cluster: its number of kernels, including the kept one.
  void AddCluster(int64_t kernels) { ++clusters_[kernels]; }
  // Adds the statistics of other kernels.
  void Add(const Analysis& more);

  using Tallies = std::map<std::string, Tally>;
  const Tally& total() const { return total_; }
  // By dimension, then by word.
  const std::map<std::string, Tallies>& by() const { return by_; }

  // The outcomes of a check over all found and over all kept kernels.
  struct CheckTally {
    Outcomes found;
    Outcomes kept;
  };
  using Checks = std::map<std::string, CheckTally>;
  const Checks& checks() const { return checks_; }
  const std::map<std::string, Checks>& checks_by_category() const { return checks_by_category_; }

  // The compilers' results for found and for kept kernels.
  struct CompileTally {
    CompileCounts found;
    CompileCounts kept;
  };
  const CompileTally& compile() const { return compile_; }
  const std::map<std::string, CompileTally>& compile_by_repository() const {
    return compile_by_repository_;
  }
  const std::map<std::string, CompileTally>& compile_by_language() const {
    return compile_by_language_;
  }

  const std::map<std::string, FileTally>& files_by_category() const { return files_by_category_; }
  const std::map<std::string, FileTally>& files_by_repository() const {
    return files_by_repository_;
  }
  // Kernels by category and LicenseBasis().
  const std::map<std::string, Tallies>& licenses_by_category() const {
    return licenses_by_category_;
  }

  // Kernels that were not kept, by fate and the kind of their reason ("near", "license").
  const std::map<std::string, std::map<std::string, int64_t>>& losses() const { return losses_; }
  // The number of clusters by their number of kernels.
  const std::map<int64_t, int64_t>& clusters() const { return clusters_; }
  // The sizes of all kept kernels, in any order.
  const std::vector<uint32_t>& tokens() const { return tokens_; }
  const std::vector<uint32_t>& lines() const { return lines_; }

 private:
  Tally total_;
  std::map<std::string, Tallies> by_;
  Checks checks_;
  std::map<std::string, Checks> checks_by_category_;
  CompileTally compile_;
  std::map<std::string, CompileTally> compile_by_repository_;
  std::map<std::string, CompileTally> compile_by_language_;
  std::map<std::string, FileTally> files_by_category_;
  std::map<std::string, FileTally> files_by_repository_;
  std::map<std::string, Tallies> licenses_by_category_;
  std::map<std::string, std::map<std::string, int64_t>> losses_;
  std::map<int64_t, int64_t> clusters_;
  std::vector<uint32_t> tokens_;
  std::vector<uint32_t> lines_;
};

// Returns the source of a licence, the nearest to the kernel first: "header" (the file itself),
// "file" (a licence file above it), "metadata" (the package's), "job" (the job file), "unknown".
std::string LicenseBasis(const v1::License& license);

// Makes ANALYSIS.json. Field names are never data: counts by word are a list of objects with a
// `name`, the most kept first, then by name.
Json AnalysisJson(absl::string_view name, absl::string_view dataset, const Analysis& analysis);

// Makes ANALYSIS.md: the content of AnalysisJson() as tables.
std::string AnalysisMarkdown(const Json& analysis);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_ANALYSIS_ANALYSIS_H_
