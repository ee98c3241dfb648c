#include "common/cas/testing/memory_blob_store.h"

#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill::cas {
namespace {

std::vector<Digest> NamedBlobs(const ActionResult& result) {
  std::vector<Digest> named;
  for (const auto& file : result.output_files()) named.push_back(file.digest());
  for (const auto& directory : result.output_directories()) {
    if (directory.has_tree_digest()) named.push_back(directory.tree_digest());
    if (directory.has_root_directory_digest()) named.push_back(directory.root_directory_digest());
  }
  if (result.has_stdout_digest()) named.push_back(result.stdout_digest());
  if (result.has_stderr_digest()) named.push_back(result.stderr_digest());
  return named;
}

}  // namespace

absl::Status MemoryBlobStore::BeginCall() {
  ++calls_;
  if (failures_left_ == 0) return absl::OkStatus();
  --failures_left_;
  return failure_;
}

bool MemoryBlobStore::Holds(const Digest& digest) const {
  return SameDigest(digest, ComputeDigest("")) || blobs_.count(ToString(digest)) > 0;
}

absl::StatusOr<std::vector<Digest>> MemoryBlobStore::FindMissing(
    const std::vector<Digest>& digests) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(BeginCall());
  std::vector<Digest> missing;
  for (const Digest& digest : digests) {
    RETURN_IF_ERROR(CheckDigest(digest));
    if (!Holds(digest)) missing.push_back(digest);
  }
  return missing;
}

absl::Status MemoryBlobStore::Put(const std::vector<Blob>& blobs) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(BeginCall());
  for (const Blob& blob : blobs) {
    RETURN_IF_ERROR(CheckDigest(blob.digest));
    if (!SameDigest(ComputeDigest(blob.bytes), blob.digest)) {
      return absl::InvalidArgumentError(
          absl::StrCat(ToString(blob.digest), ": the content does not match"));
    }
  }
  for (const Blob& blob : blobs) blobs_.emplace(ToString(blob.digest), blob.bytes);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> MemoryBlobStore::Get(const std::vector<Digest>& digests) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(BeginCall());
  std::vector<std::string> contents;
  for (const Digest& digest : digests) {
    RETURN_IF_ERROR(CheckDigest(digest));
    if (!Holds(digest)) return absl::NotFoundError(absl::StrCat("no blob ", ToString(digest)));
    const auto at = blobs_.find(ToString(digest));
    contents.push_back(at == blobs_.end() ? "" : at->second);
    if (!SameDigest(ComputeDigest(contents.back()), digest)) {
      return absl::DataLossError(absl::StrCat(ToString(digest), ": the content is damaged"));
    }
  }
  return contents;
}

absl::StatusOr<ActionResult> MemoryBlobStore::GetActionResult(const Digest& action) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(BeginCall());
  RETURN_IF_ERROR(CheckDigest(action));
  const auto at = results_.find(ToString(action));
  if (at == results_.end()) return absl::NotFoundError("no result is kept for this action");
  for (const Digest& digest : NamedBlobs(at->second)) {
    if (!Holds(digest)) return absl::NotFoundError(absl::StrCat(ToString(digest), " is gone"));
  }
  return at->second;
}

absl::Status MemoryBlobStore::PutActionResult(const Digest& action, const ActionResult& result) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(BeginCall());
  RETURN_IF_ERROR(CheckDigest(action));
  for (const Digest& digest : NamedBlobs(result)) RETURN_IF_ERROR(CheckDigest(digest));
  results_[ToString(action)] = result;
  return absl::OkStatus();
}

void MemoryBlobStore::FailNext(int calls, const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  failures_left_ = calls;
  failure_ = status;
}

bool MemoryBlobStore::Drop(const Digest& digest) {
  absl::MutexLock lock(&mutex_);
  return blobs_.erase(ToString(digest)) > 0;
}

bool MemoryBlobStore::Corrupt(const Digest& digest) {
  absl::MutexLock lock(&mutex_);
  const auto at = blobs_.find(ToString(digest));
  if (at == blobs_.end() || at->second.empty()) return false;
  at->second.front() ^= 1;
  return true;
}

int64_t MemoryBlobStore::blobs() const {
  absl::MutexLock lock(&mutex_);
  return static_cast<int64_t>(blobs_.size());
}

int64_t MemoryBlobStore::calls() const {
  absl::MutexLock lock(&mutex_);
  return calls_;
}

int64_t MemoryBlobStore::results() const {
  absl::MutexLock lock(&mutex_);
  return static_cast<int64_t>(results_.size());
}

}  // namespace kernelmill::cas
