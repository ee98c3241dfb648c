#ifndef KERNELMILL_DATASET_ANALYSIS_ANALYSIS_H_
#define KERNELMILL_DATASET_ANALYSIS_ANALYSIS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "dataset/analysis/compile_counts.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// How much of something a dataset has.
struct Tally {
  int64_t found = 0;  // kernels of candidates
  int64_t kept = 0;   // of these; what follows is theirs
  int64_t lines = 0;
  int64_t size_bytes = 0;
  int64_t tokens = 0;  // of `source`, cl100k_base
};

// Of a check: how many kernels pass it, fail it and are exempt from it.
struct Outcomes {
  int64_t pass = 0;
  int64_t fail = 0;
  int64_t exempt = 0;
};

void Count(v1::RuleResult::Outcome outcome, Outcomes& outcomes);
void AddTo(const Outcomes& more, Outcomes& sum);

// Source files with kernels that were kept.
struct FileTally {
  int64_t files = 0;
  int64_t lines = 0;
  int64_t size_bytes = 0;
};

// By which kernels are counted, in the order in which ANALYSIS.md has them. A kernel counts once in
// each, but for tags and features: in each that it has.
const std::vector<std::string>& AnalysisDimensions();

// What is counted of a dataset's candidates, so that a person sees what is in it. Adding is some
// microseconds a kernel, so parts of a dataset are counted apart and added up. Holds 8 bytes a kept
// kernel, and a tally a word.
class Analysis {
 public:
  // Where a kernel comes from.
  struct Origin {
    std::string repository;
    std::string category;
    int tier = 1;
  };

  void AddKernel(const Origin& origin, const v1::Kernel& kernel, const v1::Verdict& verdict,
                 const v1::Decision& decision);
  void AddFile(const Origin& origin, int64_t lines, int64_t size_bytes);
  // Of a kept kernel: how many kernels it stands for, itself included.
  void AddCluster(int64_t kernels) { ++clusters_[kernels]; }
  // What was counted of other kernels.
  void Add(const Analysis& more);

  using Tallies = std::map<std::string, Tally>;
  const Tally& total() const { return total_; }
  // By dimension, then by word.
  const std::map<std::string, Tallies>& by() const { return by_; }

  // Of each check: over all kernels found, and over those kept.
  struct CheckTally {
    Outcomes found;
    Outcomes kept;
  };
  using Checks = std::map<std::string, CheckTally>;
  const Checks& checks() const { return checks_; }
  const std::map<std::string, Checks>& checks_by_category() const { return checks_by_category_; }

  // What compilers said of all kernels found and of those kept; of each repository too.
  struct CompileTally {
    CompileCounts found;
    CompileCounts kept;
  };
  const CompileTally& compile() const { return compile_; }
  const std::map<std::string, CompileTally>& compile_by_repository() const {
    return compile_by_repository_;
  }

  const std::map<std::string, FileTally>& files_by_category() const { return files_by_category_; }
  const std::map<std::string, FileTally>& files_by_repository() const {
    return files_by_repository_;
  }
  // Kernels by category and by what says their licence: LicenseBasis.
  const std::map<std::string, Tallies>& licenses_by_category() const {
    return licenses_by_category_;
  }

  // Of kernels not kept: how many by fate and the kind of their reason ("near", "license").
  const std::map<std::string, std::map<std::string, int64_t>>& losses() const { return losses_; }
  // How many clusters have so many kernels.
  const std::map<int64_t, int64_t>& clusters() const { return clusters_; }
  // Of each kept kernel, in no order.
  const std::vector<uint32_t>& tokens() const { return tokens_; }
  const std::vector<uint32_t>& lines() const { return lines_; }

 private:
  Tally total_;
  std::map<std::string, Tallies> by_;
  Checks checks_;
  std::map<std::string, Checks> checks_by_category_;
  CompileTally compile_;
  std::map<std::string, CompileTally> compile_by_repository_;
  std::map<std::string, FileTally> files_by_category_;
  std::map<std::string, FileTally> files_by_repository_;
  std::map<std::string, Tallies> licenses_by_category_;
  std::map<std::string, std::map<std::string, int64_t>> losses_;
  std::map<int64_t, int64_t> clusters_;
  std::vector<uint32_t> tokens_;
  std::vector<uint32_t> lines_;
};

// What says a licence, the nearest to the kernel first: "header" (the file itself), "file" (a
// licence file above it), "metadata" (the package's), "job" (the job file), "unknown".
std::string LicenseBasis(const v1::License& license);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_ANALYSIS_ANALYSIS_H_
