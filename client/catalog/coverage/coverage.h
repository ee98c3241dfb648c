#ifndef KERNELMILL_CLIENT_CATALOG_COVERAGE_COVERAGE_H_
#define KERNELMILL_CLIENT_CATALOG_COVERAGE_COVERAGE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/catalog/coverage/operation_table.h"
#include "client/catalog/relatives/overview.h"

namespace kernelmill::client {

// What was found of one operation.
struct OperationCoverage {
  const KnownOperation* operation = nullptr;
  int64_t forward = 0;
  int64_t backward = 0;
  std::map<std::string, int64_t> dtypes;
  std::map<std::string, int64_t> languages;
  std::map<std::string, int64_t> licenses;
  std::map<std::string, int64_t> fused_with;  // other tags of the kernels
  int64_t strided = 0;                        // take strides, so that layouts are free
  int64_t self_contained = 0;
  int64_t first_tier = 0;
  int64_t compile = 0;
  int64_t tested = 0;
  std::optional<uint32_t> best;     // the entry of the highest score that does it
  std::optional<uint32_t> nearest;  // where none does: the one that has most of its parts, if near

  int64_t found() const { return forward + backward; }
};

// Something that is still needed: why, how much (the more the sooner), and the kernel to begin
// from.
struct Need {
  size_t operation = 0;  // of Coverage::operations()
  std::string what;      // "no kernel", "no backward pass", ...
  double weight = 0;
  std::optional<uint32_t> nearest;
};

// Holds the kernels of a dataset against the table of operations.
class Coverage {
 public:
  explicit Coverage(absl::Span<const KnownOperation> operations = KnownOperations());

  // The kernel with this number; what is broken or a test counts for nothing, a device function as
  // what is near.
  void Add(const CatalogEntry& entry, uint32_t number);

  // Call once, after the last Add, before what follows.
  void Finish();

  const std::vector<OperationCoverage>& operations() const { return operations_; }
  // The most needed first: what several lists ask for, and what has nothing, before what has
  // little.
  const std::vector<Need>& needs() const { return needs_; }
  int64_t kernels() const { return kernels_; }

 private:
  // Parts of operations that a tag or a phrase is a choice of: operation and part.
  using Uses = std::vector<std::pair<uint16_t, uint8_t>>;

  void Count(const CatalogEntry& entry, uint32_t number, OperationCoverage& coverage);
  // What has the first of the parts that name an operation, and more than half of them, is near.
  void KeepNearest(const CatalogEntry& entry, uint32_t number, size_t operation, int parts);
  void AddNeed(size_t operation, const char* what, double weight);

  std::vector<OperationCoverage> operations_;
  std::vector<int> part_counts_;
  std::vector<int> naming_counts_;  // of the parts those that name the operation
  absl::flat_hash_map<std::string, Uses> uses_;
  std::vector<std::pair<int, double>> nearest_rank_;  // parts and score of `nearest`
  std::vector<double> best_score_;
  std::vector<Need> needs_;
  int64_t kernels_ = 0;
};

// Phrases of a kernel's names: runs of up to four words of its own, its launcher's and its file's
// name, each run together, without direction.
std::vector<std::string> NamePhrases(const CatalogEntry& entry);

// coverage.json, indented.
std::string CoverageJson(const Coverage& coverage, const std::vector<CatalogEntry>& entries);

// What GitHub's code may be searched for, in the order of the needs, each once, at most `limit`:
// for `code` of a job's `discover`.
std::vector<std::string> WantedSearches(const Coverage& coverage, size_t limit);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_COVERAGE_COVERAGE_H_
