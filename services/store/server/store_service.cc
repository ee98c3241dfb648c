#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/access/authorizer.h"
#include "common/base/status.h"
#include "common/rocksdb/backup.h"
#include "common/rocksdb/backups.h"
#include "kernelmill/v1/store.grpc.pb.h"
#include "services/store/core/blob_id.h"
#include "services/store/server/services.h"

namespace kernelmill::store {
namespace {

constexpr size_t kDamagedPerMessage = 10'000;  // keeps a message well below its size limit

void Fill(const BackupEntry& backup, v1::BackupInfo* info) {
  info->set_name(backup.name);
  info->set_bytes(backup.bytes);
  info->set_made_unix_ms(backup.made_unix_ms);
}

// Describes the request, for the audit log.
std::string DescribeFilter(const v1::ForgetResultsRequest& request) {
  return absl::StrCat("stage '", request.stage(), "' version ", request.version(), " worker '",
                      request.worker(), "'", request.dry_run() ? ", as a trial" : "");
}

// The administration of a store: holds, verification, eviction, deletion of results, backups. Calls
// that change something are written to the audit log with their caller. gRPC calls it from several
// threads; the parts below are thread-safe.
class StoreService final : public v1::Store::Service {
 public:
  explicit StoreService(const StoreServiceParts& parts)
      : parts_(parts),
        backups_(
            parts.backups, kStoreDatabase,
            [disk = &parts.store->lru().disk()](const auto& dir) { return disk->BackUp(dir); }) {}

  grpc::Status Hold(grpc::ServerContext* context, const v1::HoldRequest* request,
                    v1::HoldResponse* response) override {
    return access::Audited(*context, "Hold", request->name(), Answer([&]() -> absl::Status {
      HoldRequest hold{.name = request->name(),
                       .blobs = {},
                       .everything_used_from_now = request->everything_used_from_now(),
                       .ttl_ms = request->ttl_ms()};
      // A hold of missing blobs succeeds, and the answer names them: the client decides whether
      // that is an error.
      ASSIGN_OR_RETURN(hold.blobs, ToBlobIds(request->blobs()));
      ASSIGN_OR_RETURN(const std::vector<BlobId> missing, parts_.store->lru().Hold(hold));
      for (const BlobId& id : missing) *response->add_missing() = ToDigest(id);
      return absl::OkStatus();
    }));
  }

  grpc::Status Release(grpc::ServerContext* context, const v1::ReleaseRequest* request,
                       v1::ReleaseResponse*) override {
    return access::Audited(*context, "Release", request->name(), Answer([&] {
      return parts_.store->lru().holds().Release(request->name());
    }));
  }

  grpc::Status Stat(grpc::ServerContext*, const v1::StatRequest* request,
                    v1::StatResponse* response) override {
    return Answer([&]() -> absl::Status {
      LruStore& lru = parts_.store->lru();
      ASSIGN_OR_RETURN(const Space space, lru.disk().Measure());
      const Usage usage = lru.blobs().usage();
      response->set_blobs(usage.blobs);
      response->set_blob_bytes(usage.blob_bytes);
      response->set_action_results(usage.results);
      response->set_disk_bytes(space.disk_bytes);
      response->set_free_disk_bytes(space.free_bytes);
      response->set_limit_bytes(lru.admission().limit());
      for (const HoldState& hold : lru.holds().List()) {
        v1::HoldInfo& info = *response->add_holds();
        info.set_name(hold.record.name);
        info.set_blobs(hold.record.blobs);
        info.set_everything_used_from_now(hold.record.holds_uses);
        // In the answer 0 means "no end", so a hold that expires now reports 1 ms.
        const bool for_ever = hold.left == absl::InfiniteDuration();
        info.set_expires_in_ms(
            for_ever ? 0 : std::max<int64_t>(absl::ToInt64Milliseconds(hold.left), 1));
        if (!request->sum_holds()) continue;
        ASSIGN_OR_RETURN(const int64_t bytes, lru.holds().SumBytes(hold.record.name));
        info.set_bytes(bytes);
      }
      ASSIGN_OR_RETURN(const std::vector<BackupEntry> backups, backups_.List());
      for (const BackupEntry& backup : backups) Fill(backup, response->add_backups());
      return absl::OkStatus();
    });
  }

  grpc::Status Verify(grpc::ServerContext*, const v1::VerifyRequest* request,
                      grpc::ServerWriter<v1::VerifyProgress>* stream) override {
    return Answer([&] {
      return parts_.store->Verify(request->drop_damaged(),
                                  [&](const Verified& verified) { return Send(verified, stream); });
    });
  }

  grpc::Status CollectGarbage(grpc::ServerContext* context,
                              const v1::CollectGarbageRequest* request,
                              v1::CollectGarbageResponse* response) override {
    const auto collect = [&]() -> absl::Status {
      ASSIGN_OR_RETURN(const Collected evicted,
                       request->dry_run() ? parts_.collector->WouldCollect(request->target_bytes())
                                          : parts_.collector->Collect(request->target_bytes()));
      response->set_dropped_blobs(evicted.blobs);
      response->set_dropped_bytes(evicted.bytes);
      int64_t left = parts_.store->lru().blobs().usage().blob_bytes;
      if (request->dry_run()) left = std::max<int64_t>(left - evicted.bytes, 0);
      response->set_held_bytes(left > request->target_bytes() ? left : 0);
      return absl::OkStatus();
    };
    // A dry run changes nothing, so it is not audited.
    if (request->dry_run()) return Answer(collect);
    return access::Audited(*context, "CollectGarbage",
                           absl::StrCat(request->target_bytes(), " bytes"), Answer(collect));
  }

  grpc::Status ForgetResults(grpc::ServerContext* context, const v1::ForgetResultsRequest* request,
                             v1::ForgetResultsResponse* response) override {
    // Checked between steps: a scan of all results ends soon after its client is gone.
    const auto go_on = [context] {
      return context->IsCancelled() ? absl::CancelledError("the client disconnected")
                                    : absl::OkStatus();
    };
    return access::Audited(
        *context, "ForgetResults", DescribeFilter(*request), Answer([&]() -> absl::Status {
          ASSIGN_OR_RETURN(const int64_t results,
                           parts_.store->ForgetResults({.stage = request->stage(),
                                                        .version = request->version(),
                                                        .worker = request->worker()},
                                                       request->dry_run(), go_on));
          response->set_results(results);
          return absl::OkStatus();
        }));
  }

  grpc::Status Backup(grpc::ServerContext* context, const v1::BackupRequest* request,
                      v1::BackupResponse* response) override {
    return access::Audited(*context, "Backup", request->name(), Answer([&]() -> absl::Status {
      ASSIGN_OR_RETURN(const Backups::Made made, backups_.Make(request->name()));
      response->set_path(made.path);
      response->set_bytes(made.bytes);
      return absl::OkStatus();
    }));
  }

  grpc::Status PruneBackups(grpc::ServerContext* context, const v1::PruneBackupsRequest* request,
                            v1::PruneBackupsResponse* response) override {
    const std::string bounds =
        absl::StrCat("all but ", request->keep(), ", older than ", request->max_age_ms(), " ms");
    return access::Audited(*context, "PruneBackups", bounds, Answer([&]() -> absl::Status {
      ASSIGN_OR_RETURN(
          const std::vector<BackupEntry> dropped,
          backups_.Prune(request->keep(), absl::Milliseconds(request->max_age_ms()), absl::Now()));
      for (const BackupEntry& backup : dropped) Fill(backup, response->add_dropped());
      return absl::OkStatus();
    }));
  }

 private:
  // Sends a report, in several messages if it is too large for one. Only the last one has
  // `finished`.
  static absl::Status Send(const Verified& verified,
                           grpc::ServerWriter<v1::VerifyProgress>* stream) {
    size_t sent = 0;
    do {
      v1::VerifyProgress message;
      message.set_blobs(verified.blobs);
      message.set_bytes(verified.bytes);
      for (size_t i = 0; i < kDamagedPerMessage && sent < verified.damaged.size(); ++i, ++sent) {
        *message.add_damaged() = ToDigest(verified.damaged[sent]);
      }
      message.set_finished(verified.finished && sent == verified.damaged.size());
      if (!stream->Write(message)) return absl::CancelledError("the client disconnected");
    } while (sent < verified.damaged.size());
    return absl::OkStatus();
  }

  const StoreServiceParts parts_;
  Backups backups_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewStoreService(const StoreServiceParts& parts) {
  return std::make_unique<StoreService>(parts);
}

}  // namespace kernelmill::store
