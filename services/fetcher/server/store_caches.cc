// Both caches keep a pair: a small message (which commit, which ETag) and a large blob (the pack,
// the page). The message is the stdout of an action result whose key is made from the URL, and the
// blob is the result's one output file. So the store's own garbage collection, which drops a result
// when one of its outputs is gone, keeps the pair consistent, and no new kind of record is needed.
#include "services/fetcher/server/store_caches.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/cas/digest.h"
#include "common/cas/result_origin.h"
#include "common/worker/stage_table.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::fetcher {
namespace {

// Raised when the meaning of a cached message changes.
constexpr int kFetchVersion = 1;
constexpr int kPageVersion = 1;

// A key is the digest of a message that no action has, so it cannot be that of a stage's result.
cas::Digest FetchKey(absl::string_view url) {
  v1::CachedFetchKey key;
  key.set_git(std::string(url));
  key.set_version(kFetchVersion);
  return cas::ComputeDigest(cas::SerializeDeterministically(key));
}

cas::Digest PageKey(const std::string& url) {
  v1::DiscoverPageKey key;
  key.set_url(url);
  key.set_version(kPageVersion);
  return cas::ComputeDigest(cas::SerializeDeterministically(key));
}

// The place of a cached blob: the key of its action result, and the names of its stage and file.
struct CacheEntry {
  cas::Digest key;
  worker::StageId stage;
  const char* name;
};

// Stores the blob first, so that a result never names a missing blob. The action's stage is named
// "stage/name": a store with grants accepts it under the grant of the stage's task.
absl::Status Put(cas::BlobStore& store, const CacheEntry& entry, const cas::Blob& blob,
                 const google::protobuf::Message& about) {
  RETURN_IF_ERROR(store.Put({blob}));
  cas::ActionResult result;
  const worker::StageInfo& info = worker::GetStageInfo(entry.stage);
  cas::SetStage(absl::StrCat(info.name, "/", entry.name), info.version, &result);
  auto* file = result.add_output_files();
  file->set_path(entry.name);
  *file->mutable_digest() = blob.digest;
  result.set_stdout_raw(cas::SerializeDeterministically(about));
  return store.PutActionResult(entry.key, result);
}

}  // namespace

absl::StatusOr<v1::CachedFetch> StoreFetchCache::Find(absl::string_view url) {
  const cas::Digest key = FetchKey(url);
  ASSIGN_OR_RETURN(const cas::ActionResult result, store_.GetActionResult(key));
  return cas::ParseMessage<v1::CachedFetch>(result.stdout_raw(), key);
}

std::string StoreFetchCache::FindCommit(absl::string_view url) {
  const absl::StatusOr<v1::CachedFetch> kept = Find(url);
  return kept.ok() ? kept->commit() : "";
}

// A damaged entry is an error here and a miss for the caller. The pack itself is checked by
// index-pack.
absl::StatusOr<CachedFetch> StoreFetchCache::TryLoad(absl::string_view url) {
  ASSIGN_OR_RETURN(const v1::CachedFetch kept, Find(url));
  ASSIGN_OR_RETURN(std::vector<std::string> pack, store_.Get({kept.pack()}));
  return CachedFetch{kept.commit(), std::move(pack.front())};
}

std::optional<CachedFetch> StoreFetchCache::Load(absl::string_view url) {
  absl::StatusOr<CachedFetch> fetch = TryLoad(url);
  if (fetch.ok()) return *std::move(fetch);
  if (!absl::IsNotFound(fetch.status())) {
    LogWarning("could not read the last fetch from the cache",
               {{"url", ToUtf8(url)}, {"error", fetch.status().ToString()}});
  }
  return std::nullopt;
}

// A failure to cache is logged only: the fetch itself has succeeded.
void StoreFetchCache::Save(absl::string_view url, const CachedFetch& fetch) {
  const cas::Blob pack{cas::ComputeDigest(fetch.pack), fetch.pack};
  v1::CachedFetch about;
  about.set_commit(fetch.commit);
  *about.mutable_pack() = pack.digest;
  const absl::Status kept =
      Put(store_, {FetchKey(url), worker::StageId::kFetch, "pack"}, pack, about);
  if (!kept.ok()) {
    LogWarning("could not cache the fetch", {{"url", ToUtf8(url)}, {"error", kept.ToString()}});
  }
}

absl::StatusOr<CachedPage> StorePageCache::TryFind(const std::string& url) {
  ASSIGN_OR_RETURN(const cas::ActionResult result, store_.GetActionResult(PageKey(url)));
  v1::DiscoverPage kept;
  if (!kept.ParseFromString(result.stdout_raw()) || kept.etag().empty()) {
    return absl::DataLossError("the action cache holds something else than a page");
  }
  ASSIGN_OR_RETURN(std::vector<std::string> body, store_.Get({kept.body()}));
  return CachedPage{kept.etag(), std::move(body.front())};
}

std::optional<CachedPage> StorePageCache::Find(const std::string& url) {
  absl::StatusOr<CachedPage> page = TryFind(url);
  if (page.ok()) return *std::move(page);
  if (!absl::IsNotFound(page.status())) {
    LogWarning("could not read a page from the cache", {{"error", page.status().ToString()}});
  }
  return std::nullopt;
}

void StorePageCache::Keep(const std::string& url, const CachedPage& page) {
  const cas::Blob body{cas::ComputeDigest(page.body), page.body};
  v1::DiscoverPage about;
  about.set_etag(page.etag);
  *about.mutable_body() = body.digest;
  const absl::Status kept =
      Put(store_, {PageKey(url), worker::StageId::kDiscover, "page"}, body, about);
  if (!kept.ok()) LogWarning("could not cache a page", {{"error", kept.ToString()}});
}

}  // namespace kernelmill::fetcher
