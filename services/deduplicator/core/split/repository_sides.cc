#include "services/deduplicator/core/split/repository_sides.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/url.h"

namespace kernelmill::deduplicator {

RepositorySides::RepositorySides(const v1::SplitPolicy& policy)
    : validation_(policy.validation()), test_(policy.test()), seed_(policy.seed()) {
  for (const std::string& name : policy.validation_repositories()) {
    named_[RepositoryKey(name)] = v1::SPLIT_VALIDATION;
  }
  for (const std::string& name : policy.test_repositories()) {
    named_[RepositoryKey(name)] = v1::SPLIT_TEST;
  }
}

double RepositorySides::PlaceOf(absl::string_view key) const {
  const std::string hash = Sha256(absl::StrCat(seed_, absl::string_view("\0", 1), key));
  uint64_t bits = 0;  // as many as a double holds exactly
  for (int i = 0; i < 7; ++i) bits = bits << 8 | static_cast<uint8_t>(hash[i]);
  return static_cast<double>(bits >> 3) / static_cast<double>(uint64_t{1} << 53);
}

v1::Split RepositorySides::SideOf(absl::string_view repository, absl::string_view url) const {
  const std::string name = RepositoryKey(repository);
  const std::string key = url.empty() ? name : RepositoryKey(url);
  for (const std::string& known : {key, name}) {
    if (const auto at = named_.find(known); at != named_.end()) return at->second;
  }
  const double place = PlaceOf(key);
  if (place < test_) return v1::SPLIT_TEST;
  return place >= 1 - validation_ ? v1::SPLIT_VALIDATION : v1::SPLIT_TRAIN;
}

}  // namespace kernelmill::deduplicator
