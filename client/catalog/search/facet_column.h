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

// One facet of all kernels. Kernels have few different sets of values (of tags, of features), so
// that a kernel's is one number: the set's. A facet of one value a kernel has sets of one.
class FacetColumn {
 public:
  // The next kernel's values, in any order; none is a set, too.
  void Add(std::vector<std::string> values);

  // Numbers values and sets anew, frequent ones first, so that their numbers are short. To be
  // called once, after the last Add.
  void Order();

  // Puts each kernel's set at the kernel's new number.
  void Renumber(const std::vector<uint32_t>& places);

  const std::vector<std::string>& values() const { return values_; }
  // How many kernels have each value.
  const std::vector<uint32_t>& counts() const { return counts_; }
  // Numbers of values, ascending.
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

// A block of a column as the site's script reads it: how many bytes a number has (1, 2 or 4), then
// the numbers in base64, the low byte first. Nothing has to be decoded by a script.
std::string EncodeColumn(absl::Span<const uint32_t> block);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_SEARCH_FACET_COLUMN_H_
