#include "services/store/core/lru_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/status.h"

namespace kernelmill::store {

// A cache of recent uses, so that repeated lookups of the same digests need no read of the
// database. Each shard has two generations: lookups move an entry into `young`; when `young` is
// full, it becomes `old`, and the entries of the former `old` are forgotten. So an entry that is
// used stays, at two hash tables and no list of links. A shard's lock guards both.
RecencyCache::RecencyCache(size_t max_entries)
    : max_young_(std::max<size_t>(max_entries / kShards / 2, 1)) {}

// The first byte of a SHA-256 spreads evenly.
RecencyCache::Shard& RecencyCache::GetShard(const BlobId& id) {
  return shards_[static_cast<unsigned char>(id.hash[0]) % kShards];
}

Epoch RecencyCache::Get(const BlobId& id) {
  Shard& shard = GetShard(id);
  absl::MutexLock lock(&shard.mutex);
  if (const auto at = shard.young.find(id); at != shard.young.end()) return at->second;
  const auto at = shard.old.find(id);
  if (at == shard.old.end()) return 0;
  const Epoch epoch = at->second;
  Insert(shard, id, epoch);
  return epoch;
}

void RecencyCache::Note(const BlobId& id, Epoch epoch) {
  Shard& shard = GetShard(id);
  absl::MutexLock lock(&shard.mutex);
  Insert(shard, id, epoch);
}

void RecencyCache::Insert(Shard& shard, const BlobId& id, Epoch epoch) {
  if (shard.young.size() >= max_young_ && !shard.young.contains(id)) {
    shard.old = std::exchange(shard.young, Map());
  }
  shard.young[id] = epoch;
}

void RecencyCache::Erase(const BlobId& id) {
  Shard& shard = GetShard(id);
  absl::MutexLock lock(&shard.mutex);
  shard.young.erase(id);
  shard.old.erase(id);
}

namespace {

constexpr size_t kMaxDamaged = 100'000;  // bounds the marks in memory
constexpr Epoch kEpochsKept = 2;         // this one and the one before

// An epoch ends after a 64th of the limit is written, so recency has some 64 steps in a full store:
// fine enough to evict in order, coarse enough that a use is recorded once for each epoch.
int64_t BytesPerEpoch(const RetentionOptions& options) {
  if (options.bytes_per_epoch > 0) return options.bytes_per_epoch;
  constexpr int64_t kMost = int64_t{1} << 30;
  if (options.limit_bytes == 0) return kMost;
  return std::clamp<int64_t>(options.limit_bytes / 64, 64 << 10, kMost);
}

absl::Status NotThere(const BlobId& id) {
  return absl::NotFoundError(absl::StrCat("no blob ", ToString(id)));
}

int64_t SumSizes(absl::Span<const CheckedBlob> blobs) {
  int64_t size = 0;
  for (const CheckedBlob& blob : blobs) size += blob.id.size;
  return size;
}

std::vector<BlobId> GetIds(absl::Span<const CheckedBlob> blobs) {
  std::vector<BlobId> ids;
  ids.reserve(blobs.size());
  for (const CheckedBlob& blob : blobs) ids.push_back(blob.id);
  return ids;
}

}  // namespace

// Time is counted in epochs, which advance with the bytes written. A use in the epoch of the
// recorded one writes nothing, so most lookups are only reads.
//
// Locks, in the order in which they are taken: key_locks_ has a lock for each key, so that two
// writers of one blob do not write it twice; then eviction_mutex_ (see the class comment).
LruStore::LruStore(std::unique_ptr<Storage> storage, const RetentionOptions& options)
    : storage_(std::move(storage)),
      blobs_(storage_->blobs()),
      uses_(storage_->uses()),
      bytes_per_epoch_(BytesPerEpoch(options)),
      admission_(options.limit_bytes, options.max_write_wait, options.keep_free_bytes),
      holds_(&storage_->holds(), options.now ? options.now : MonotonicNow),
      recent_(options.recency_cache_entries) {
  const EpochState state = uses_.epoch();
  epoch_ = state.epoch;
  in_epoch_ = std::max<int64_t>(blobs_.usage().written - state.started_at, 0);
  if (state.uses_lost) uses_lost_in_ = state.epoch;
}

// If a crash may have lost recorded uses, the holds of "everything used from now" then hold
// everything, because the lost uses may be theirs. EvictOldest pauses for two epochs as well.
absl::Status LruStore::Load() {
  RETURN_IF_ERROR(holds_.Load());
  if (uses_lost_in_ > 0) {
    holds_.HoldAllUses();
    RETURN_IF_ERROR(holds_.SaveChanged());
  }
  ASSIGN_OR_RETURN(const std::vector<BlobId> damaged, blobs_.Damaged());
  absl::MutexLock lock(&eviction_mutex_);
  damaged_.insert(damaged.begin(), damaged.end());
  damaged_count_ = damaged_.size();
  return absl::OkStatus();
}

// Returns which blobs exist, and records a use of those that do. A blob in recent_ with this epoch
// was found or written in this epoch and cannot have been evicted since, so it needs no lock and no
// read.
absl::StatusOr<std::vector<bool>> LruStore::Find(absl::Span<const BlobId> ids) {
  std::vector<bool> found(ids.size());
  std::vector<size_t> unsure;
  const Epoch now = epoch();
  for (size_t i = 0; i < ids.size(); ++i) {
    if (recent_.Get(ids[i]) == now) {
      found[i] = true;
    } else {
      unsure.push_back(i);
    }
  }
  if (unsure.empty()) return found;
  absl::ReaderMutexLock lock(&eviction_mutex_);
  RETURN_IF_ERROR(FindAndTouch(ids, unsure, &found));
  return found;
}

// Looks up ids[place] for each of `places`. The caller shares eviction_mutex_.
absl::Status LruStore::FindAndTouch(absl::Span<const BlobId> ids, const std::vector<size_t>& places,
                                    std::vector<bool>* found) {
  const Epoch now = epoch();
  std::vector<BlobId> asked;
  asked.reserve(places.size());
  for (const size_t place : places) asked.push_back(ids[place]);
  ASSIGN_OR_RETURN(const std::vector<Epoch> last, uses_.LastUses(asked));
  std::vector<LastUse> older;
  for (size_t i = 0; i < asked.size(); ++i) {
    const bool there = last[i] != kNoEpoch && !damaged_.contains(asked[i]);
    (*found)[places[i]] = there;
    if (there && last[i] < now) older.push_back({asked[i], last[i]});
  }
  if (!older.empty()) {
    // A full disk prevents the record, but not the answer: eviction stops instead.
    if (const absl::Status touched = uses_.Touch(older, now); !touched.ok()) {
      SuspendEviction(now, touched);
      return absl::OkStatus();
    }
  }
  for (size_t i = 0; i < asked.size(); ++i) {
    if ((*found)[places[i]]) recent_.Note(asked[i], now);
  }
  return absl::OkStatus();
}

// Called when a use could not be recorded: eviction would judge by wrong uses, so it pauses for two
// epochs.
void LruStore::SuspendEviction(Epoch now, const absl::Status& why) {
  if (uses_lost_in_.exchange(now) != now) {
    LogWarning("cannot record uses; eviction pauses for two epochs", {{"error", why.ToString()}});
  }
  holds_.HoldAllUses();
}

// NOT_FOUND: the blob does not exist. DATA_LOSS: it exists but is damaged.
absl::Status LruStore::Touch(const BlobId& id) {
  ASSIGN_OR_RETURN(const std::vector<bool> found, Find({id}));
  if (found.front()) return absl::OkStatus();
  if (!IsDamaged(id)) return NotThere(id);
  return absl::DataLossError(absl::StrCat(ToString(id), ": damaged; put it again to repair it"));
}

absl::StatusOr<std::vector<CheckedBlob>> LruStore::Missing(absl::Span<const CheckedBlob> blobs) {
  ASSIGN_OR_RETURN(const std::vector<bool> found, Find(GetIds(blobs)));
  std::vector<CheckedBlob> missing;
  absl::flat_hash_set<BlobId, BlobIdHash> seen;  // a batch may name a blob twice
  for (size_t i = 0; i < blobs.size(); ++i) {
    if (!found[i] && seen.insert(blobs[i].id).second) missing.push_back(blobs[i]);
  }
  return missing;
}

// Writes the blobs that do not exist. The bytes were checked against their digests before.
absl::Status LruStore::Put(absl::Span<const CheckedBlob> blobs) {
  const KeyLocks::Lock lock_keys(&key_locks_, GetIds(blobs));
  // Normally one round. If an epoch began during the write, the blobs are looked up again: an
  // answer promises a use in the epoch of the answer.
  for (;;) {
    ASSIGN_OR_RETURN(const std::vector<CheckedBlob> missing, Missing(blobs));
    if (missing.empty()) return absl::OkStatus();
    const int64_t bytes = SumSizes(missing);
    RETURN_IF_ERROR(admission_.Admit(bytes));
    Epoch written_at = 0;
    RETURN_IF_ERROR(Write(missing, &written_at));
    CountWritten(bytes);
    if (written_at == epoch()) return absl::OkStatus();
  }
}

absl::Status LruStore::Write(absl::Span<const CheckedBlob> blobs, Epoch* written_at) {
  *written_at = epoch();
  std::vector<BlobId> damaged;
  for (const CheckedBlob& blob : blobs) {
    if (IsDamaged(blob.id)) damaged.push_back(blob.id);
  }
  if (damaged.empty()) {
    RETURN_IF_ERROR(admission_.Noted(blobs_.Put(blobs, /*fresh=*/true, *written_at)));
  } else {  // damaged blobs exist and may be old; the lock keeps them from being evicted meanwhile
    absl::ReaderMutexLock lock(&eviction_mutex_);
    *written_at = epoch();
    RETURN_IF_ERROR(admission_.Noted(blobs_.Put(blobs, /*fresh=*/false, *written_at)));
  }
  for (const BlobId& id : damaged) ClearDamage(id);
  for (const CheckedBlob& blob : blobs) recent_.Note(blob.id, *written_at);
  return absl::OkStatus();
}

absl::Status LruStore::Append(StagedBlob& staged, absl::string_view chunk) {
  RETURN_IF_ERROR(admission_.Admit(static_cast<int64_t>(chunk.size())));
  return admission_.Noted(staged.Append(chunk));
}

absl::Status LruStore::Commit(StagedBlob& staged, const BlobId& id) {
  const KeyLocks::Lock lock_keys(&key_locks_, {id});
  ASSIGN_OR_RETURN(const std::vector<bool> found, Find({id}));
  if (found.front()) return absl::OkStatus();  // another upload of the same blob was faster
  // The slow part comes before the lock, since a new epoch waits for the lock.
  RETURN_IF_ERROR(admission_.Noted(staged.Sync()));
  Epoch written_at = 0;
  {
    // Blobs in chunks are few and large, so a new epoch can wait for one.
    absl::ReaderMutexLock lock(&eviction_mutex_);
    written_at = epoch();
    RETURN_IF_ERROR(admission_.Noted(staged.Commit(id, written_at)));
  }
  if (IsDamaged(id)) ClearDamage(id);
  recent_.Note(id, written_at);
  CountWritten(id.size);
  return absl::OkStatus();
}

void LruStore::ClearDamage(const BlobId& id) {
  LogInfo("a damaged blob was put again", {{"blob", ToString(id)}});
  absl::MutexLock lock(&eviction_mutex_);
  damaged_.erase(id);
  damaged_count_ = damaged_.size();
}

bool LruStore::IsDamaged(const BlobId& id) const {
  if (damaged() == 0) return false;  // the common case needs no lock
  absl::ReaderMutexLock lock(&eviction_mutex_);
  return damaged_.contains(id);
}

// Passes a part of the content to `sink`. If the storage reports damage, the blob is marked, and
// DATA_LOSS tells the client so. UNAVAILABLE: the blob changed during the read, which is no damage.
absl::Status LruStore::Read(const BlobId& id, int64_t offset, int64_t length, PieceSink sink) {
  bool refused = false;  // the error is the sink's
  absl::Status status = blobs_.Read(id, offset, length, [&](const Piece& piece) -> absl::Status {
    absl::Status taken = sink(piece);
    refused = !taken.ok();
    return taken;
  });
  if (refused || !(absl::IsDataLoss(status) || absl::IsNotFound(status))) return status;
  if (MarkDamaged(id, /*confirmed=*/false)) {
    return absl::DataLossError(absl::StrCat(ToString(id), " is damaged: ", status.message()));
  }
  if (absl::IsNotFound(status)) return status;
  return absl::UnavailableError(
      absl::StrCat(ToString(id), " was evicted or repaired while it was read; try again"));
}

// Returns whether the blob exists but cannot be read.
bool LruStore::IsUnreadable(const BlobId& id) {
  absl::ReaderMutexLock lock(&eviction_mutex_);
  const absl::StatusOr<std::vector<Epoch>> last = uses_.LastUses({id});
  if (!last.ok() || last->front() == kNoEpoch) return false;
  const auto ignore = [](const Piece&) { return absl::OkStatus(); };
  const absl::Status read = blobs_.Read(id, 0, id.size, ignore);
  return absl::IsDataLoss(read) || absl::IsNotFound(read);
}

// Marks the blob in memory and on disk. Returns false if a second look, under the blob's lock,
// finds it readable or gone. `confirmed` skips that look.
bool LruStore::MarkDamaged(const BlobId& id, bool confirmed) {
  const KeyLocks::Lock lock_keys(&key_locks_, {id});
  // It may have been evicted or put again since it was read.
  if (!confirmed && !IsUnreadable(id)) return false;
  LogError("a blob is damaged", {{"blob", ToString(id)}});
  absl::MutexLock lock(&eviction_mutex_);
  if (damaged_.size() >= kMaxDamaged || !damaged_.insert(id).second) return true;
  damaged_count_ = damaged_.size();
  recent_.Erase(id);
  if (const absl::Status marked = blobs_.MarkDamaged(id); !marked.ok()) {
    LogWarning("cannot mark the damage durably; after a restart the next read finds it again",
               {{"error", marked.ToString()}});
  }
  return true;
}

absl::Status LruStore::DeleteDamaged(const BlobId& id) {
  const KeyLocks::Lock lock_keys(&key_locks_, {id});
  absl::MutexLock lock(&eviction_mutex_);
  if (!damaged_.contains(id)) return absl::OkStatus();
  RETURN_IF_ERROR(blobs_.Delete(id));
  damaged_.erase(id);
  damaged_count_ = damaged_.size();
  recent_.Erase(id);
  return absl::OkStatus();
}

// The use is recorded under the shared lock, so the result cannot be evicted between.
absl::StatusOr<std::string> LruStore::GetResult(absl::string_view instance, const BlobId& action) {
  absl::ReaderMutexLock lock(&eviction_mutex_);
  ASSIGN_OR_RETURN(StoredResult result, blobs_.GetResult(instance, action));
  const Epoch now = epoch();
  if (result.last_use < now) {
    const absl::Status touched = uses_.TouchResult(instance, action, now);
    if (!touched.ok()) SuspendEviction(now, touched);
  }
  return std::move(result.bytes);
}

absl::Status LruStore::PutResult(absl::string_view instance, const BlobId& action,
                                 absl::string_view result) {
  const int64_t bytes = static_cast<int64_t>(result.size());
  const KeyLocks::Lock lock_keys(&key_locks_, {action});
  RETURN_IF_ERROR(admission_.Admit(bytes));
  {
    absl::ReaderMutexLock lock(&eviction_mutex_);
    RETURN_IF_ERROR(admission_.Noted(blobs_.PutResult(instance, action, result, epoch())));
  }
  CountWritten(bytes);
  return absl::OkStatus();
}

absl::StatusOr<int64_t> LruStore::DeleteResults(absl::Span<const ResultId> results) {
  std::vector<BlobId> actions;
  for (const ResultId& result : results) actions.push_back(result.action);
  const KeyLocks::Lock lock_keys(&key_locks_, actions);
  // Exclusive: a reader records the use of its result, and must not do so after the deletion.
  absl::MutexLock lock(&eviction_mutex_);
  return blobs_.DeleteResults(results);
}

// Returns the named blobs that do not exist. The empty blob always exists.
absl::StatusOr<std::vector<BlobId>> LruStore::Hold(const HoldRequest& request) {
  // The hold is saved before the lookup, so that blobs found by the lookup cannot be evicted.
  RETURN_IF_ERROR(holds_.Hold(request, epoch()));
  ASSIGN_OR_RETURN(const std::vector<bool> found, Find(request.blobs));
  std::vector<BlobId> missing;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i] && !IsEmptyBlob(request.blobs[i])) missing.push_back(request.blobs[i]);
  }
  return missing;
}

void LruStore::CountWritten(int64_t bytes) {
  if (in_epoch_.fetch_add(bytes) + bytes < bytes_per_epoch_) return;
  // Only one of the concurrent writers advances the epoch.
  if (in_epoch_.exchange(0) < bytes_per_epoch_) return;
  if (const absl::Status status = AdvanceEpoch(); !status.ok()) {
    LogWarning("cannot advance the epoch of uses", {{"error", status.ToString()}});
  }
}

// Begins the next epoch. The exclusive lock waits for lookups that record uses in the old one.
absl::Status LruStore::AdvanceEpoch() {
  absl::MutexLock lock(&eviction_mutex_);
  const Epoch next = epoch() + 1;
  // Written before any use in the new epoch, so that no recorded use is later than the epoch.
  RETURN_IF_ERROR(uses_.SetEpoch({.epoch = next, .started_at = blobs_.usage().written}));
  epoch_.store(next, std::memory_order_release);
  return absl::OkStatus();
}

// Evicts one step of at most `bytes`. Nothing is evicted in the first two epochs of a store, or in
// the two after uses were lost. HeldSince limits the eviction further: a hold of "everything used
// from now" protects all uses since its beginning.
absl::StatusOr<Evicted> LruStore::EvictOldest(int64_t bytes) {
  absl::MutexLock lock(&eviction_mutex_);
  const Epoch now = epoch();
  if (IsEvictionPaused() || now < kEpochsKept) return Evicted{.finished = true};
  const Epoch before = std::min(now + 1 - kEpochsKept, holds_.HeldSince());
  ASSIGN_OR_RETURN(Evicted evicted,
                   uses_.EvictOldest({.before = before, .now = now, .bytes = bytes}));
  if (!damaged_.empty()) {
    for (const BlobId& id : evicted.blobs) damaged_.erase(id);
    damaged_count_ = damaged_.size();
  }
  return evicted;
}

// Counts what Collect would evict; that begins two epochs first, so they are added here.
absl::StatusOr<Evictable> LruStore::CountEvictable(int64_t bytes) {
  const Epoch now = epoch() + kEpochsKept;
  const Epoch before = std::min(now + 1 - kEpochsKept, holds_.HeldSince());
  return uses_.CountOldest({.before = before, .now = now, .bytes = bytes});
}

bool LruStore::IsEvictionPaused() const {
  return uses_lost_in_ > 0 && epoch() < uses_lost_in_ + kEpochsKept;
}

// From the next epoch on: all that a store has may have been used in this one, as after a repair.
bool LruStore::TrustRecordedUses() { return holds_.TrustUses(epoch() + 1); }

bool LruStore::HoldsKeepMoreThanRecency() const {
  return holds_.HeldSince() < epoch() + 1 - kEpochsKept;
}

}  // namespace kernelmill::store
