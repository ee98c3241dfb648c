#ifndef KERNELMILL_CLIENT_CATALOG_PAGES_LEARNING_PATH_H_
#define KERNELMILL_CLIENT_CATALOG_PAGES_LEARNING_PATH_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "client/catalog/relatives/overview.h"

namespace kernelmill::client {

inline constexpr size_t kPathLength = 12;

// How hard a kernel is to read: its lines, and a sixth more for each feature of the language.
double DifficultyOf(const CatalogEntry& entry);

// For each operation (a tag, never "backward") the cleanest kernels, from simple to hard: at most
// kPathLength, by score, comments, docstring and tests, at most two of a repository and none twice
// by name. Only those that stand alone and are operations or examples. Operations with fewer than
// two have none.
std::map<std::string, std::vector<uint32_t>> LearningPaths(
    const std::vector<CatalogEntry>& entries);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_PAGES_LEARNING_PATH_H_
