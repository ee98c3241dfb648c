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
#include "client/catalog/relatives/relatives.h"

namespace kernelmill::client {

// An operation that people want kernels for. operation_table.cc has the table.
struct KnownOperation {
  absl::string_view name;
  absl::string_view list;  // its source: aten, kernelbench, seeds
  // The parts that a kernel for it must have, joined by " & ". Each part is a choice, joined by
  // "|", of "#tag" (a tag; "#untagged": no tags) or a phrase of the kernel's names, without blanks.
  absl::string_view parts;
  absl::string_view near;  // the tag of the most similar operations
  bool differentiable;     // a backward pass is wanted too
};

absl::Span<const KnownOperation> KnownOperations();

// The kernels found for one operation, counted.
struct OperationCoverage {
  const KnownOperation* operation = nullptr;
  int64_t forward = 0;
  int64_t backward = 0;
  std::map<std::string, int64_t> dtypes;
  std::map<std::string, int64_t> languages;
  std::map<std::string, int64_t> licenses;
  std::map<std::string, int64_t> fused_with;  // other tags of the kernels
  int64_t strided = 0;                        // with strides as parameters
  int64_t self_contained = 0;
  int64_t first_tier = 0;
  int64_t compile = 0;
  int64_t tested = 0;
  std::optional<uint32_t> best;     // the kernel with the highest standing
  std::optional<uint32_t> nearest;  // without a kernel: the one with the most parts, if near

  int64_t found() const { return forward + backward; }
};

// A gap in the coverage: the reason, its weight, and the kernel to start from.
struct Need {
  size_t operation = 0;  // the index in Coverage::operations()
  std::string what;      // "no kernel", "no backward pass", ...
  double weight = 0;
  std::optional<uint32_t> nearest;
};

// The comparison of a dataset's kernels with the table of operations. Not thread-safe.
class Coverage {
 public:
  explicit Coverage(absl::Span<const KnownOperation> operations = KnownOperations());

  // Adds the kernel with this number. Broken kernels and tests do not count; a helper only counts
  // as nearest.
  void Add(const CatalogEntry& entry, uint32_t number);

  // Call once, after the last Add and before the accessors.
  void Finish();

  const std::vector<OperationCoverage>& operations() const { return operations_; }
  // The gaps by falling weight: operations of several lists and those without kernels come first.
  const std::vector<Need>& needs() const { return needs_; }
  int64_t kernels() const { return kernels_; }

 private:
  // The parts (operation and part) that have a tag or a phrase as a choice.
  using Uses = std::vector<std::pair<uint16_t, uint8_t>>;

  void Count(const CatalogEntry& entry, uint32_t number, OperationCoverage& coverage);
  // A kernel is near if it has the first naming part, and more than half of the naming parts.
  void KeepNearest(const CatalogEntry& entry, uint32_t number, size_t operation, int parts);
  void AddNeed(size_t operation, const char* what, double weight);

  std::vector<OperationCoverage> operations_;
  std::vector<int> part_counts_;
  std::vector<int> naming_counts_;  // parts that name the operation
  absl::flat_hash_map<std::string, Uses> uses_;
  std::vector<std::pair<int, double>> nearest_rank_;  // parts and standing of `nearest`
  std::vector<double> best_standing_;
  std::vector<Need> needs_;
  int64_t kernels_ = 0;
};

// Returns the phrases of a kernel's names: all runs of up to four words in the names of the kernel,
// its launcher and its file, without blanks.
std::vector<std::string> NamePhrases(const CatalogEntry& entry);

// Returns coverage.json, indented.
std::string CoverageJson(const Coverage& coverage, const std::vector<CatalogEntry>& entries);

// Returns at most `limit` searches of GitHub's code for the gaps, in their order, each once. They
// fit `code` of a job's `discover`.
std::vector<std::string> WantedSearches(const Coverage& coverage, size_t limit);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_COVERAGE_COVERAGE_H_
