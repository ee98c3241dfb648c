#ifndef KERNELMILL_DATASET_TREE_TREE_PATHS_H_
#define KERNELMILL_DATASET_TREE_TREE_PATHS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::dataset {

// The place of a source's file in the organised tree.
struct TreePlace {
  absl::string_view category;
  absl::string_view repository;  // as in records
  absl::string_view path;        // in the repository; any bytes
};

// Returns for each place a path CATEGORY/REPOSITORY/PATH that is a separate file below the tree's
// root on any file system, for any file names of a repository. The result depends on the places and
// their order only.
//
// clang-format off
//   bytes        letters, digits and "._-+=@,()[]{} "; all others become %XX, including '%'
//   parts        never "." or "..", a device's name (CON), or a blank or dot at an end
//   length       a part has at most 120 bytes and a path 800: longer ones are cut, and end in ~ and a
//                hash of the whole
//   collisions   paths that differ only in case, and a file with the name of a folder: the
//                later place's name gets ~ and a hash before its extension
// clang-format on
//
// REPOSITORY has no URL scheme, and "__" for '/': "github.com__owner__name".
std::vector<std::string> TreePaths(const std::vector<TreePlace>& places);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_TREE_TREE_PATHS_H_
