#include "tests/bench/dedup/file_blob_store.h"

#include <fcntl.h>
#include <unistd.h>

namespace kernelmill::bench {

FileBlobStore::FileBlobStore(const std::string& path)
    : file_(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {}

FileBlobStore::~FileBlobStore() {
  if (file_ >= 0) close(file_);
}

absl::StatusOr<std::vector<cas::Digest>> FileBlobStore::FindMissing(
    const std::vector<cas::Digest>& digests) {
  std::vector<cas::Digest> missing;
  for (const cas::Digest& digest : digests) {
    if (places_.count(digest.hash()) == 0) missing.push_back(digest);
  }
  return missing;
}

absl::Status FileBlobStore::Put(const std::vector<cas::Blob>& blobs) {
  for (const cas::Blob& blob : blobs) {
    const auto size = static_cast<int64_t>(blob.bytes.size());
    if (pwrite(file_, blob.bytes.data(), blob.bytes.size(), end_) != size) {
      return absl::UnavailableError("cannot write");
    }
    places_[blob.digest.hash()] = {end_, size};
    end_ += size;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> FileBlobStore::Get(
    const std::vector<cas::Digest>& digests) {
  std::vector<std::string> blobs;
  for (const cas::Digest& digest : digests) {
    const auto place = places_.find(digest.hash());
    if (place == places_.end()) return absl::NotFoundError(digest.hash());
    std::string& bytes = blobs.emplace_back(place->second.second, '\0');
    if (pread(file_, bytes.data(), bytes.size(), place->second.first) != place->second.second) {
      return absl::DataLossError(digest.hash());
    }
  }
  return blobs;
}

absl::StatusOr<cas::ActionResult> FileBlobStore::GetActionResult(const cas::Digest& action) {
  return absl::NotFoundError(action.hash());
}

absl::Status FileBlobStore::PutActionResult(const cas::Digest& /*action*/,
                                            const cas::ActionResult& /*result*/) {
  return absl::OkStatus();
}

}  // namespace kernelmill::bench
