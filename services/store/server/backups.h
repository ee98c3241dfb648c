#ifndef KERNELMILL_SERVICES_STORE_SERVER_BACKUPS_H_
#define KERNELMILL_SERVICES_STORE_SERVER_BACKUPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

struct BackupOptions {
  std::string dir;  // a folder a backup below it; empty: none are made
  int max_backups = 16;
};

// A backup that is there.
struct BackupEntry {
  std::string name;
  int64_t bytes = 0;
  int64_t made_unix_ms = 0;
};

// The backups of a store: folders below one folder, bounded in number. A new one is made under a
// name that begins with '.', and gets its own once it is whole: nobody sees a half of one. Nothing
// is dropped but by Prune. Thread-safe.
class Backups {
 public:
  // `disk` must outlive it.
  Backups(const BackupOptions& options, Disk* disk) : options_(options), disk_(disk) {}

  struct Made {
    std::string path;
    int64_t bytes = 0;
  };
  // Makes the backup, or brings the one of this name up to date. INVALID_ARGUMENT: not a name;
  // FAILED_PRECONDITION: there is no folder for backups; RESOURCE_EXHAUSTED: there are as many as
  // may be, or no room. An error leaves no new backup behind, and a former one as it was.
  absl::StatusOr<Made> Make(const std::string& name);

  // The newest first; none where there is no folder.
  absl::StatusOr<std::vector<BackupEntry>> List();

  // Drops the oldest until no more than `keep` are left (0: any number), and all older than
  // `max_age` (zero: of any age). Returns what it dropped. INVALID_ARGUMENT: neither is given, or
  // one is negative.
  absl::StatusOr<std::vector<BackupEntry>> Prune(int keep, absl::Duration max_age, absl::Time now);

 private:
  absl::Status CheckFolder() const;
  absl::StatusOr<int64_t> MakeNew(const std::string& name);
  std::string PathOf(const std::string& name) const { return options_.dir + "/" + name; }

  const BackupOptions options_;
  Disk* const disk_;
  absl::Mutex making_;  // one at a time
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_SERVER_BACKUPS_H_
