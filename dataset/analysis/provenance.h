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

// Whose work a dataset is: for PROVENANCE.md. Holds each licence and notice text once, up to
// kMaxTexts.
class Provenance {
 public:
  static constexpr size_t kMaxTexts = 500;  // more stand in notices.jsonl alone

  struct Source {
    std::string repository;
    std::string url;  // on the web; empty where that is not known
    std::string commit;
    int64_t commit_time = 0;
    std::string category;
    bool holdout = false;
  };

  // Begins a source, the next one in the dataset's order.
  void StartSource(const Source& source);
  // Of the source: a kept kernel's licence and tokens (cl100k_base).
  void AddKernel(const v1::License& license, int64_t tokens);
  // Of the source: a whole file that is kept. No share counts it.
  void AddWholeFile(const v1::License& license);
  // Of the source: a licence or NOTICE file that must go along; `link` leads to it, or is empty.
  void AddText(const v1::SourceFile& file, const std::string& link);

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
