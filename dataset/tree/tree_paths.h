#ifndef KERNELMILL_DATASET_TREE_TREE_PATHS_H_
#define KERNELMILL_DATASET_TREE_TREE_PATHS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::dataset {

// Where a file of a source belongs in the organised tree.
struct TreePlace {
  absl::string_view category;
  absl::string_view repository;  // as records name it
  absl::string_view path;        // in the repository: any bytes
};

// For each place a path CATEGORY/REPOSITORY/PATH that is a new file below the tree's root on any
// file system, whatever a repository calls its files:
//
//   bytes        letters, digits and "._-+=@,()[]{} " alone; others are %XX, '%' too
//   parts        never "." or "..", nor a device's name (CON), nor with a blank or dot at an end
//   length       a part has at most 120 bytes and a path 800: what is longer is cut, and ends in ~
//                and a hash of the whole
//   collisions   paths that are equal but for case, and a file where another has its folder: the
//                later place's name gets ~ and a hash before its ending
//
// Of the repository a URL's scheme is left out, and '/' is "__": "github.com__owner__name". A
// function of the places and their order.
std::vector<std::string> TreePaths(const std::vector<TreePlace>& places);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_TREE_TREE_PATHS_H_
