#include "services/store/core/verifier.h"

#include <utility>

#include "absl/status/statusor.h"
#include "common/base/hash.h"
#include "common/base/status.h"

namespace kernelmill::store {
namespace {

constexpr size_t kListAtOnce = 1024;
constexpr int64_t kBytesPerReport = 64 << 20;

enum class Condition { kGood, kDamaged, kGone };

absl::StatusOr<Condition> Examine(Storage& storage, const BlobId& id) {
  Sha256Stream hash;
  int64_t size = 0;
  const absl::Status read = storage.Read(id, 0, id.size, [&](absl::string_view piece) {
    hash.Update(piece);
    size += static_cast<int64_t>(piece.size());
    return absl::OkStatus();
  });
  if (absl::IsDataLoss(read)) return Condition::kDamaged;
  if (absl::IsNotFound(read)) return Condition::kGone;
  RETURN_IF_ERROR(read);
  const bool good = size == id.size && hash.FinishHex() == HexHash(id);
  return good ? Condition::kGood : Condition::kDamaged;
}

// Whether the blob is damaged.
absl::StatusOr<bool> Verify(Keeper& keeper, const BlobId& id, bool drop) {
  ASSIGN_OR_RETURN(Condition condition, Examine(keeper.storage(), id));
  if (condition == Condition::kGood) return false;
  // It was dropped or mended in between, unless the store says that it is there.
  keeper.MarkDamaged(id, /*confirmed=*/false);
  if (condition == Condition::kDamaged && !absl::IsDataLoss(keeper.Use(id))) {
    ASSIGN_OR_RETURN(condition,
                     Examine(keeper.storage(), id));  // checksums fit, its digest does not
    if (condition != Condition::kDamaged) return false;
    keeper.MarkDamaged(id, /*confirmed=*/true);
  }
  if (!absl::IsDataLoss(keeper.Use(id))) return false;
  if (drop) RETURN_IF_ERROR(keeper.DropDamaged(id));
  return true;
}

}  // namespace

absl::Status VerifyBlobs(Keeper& keeper, bool drop,
                         absl::FunctionRef<absl::Status(const Verified&)> report) {
  if (!keeper.settled()) {
    return absl::UnavailableError("the records of an older database are being read; try later");
  }
  Verified progress;
  std::vector<BlobId> bad;
  int64_t reported = 0;
  BlobId last;
  const BlobId* after = nullptr;
  for (;;) {
    ASSIGN_OR_RETURN(const std::vector<BlobId> ids, keeper.storage().List(after, kListAtOnce));
    if (ids.empty()) break;
    for (const BlobId& id : ids) {
      ASSIGN_OR_RETURN(const bool damaged, Verify(keeper, id, drop));
      ++progress.blobs;
      progress.bytes += id.size;
      if (damaged) bad.push_back(id);
      if (progress.bytes - reported < kBytesPerReport) continue;
      RETURN_IF_ERROR(report(progress));
      reported = progress.bytes;
    }
    last = ids.back();
    after = &last;
  }
  progress.finished = true;
  progress.damaged = std::move(bad);
  return report(progress);
}

}  // namespace kernelmill::store
