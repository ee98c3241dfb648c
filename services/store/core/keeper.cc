#include "services/store/core/keeper.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/status.h"

namespace kernelmill::store {
namespace {

constexpr size_t kMaxDamaged = 100'000;  // marks that are kept
constexpr Tick kTicksKept = 2;           // this one and the one before

int64_t BytesPerTick(const RetentionOptions& options) {
  if (options.bytes_per_tick > 0) return options.bytes_per_tick;
  constexpr int64_t kMost = int64_t{1} << 30;
  if (options.limit_bytes == 0) return kMost;
  return std::clamp<int64_t>(options.limit_bytes / 64, 64 << 10, kMost);
}

absl::Status NotThere(const BlobId& id) {
  return absl::NotFoundError(absl::StrCat("no blob ", ToString(id)));
}

int64_t SizeOf(absl::Span<const CheckedBlob> blobs) {
  int64_t size = 0;
  for (const CheckedBlob& blob : blobs) size += blob.id.size;
  return size;
}

std::vector<BlobId> IdsOf(absl::Span<const CheckedBlob> blobs) {
  std::vector<BlobId> ids;
  ids.reserve(blobs.size());
  for (const CheckedBlob& blob : blobs) ids.push_back(blob.id);
  return ids;
}

}  // namespace

Keeper::Keeper(std::unique_ptr<Storage> storage, const RetentionOptions& options)
    : storage_(std::move(storage)),
      bytes_per_tick_(BytesPerTick(options)),
      admission_(options.limit_bytes, options.patience),
      holds_(storage_.get(), options.now ? options.now : MonotonicNow),
      recent_(options.remembered_uses) {
  const ClockState clock = storage_->clock();
  clock_ = clock.tick;
  in_tick_ = std::max<int64_t>(storage_->usage().written - clock.started_at, 0);
  if (clock.marks_lost) marks_lost_at_ = clock.tick;
}

absl::Status Keeper::Load() {
  RETURN_IF_ERROR(holds_.Load());
  if (marks_lost_at_ > 0) {
    holds_.WidenFences();
    RETURN_IF_ERROR(holds_.SaveWidened());
  }
  ASSIGN_OR_RETURN(const std::vector<BlobId> damaged, storage_->Damaged());
  {
    absl::MutexLock lock(&gate_);
    damaged_.insert(damaged.begin(), damaged.end());
    damaged_count_ = damaged_.size();
  }
  return Settle().status();  // mostly there is nothing to do, and this one step says so
}

absl::StatusOr<std::vector<bool>> Keeper::Find(absl::Span<const BlobId> ids) {
  std::vector<bool> held(ids.size());
  std::vector<size_t> unsure;
  const Tick now = this->now();
  for (size_t i = 0; i < ids.size(); ++i) {
    if (recent_.Get(ids[i]) == now) {
      held[i] = true;
    } else {
      unsure.push_back(i);
    }
  }
  if (unsure.empty()) return held;
  absl::ReaderMutexLock lock(&gate_);
  RETURN_IF_ERROR(FindMarked(ids, unsure, &held));
  return held;
}

absl::Status Keeper::FindMarked(absl::Span<const BlobId> ids, const std::vector<size_t>& places,
                                std::vector<bool>* held) {
  const Tick now = this->now();
  std::vector<BlobId> asked;
  asked.reserve(places.size());
  for (const size_t place : places) asked.push_back(ids[place]);
  ASSIGN_OR_RETURN(const std::vector<Tick> last, storage_->LastUses(asked));
  std::vector<store::Use> uses;
  for (size_t i = 0; i < asked.size(); ++i) {
    const bool found = last[i] != kNotHeld && !damaged_.contains(asked[i]);
    (*held)[places[i]] = found;
    if (found && last[i] < now) uses.push_back({asked[i], last[i]});
  }
  if (!uses.empty()) {
    // A full disk keeps marks from being written, but nobody from reading.
    if (const absl::Status touched = storage_->Touch(uses, now); !touched.ok()) {
      LoseMarks(now, touched);
      return absl::OkStatus();
    }
  }
  for (size_t i = 0; i < asked.size(); ++i) {
    if ((*held)[places[i]]) recent_.Note(asked[i], now);
  }
  return absl::OkStatus();
}

void Keeper::LoseMarks(Tick now, const absl::Status& why) {
  if (marks_lost_at_.exchange(now) != now) {
    LogWarning("uses could not be marked; nothing is dropped for a while",
               {{"error", why.ToString()}});
  }
  holds_.WidenFences();
}

absl::Status Keeper::Use(const BlobId& id) {
  ASSIGN_OR_RETURN(const std::vector<bool> held, Find({id}));
  if (held.front()) return absl::OkStatus();
  if (!IsDamaged(id)) return NotThere(id);
  return absl::DataLossError(absl::StrCat(ToString(id), ": damaged; put it again to mend it"));
}

absl::StatusOr<std::vector<CheckedBlob>> Keeper::Missing(absl::Span<const CheckedBlob> blobs) {
  ASSIGN_OR_RETURN(const std::vector<bool> held, Find(IdsOf(blobs)));
  std::vector<CheckedBlob> missing;
  absl::flat_hash_set<BlobId, BlobIdHash> seen;  // a batch may name a blob twice
  for (size_t i = 0; i < blobs.size(); ++i) {
    if (!held[i] && seen.insert(blobs[i].id).second) missing.push_back(blobs[i]);
  }
  return missing;
}

absl::Status Keeper::Put(absl::Span<const CheckedBlob> blobs) {
  const Claims::Claim claim(&claims_, IdsOf(blobs));
  // Once is the rule. Where the clock went on while the disk was at work, the blobs are asked for
  // again: what is answered was used in the tick of the answer.
  for (;;) {
    ASSIGN_OR_RETURN(const std::vector<CheckedBlob> missing, Missing(blobs));
    if (missing.empty()) return absl::OkStatus();
    const int64_t bytes = SizeOf(missing);
    RETURN_IF_ERROR(admission_.Admit(bytes));
    Tick written_at = 0;
    RETURN_IF_ERROR(Write(missing, &written_at));
    Wrote(bytes);
    if (written_at == now()) return absl::OkStatus();
  }
}

absl::Status Keeper::Write(absl::Span<const CheckedBlob> blobs, Tick* written_at) {
  *written_at = now();
  std::vector<BlobId> healed;
  for (const CheckedBlob& blob : blobs) {
    if (IsDamaged(blob.id)) healed.push_back(blob.id);
  }
  if (healed.empty()) {
    RETURN_IF_ERROR(storage_->Put(blobs, /*fresh=*/true, *written_at));
  } else {  // they are there, and may be old: nobody may drop them meanwhile
    absl::ReaderMutexLock lock(&gate_);
    *written_at = now();
    RETURN_IF_ERROR(storage_->Put(blobs, /*fresh=*/false, *written_at));
  }
  for (const BlobId& id : healed) Healed(id);
  for (const CheckedBlob& blob : blobs) recent_.Note(blob.id, *written_at);
  return absl::OkStatus();
}

absl::Status Keeper::Append(StagedBlob& staged, absl::string_view chunk) {
  RETURN_IF_ERROR(admission_.Admit(static_cast<int64_t>(chunk.size())));
  return staged.Append(chunk);
}

absl::Status Keeper::Commit(StagedBlob& staged, const BlobId& id) {
  const Claims::Claim claim(&claims_, {id});
  ASSIGN_OR_RETURN(const std::vector<bool> held, Find({id}));
  if (held.front()) return absl::OkStatus();  // another upload of the same blob was faster
  RETURN_IF_ERROR(staged.Sync());             // before the gate, which the clock may wait for
  Tick written_at = 0;
  {
    // Blobs in chunks are few and large: that the clock waits for one harms nobody.
    absl::ReaderMutexLock lock(&gate_);
    written_at = now();
    RETURN_IF_ERROR(staged.Commit(id, written_at));
  }
  if (IsDamaged(id)) Healed(id);
  recent_.Note(id, written_at);
  Wrote(id.size);
  return absl::OkStatus();
}

void Keeper::Healed(const BlobId& id) {
  LogInfo("a damaged blob was put again", {{"blob", ToString(id)}});
  absl::MutexLock lock(&gate_);
  damaged_.erase(id);
  damaged_count_ = damaged_.size();
}

bool Keeper::IsDamaged(const BlobId& id) const {
  if (damaged() == 0) return false;  // nearly always
  absl::ReaderMutexLock lock(&gate_);
  return damaged_.contains(id);
}

absl::Status Keeper::Read(const BlobId& id, int64_t offset, int64_t length, ByteSink sink) {
  bool refused = false;  // by the reader: no fault of the blob
  const absl::Status status =
      storage_->Read(id, offset, length, [&](absl::string_view piece) -> absl::Status {
        const absl::Status taken = sink(piece);
        refused = !taken.ok();
        return taken;
      });
  if (refused || !(absl::IsDataLoss(status) || absl::IsNotFound(status))) return status;
  if (MarkDamaged(id, /*confirmed=*/false)) {
    return absl::DataLossError(absl::StrCat(ToString(id), " is damaged: ", status.message()));
  }
  if (absl::IsNotFound(status)) return status;
  return absl::UnavailableError(
      absl::StrCat(ToString(id), " was dropped or mended while it was read; try again"));
}

bool Keeper::IsUnreadable(const BlobId& id) {
  absl::ReaderMutexLock lock(&gate_);
  const absl::StatusOr<std::vector<Tick>> last = storage_->LastUses({id});
  if (!last.ok() || last->front() == kNotHeld) return false;
  const auto ignore = [](absl::string_view) { return absl::OkStatus(); };
  const absl::Status read = storage_->Read(id, 0, id.size, ignore);
  return absl::IsDataLoss(read) || absl::IsNotFound(read);
}

bool Keeper::MarkDamaged(const BlobId& id, bool confirmed) {
  const Claims::Claim claim(&claims_, {id});
  // It may have been dropped, or put anew, since it was read.
  if (!confirmed && !IsUnreadable(id)) return false;
  LogError("a blob is damaged", {{"blob", ToString(id)}});
  absl::MutexLock lock(&gate_);
  if (damaged_.size() >= kMaxDamaged || !damaged_.insert(id).second) return true;
  damaged_count_ = damaged_.size();
  recent_.Erase(id);
  if (const absl::Status marked = storage_->MarkDamaged(id); !marked.ok()) {
    LogWarning("the damage could not be marked; it will be found anew after a restart",
               {{"error", marked.ToString()}});
  }
  return true;
}

absl::Status Keeper::DropDamaged(const BlobId& id) {
  const Claims::Claim claim(&claims_, {id});
  absl::MutexLock lock(&gate_);
  if (!damaged_.contains(id)) return absl::OkStatus();
  RETURN_IF_ERROR(storage_->Drop(id));
  damaged_.erase(id);
  damaged_count_ = damaged_.size();
  recent_.Erase(id);
  return absl::OkStatus();
}

absl::StatusOr<std::string> Keeper::GetResult(absl::string_view instance, const BlobId& action) {
  absl::ReaderMutexLock lock(&gate_);
  ASSIGN_OR_RETURN(StoredResult result, storage_->GetResult(instance, action));
  const Tick now = this->now();
  if (result.last_use < now) {
    const absl::Status touched = storage_->TouchResult(instance, action, result.last_use, now);
    if (!touched.ok()) LoseMarks(now, touched);
  }
  return std::move(result.bytes);
}

absl::Status Keeper::PutResult(absl::string_view instance, const BlobId& action,
                               absl::string_view result) {
  const int64_t bytes = static_cast<int64_t>(result.size());
  const Claims::Claim claim(&claims_, {action});
  RETURN_IF_ERROR(admission_.Admit(bytes));
  {
    absl::ReaderMutexLock lock(&gate_);
    RETURN_IF_ERROR(storage_->PutResult(instance, action, result, now()));
  }
  Wrote(bytes);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BlobId>> Keeper::Hold(const HoldWish& wish) {
  // First the hold, then the question: what is found after the hold was saved is not dropped.
  RETURN_IF_ERROR(holds_.Hold(wish, now()));
  ASSIGN_OR_RETURN(const std::vector<bool> held, Find(wish.blobs));
  std::vector<BlobId> missing;
  for (size_t i = 0; i < held.size(); ++i) {
    if (!held[i] && !IsEmptyBlob(wish.blobs[i])) missing.push_back(wish.blobs[i]);
  }
  return missing;
}

void Keeper::Wrote(int64_t bytes) {
  if (in_tick_.fetch_add(bytes) + bytes < bytes_per_tick_) return;
  // One of the writers that come here at once will do.
  if (in_tick_.exchange(0) < bytes_per_tick_) return;
  if (const absl::Status status = AdvanceClock(); !status.ok()) {
    LogWarning("the clock of uses did not advance", {{"error", status.ToString()}});
  }
}

absl::Status Keeper::AdvanceClock() {
  absl::MutexLock lock(&gate_);
  const Tick next = now() + 1;
  // Written before any mark of the new tick, so that no mark is ever ahead of the clock.
  RETURN_IF_ERROR(storage_->SetClock({.tick = next, .started_at = storage_->usage().written}));
  clock_.store(next, std::memory_order_release);
  return absl::OkStatus();
}

absl::StatusOr<bool> Keeper::Settle() {
  if (settled()) return true;
  absl::MutexLock lock(&gate_);
  ASSIGN_OR_RETURN(const bool done, storage_->Settle(now()));
  if (done) settled_.store(true, std::memory_order_release);
  return done;
}

absl::StatusOr<Dropped> Keeper::DropOldest(int64_t bytes) {
  absl::MutexLock lock(&gate_);
  const Tick now = this->now();
  const bool lost_lately = marks_lost_at_ > 0 && now < marks_lost_at_ + kTicksKept;
  if (!settled() || lost_lately || now < kTicksKept) return Dropped{.finished = true};
  const Tick before = std::min(now + 1 - kTicksKept, holds_.Fence());
  ASSIGN_OR_RETURN(Dropped dropped,
                   storage_->DropOldest({.before = before, .now = now, .bytes = bytes}));
  if (!damaged_.empty()) {
    for (const BlobId& id : dropped.blobs) damaged_.erase(id);
    damaged_count_ = damaged_.size();
  }
  return dropped;
}

bool Keeper::FenceIsClosed() const { return holds_.Fence() < now() + 1 - kTicksKept; }

}  // namespace kernelmill::store
