#ifndef KERNELMILL_DATASET_ANALYSIS_PROVENANCE_H_
#define KERNELMILL_DATASET_ANALYSIS_PROVENANCE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::dataset {

// A collector of the authors and licences of a dataset, for PROVENANCE.md. It holds each licence
// and notice text once, up to kMaxTexts. Not thread-safe.
class Provenance {
 public:
  static constexpr size_t kMaxTexts = 500;  // notices.jsonl has all

  struct Source {
    std::string repository;
    std::string url;  // its web address, or empty
    std::string commit;
    int64_t commit_time = 0;
    std::string category;
    bool holdout = false;
    bool hash_computed = false;  // a wheel's, since its index gives none
  };

  // Begins the next source in the dataset's order. The functions below add to it.
  void StartSource(const Source& source);
  // Adds a kept kernel's licence and tokens (cl100k_base).
  void AddKernel(const v1::License& license, int64_t tokens);
  // Adds a kept whole file. Shares do not include it.
  void AddWholeFile(const v1::License& license);
  // Adds a licence or NOTICE file that must be distributed too. `link` is its web address, or
  // empty.
  void AddText(const v1::SourceFile& file, const std::string& link);

  // Makes PROVENANCE.md.
  std::string Markdown(absl::string_view name, absl::string_view dataset) const;

 private:
  struct File {
    std::string path;
    std::string link;
    std::string sha256;
  };
  struct Entry {
    Source source;
    int64_t kernels = 0;
    int64_t tokens = 0;
    std::map<std::string, int64_t> licenses;       // kernels by expression
    std::map<std::string, int64_t> file_licenses;  // whole files by expression
    std::set<std::string> copyrights;
    std::vector<File> files;
  };

  std::vector<Entry> entries_;
  std::map<std::string, std::string> texts_;  // by SHA-256
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_ANALYSIS_PROVENANCE_H_
