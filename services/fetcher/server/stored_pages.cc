#include "services/fetcher/server/stored_pages.h"

#include <utility>
#include <vector>

#include "common/base/log.h"
#include "common/base/status.h"
#include "common/cas/digest.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::fetcher {
namespace {

constexpr int kPageVersion = 1;

cas::Digest KeyOf(const std::string& url) {
  v1::DiscoverPageKey key;
  key.set_url(url);
  key.set_version(kPageVersion);
  return cas::DigestOf(cas::SerializeDeterministically(key));
}

}  // namespace

absl::StatusOr<CachedPage> StoredPages::Get(const std::string& url) {
  ASSIGN_OR_RETURN(const cas::ActionResult result, store_.GetActionResult(KeyOf(url)));
  v1::DiscoverPage page;
  if (!page.ParseFromString(result.stdout_raw()) || page.etag().empty()) {
    return absl::DataLossError("the action cache holds something else than a page");
  }
  ASSIGN_OR_RETURN(std::vector<std::string> bodies, store_.Get({page.body()}));
  return CachedPage{page.etag(), std::move(bodies.front())};
}

absl::Status StoredPages::Put(const std::string& url, const CachedPage& page) {
  const cas::Blob body{cas::DigestOf(page.body), page.body};
  RETURN_IF_ERROR(store_.Put({body}));
  v1::DiscoverPage kept;
  kept.set_etag(page.etag);
  *kept.mutable_body() = body.digest;
  cas::ActionResult result;
  auto* file = result.add_output_files();
  file->set_path("page");
  *file->mutable_digest() = body.digest;
  result.set_stdout_raw(cas::SerializeDeterministically(kept));
  return store_.PutActionResult(KeyOf(url), result);
}

std::optional<CachedPage> StoredPages::Find(const std::string& url) {
  absl::StatusOr<CachedPage> page = Get(url);
  if (page.ok()) return *std::move(page);
  if (!absl::IsNotFound(page.status())) {
    LogWarning("page not read from the cache", {{"error", page.status().ToString()}});
  }
  return std::nullopt;
}

void StoredPages::Keep(const std::string& url, const CachedPage& page) {
  const absl::Status kept = Put(url, page);
  if (!kept.ok()) LogWarning("page not cached", {{"error", kept.ToString()}});
}

}  // namespace kernelmill::fetcher
