// Columns of facets. The basic idea: a dataset has few different values of a facet, and few
// different sets of values. So each value gets a number, each sorted set of these numbers gets a
// number, and a kernel stores the number of its set. A page that filters decides once for each set,
// and then looks up one number for each kernel.
//
// Numbers are given in the order of arrival. Order() replaces them by numbers in the order of
// falling frequency, with equal counts in the order of the values, so that the bytes of a site do
// not depend on the order in which values arrived.

#include "client/catalog/search/facet_column.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/catalog/search/data_files.h"
#include "client/catalog/search/numbering.h"

namespace kernelmill::client {
namespace {

// Returns the new number of each old one, by falling count and then by `keys`.
template <typename Key>
std::vector<uint32_t> NewNumbers(const std::vector<uint32_t>& counts,
                                 const std::vector<Key>& keys) {
  std::vector<uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return counts[a] != counts[b] ? counts[a] > counts[b] : keys[a] < keys[b];
  });
  return InvertOrder(order);
}

}  // namespace

uint32_t FacetColumn::ValueNumber(const std::string& value) {
  const auto [at, is_new] = value_numbers_.try_emplace(value, values_.size());
  if (is_new) {
    values_.push_back(value);
    counts_.push_back(0);
  }
  return at->second;
}

// Equal sets must have equal numbers: each value once, and the numbers sorted.
void FacetColumn::Add(std::vector<std::string> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::vector<uint32_t> set;
  for (const std::string& value : values) {
    set.push_back(ValueNumber(value));
    ++counts_[set.back()];
  }
  std::sort(set.begin(), set.end());
  const auto [at, is_new] = set_numbers_.try_emplace(set, sets_.size());
  if (is_new) {
    sets_.push_back(std::move(set));
    set_counts_.push_back(0);
  }
  ++set_counts_[at->second];
  column_.push_back(at->second);
}

void FacetColumn::Order() {
  // Sets hold numbers of values, so values are renumbered first, and the sets are sorted again.
  const std::vector<uint32_t> value_numbers = NewNumbers(counts_, values_);
  Reorder(value_numbers, &values_);
  Reorder(value_numbers, &counts_);
  for (std::vector<uint32_t>& set : sets_) {
    for (uint32_t& value : set) value = value_numbers[value];
    std::sort(set.begin(), set.end());
  }
  const std::vector<uint32_t> set_numbers = NewNumbers(set_counts_, sets_);
  Reorder(set_numbers, &sets_);
  Reorder(set_numbers, &set_counts_);
  for (uint32_t& set : column_) set = set_numbers[set];
  // The maps have the old numbers. No Add follows.
  value_numbers_.clear();
  set_numbers_.clear();
}

void FacetColumn::Renumber(const std::vector<uint32_t>& places) { Reorder(places, &column_); }

std::string EncodeColumn(absl::Span<const uint32_t> block) {
  const uint32_t most = block.empty() ? 0 : *std::max_element(block.begin(), block.end());
  const int width = most < (1u << 8) ? 1 : most < (1u << 16) ? 2 : 4;
  std::string bytes;
  for (const uint32_t number : block) {
    for (int i = 0; i < width; ++i) bytes.push_back(static_cast<char>(number >> (8 * i)));
  }
  return absl::StrCat(width, absl::Base64Escape(bytes));
}

}  // namespace kernelmill::client
