#ifndef KERNELMILL_CLIENT_CATALOG_SEARCH_NUMBERING_H_
#define KERNELMILL_CLIENT_CATALOG_SEARCH_NUMBERING_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kernelmill::client {

// Returns the position of each number in an order of all numbers from 0: its new number.
inline std::vector<uint32_t> InvertOrder(const std::vector<uint32_t>& order) {
  std::vector<uint32_t> places(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) places[order[i]] = i;
  return places;
}

// Moves each item to its new number.
template <typename T>
void Reorder(const std::vector<uint32_t>& places, std::vector<T>* items) {
  std::vector<T> ordered(items->size());
  for (size_t i = 0; i < items->size(); ++i) ordered[places[i]] = std::move((*items)[i]);
  *items = std::move(ordered);
}

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_SEARCH_NUMBERING_H_
