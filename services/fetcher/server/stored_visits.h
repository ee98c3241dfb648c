#ifndef KERNELMILL_SERVICES_FETCHER_SERVER_STORED_VISITS_H_
#define KERNELMILL_SERVICES_FETCHER_SERVER_STORED_VISITS_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "common/cas/blob_store.h"
#include "services/fetcher/adapters/git/visit_cache.h"

namespace kernelmill::fetcher {

// Visits in the content store: the pack is a blob, and the action cache has a v1::GitVisit under
// the digest of the URL's v1::VisitKey, as the result of an action whose output file is the pack.
class StoredVisits : public VisitCache {
 public:
  // `store` must outlive it.
  explicit StoredVisits(cas::BlobStore& store) : store_(store) {}

  std::optional<Visit> Load(absl::string_view url) override;
  void Save(absl::string_view url, const Visit& visit) override;

 private:
  absl::StatusOr<Visit> TryLoad(absl::string_view url);
  absl::Status TrySave(absl::string_view url, const Visit& visit);

  cas::BlobStore& store_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_SERVER_STORED_VISITS_H_
