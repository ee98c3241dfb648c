#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_REPOSITORY_SIDES_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_REPOSITORY_SIDES_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::deduplicator {

// The split that a repository is of: the one that names it, else by its place.
//
// A repository's place is a number in [0, 1), the SHA-256 of seed and name. Test is what lies below
// its share, validation what lies in the last of the line, its share long. So a repository's split
// depends on no other repository, and a share that is raised only takes repositories from train.
class RepositorySides {
 public:
  explicit RepositorySides(const v1::SplitPolicy& policy);

  // `repository` as records name it; `url` is where it is on the web, empty where that is not
  // known. Of one URL all sources are one repository, whatever their names.
  v1::Split SideOf(absl::string_view repository, absl::string_view url) const;

 private:
  // `key`: as RepositoryKey makes it.
  double PlaceOf(absl::string_view key) const;

  const double validation_;
  const double test_;
  const std::string seed_;
  absl::flat_hash_map<std::string, v1::Split> named_;  // by key
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_REPOSITORY_SIDES_H_
