#include "services/fetcher/server/stored_visits.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/cas/digest.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::fetcher {
namespace {

constexpr int kVisitVersion = 1;

cas::Digest KeyOf(absl::string_view url) {
  v1::VisitKey key;
  key.set_git(std::string(url));
  key.set_version(kVisitVersion);
  return cas::DigestOf(cas::SerializeDeterministically(key));
}

}  // namespace

absl::StatusOr<Visit> StoredVisits::TryLoad(absl::string_view url) {
  const cas::Digest key = KeyOf(url);
  ASSIGN_OR_RETURN(const cas::ActionResult kept, store_.GetActionResult(key));
  ASSIGN_OR_RETURN(const v1::GitVisit visit,
                   cas::ParseMessage<v1::GitVisit>(kept.stdout_raw(), key));
  ASSIGN_OR_RETURN(std::vector<std::string> pack, store_.Get({visit.pack()}));
  return Visit{visit.commit(), std::move(pack.front())};
}

std::optional<Visit> StoredVisits::Load(absl::string_view url) {
  absl::StatusOr<Visit> visit = TryLoad(url);
  if (visit.ok()) return *std::move(visit);
  if (!absl::IsNotFound(visit.status())) {
    LogWarning("last visit lost", {{"url", ToUtf8(url)}, {"error", visit.status().ToString()}});
  }
  return std::nullopt;
}

absl::Status StoredVisits::TrySave(absl::string_view url, const Visit& visit) {
  v1::GitVisit kept;
  kept.set_commit(visit.commit);
  *kept.mutable_pack() = cas::DigestOf(visit.pack);
  RETURN_IF_ERROR(store_.Put({{kept.pack(), visit.pack}}));
  cas::ActionResult result;
  auto* file = result.add_output_files();
  file->set_path("pack");
  *file->mutable_digest() = kept.pack();
  result.set_stdout_raw(cas::SerializeDeterministically(kept));
  return store_.PutActionResult(KeyOf(url), result);
}

void StoredVisits::Save(absl::string_view url, const Visit& visit) {
  const absl::Status saved = TrySave(url, visit);
  if (saved.ok()) return;
  LogWarning("visit not kept", {{"url", ToUtf8(url)}, {"error", saved.ToString()}});
}

}  // namespace kernelmill::fetcher
