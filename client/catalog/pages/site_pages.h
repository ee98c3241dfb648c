#ifndef KERNELMILL_CLIENT_CATALOG_PAGES_SITE_PAGES_H_
#define KERNELMILL_CLIENT_CATALOG_PAGES_SITE_PAGES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/catalog/coverage/coverage.h"
#include "client/catalog/entries/notices.h"
#include "client/catalog/relatives/relatives.h"

namespace kernelmill::client {

inline constexpr size_t kPathLength = 12;

// Returns the difficulty of reading a kernel: its lines, and a sixth more for each language
// feature.
double ComputeDifficulty(const CatalogEntry& entry);

// Returns for each operation (a tag, never "backward") its cleanest kernels, from simple to hard.
// The cleanest are chosen by score, comments, docstring and tests: at most kPathLength, at most two
// from a repository, and no two with the same name. They are self-contained operations or examples.
// Operations with fewer than two such kernels have no path.
std::map<std::string, std::vector<uint32_t>> LearningPaths(
    const std::vector<CatalogEntry>& entries);

// Returns learn.html: the path of each operation.
std::string LearnPage(const std::vector<CatalogEntry>& entries);

// Returns coverage.html: the coverage of the known operations, and the gaps.
std::string CoveragePage(const Coverage& coverage, const std::vector<CatalogEntry>& entries);

// Returns the page of a licence or NOTICE file, in full up to a limit.
std::string NoticePage(const Notice& notice);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_PAGES_SITE_PAGES_H_
