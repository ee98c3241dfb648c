#ifndef KERNELMILL_CLIENT_CATALOG_SEARCH_FACET_COLUMN_H_
#define KERNELMILL_CLIENT_CATALOG_SEARCH_FACET_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kernelmill::client {

// One facet of all kernels. Kernels share few different sets of values (of tags, of features), so
// each kernel has one number, its set. A facet with one value for each kernel has sets of one. Not
// thread-safe.
class FacetColumn {
 public:
  // Adds the next kernel's values, in any order. The empty set is a set too.
  void Add(std::vector<std::string> values);

  // Renumbers values and sets by falling frequency, so that frequent ones have short numbers. Call
  // once, after the last Add.
  void Order();

  // Moves each kernel's set to the kernel's new number.
  void Renumber(const std::vector<uint32_t>& places);

  const std::vector<std::string>& values() const { return values_; }
  // The number of kernels with each value.
  const std::vector<uint32_t>& counts() const { return counts_; }
  // The values of each set, as ascending numbers.
  const std::vector<std::vector<uint32_t>>& sets() const { return sets_; }
  // Each kernel's set.
  const std::vector<uint32_t>& column() const { return column_; }

 private:
  uint32_t ValueNumber(const std::string& value);

  std::vector<std::string> values_;
  std::vector<uint32_t> counts_;
  std::vector<std::vector<uint32_t>> sets_;
  std::vector<uint32_t> set_counts_;
  std::vector<uint32_t> column_;
  absl::flat_hash_map<std::string, uint32_t> value_numbers_;
  absl::flat_hash_map<std::vector<uint32_t>, uint32_t> set_numbers_;
};

// Returns a block of a column as the site's script reads it: the number of bytes in a number (1, 2
// or 4), then the numbers in base64, low byte first. A script can use these bytes as an array.
std::string EncodeColumn(absl::Span<const uint32_t> block);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_SEARCH_FACET_COLUMN_H_
