// The commands on the data folder of crawls on this machine. Its parts have fixed names; whatever
// else lies there is counted and never deleted. A crawl holds the lock of the store's database, and
// so do prune and clear.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/commands/ask.h"
#include "client/commands/cluster.h"
#include "client/commands/commands.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "client/console/json.h"
#include "client/embedded/embedded_cluster.h"
#include "client/grpc/store_client.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "kernelmill/v1/store.pb.h"

namespace kernelmill::client {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

// A part of the data folder.
struct Part {
  const char* folder;
  const char* content;
  bool cleared;  // by `clear`: a crawl makes it again
};

constexpr Part kParts[] = {
    {"store", "fetched repositories and results of stages", true},
    {"coordinator", "jobs of crawls", true},
    {"tmp", "temporary repositories and downloads", true},
    {"toolchains", "compilers, from kernelmill toolchains --install", false},
    {"dev", "the cluster of kernelmill dev", false},
};

// Returns the bytes on the disk of everything below the path. Links are not followed. Files
// that cannot be read, or that disappear meanwhile, count nothing.
int64_t DiskBytes(const fs::path& path) {
  struct stat about = {};
  if (::lstat(path.c_str(), &about) != 0) return 0;
  int64_t bytes = int64_t{512} * about.st_blocks;
  if (!S_ISDIR(about.st_mode)) return bytes;
  std::error_code error;
  for (fs::directory_iterator entry(path, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    bytes += DiskBytes(entry->path());
  }
  return bytes;
}

// The size of a part; of files that no part has, `part` is null.
struct PartSize {
  const Part* part = nullptr;
  int64_t bytes = 0;
};

std::vector<PartSize> MeasureParts(const std::string& data_dir) {
  std::vector<PartSize> sizes;
  std::set<std::string> known;
  for (const Part& part : kParts) {
    known.insert(part.folder);
    sizes.push_back({&part, DiskBytes(fs::path(data_dir) / part.folder)});
  }
  PartSize others;
  std::error_code error;
  for (fs::directory_iterator entry(data_dir, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (!known.contains(entry->path().filename().string())) others.bytes += DiskBytes(*entry);
  }
  sizes.push_back(others);
  return sizes;
}

// NOT_FOUND: the folder has no store. Nothing is deleted in a folder that may be somebody else's.
absl::Status CheckDataFolder(const std::string& data_dir) {
  std::error_code error;
  if (fs::exists(data_dir + "/store/CURRENT", error)) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat(data_dir, " is not a crawl's data folder; set --data to the crawl's --data"));
}

// The locks of the databases in a data folder. RocksDB takes the same ones.
class DataLock {
 public:
  // FAILED_PRECONDITION: another process has a database open.
  static absl::StatusOr<DataLock> Take(const std::string& data_dir) {
    DataLock lock;
    for (const char* const database : {"/store", "/coordinator"}) {
      const std::string path = absl::StrCat(data_dir, database, "/LOCK");
      FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
      if (!file.is_open() && errno == ENOENT) continue;
      if (!file.is_open()) return ErrnoStatus(errno, path);
      struct flock whole = {};
      whole.l_type = F_WRLCK;
      whole.l_whence = SEEK_SET;
      if (::fcntl(file.get(), F_SETLK, &whole) != 0) {
        if (errno != EACCES && errno != EAGAIN) return ErrnoStatus(errno, path);
        return absl::FailedPreconditionError(
            absl::StrCat(data_dir,
                         ": another process has it open, such as a crawl; wait for its "
                         "end, or stop it"));
      }
      lock.files_.push_back(std::move(file));
    }
    return lock;
  }

 private:
  std::vector<FileDescriptor> files_;
};

// Drops the least recently used content until the store's database has at most `limit` bytes. A
// collection counts content before its compression, so its target is estimated, and the size is
// measured again.
absl::StatusOr<v1::CollectGarbageResponse> Shrink(StoreClient& store, int64_t limit) {
  constexpr int kRounds = 5;
  v1::CollectGarbageResponse sum;
  for (int round = 0; round < kRounds; ++round) {
    ASSIGN_OR_RETURN(const v1::StatResponse stat, store.Stat(/*sum_holds=*/false));
    if (stat.disk_bytes() <= limit) break;
    const double share = static_cast<double>(limit) / static_cast<double>(stat.disk_bytes());
    const auto target = static_cast<int64_t>(share * static_cast<double>(stat.blob_bytes()));
    ASSIGN_OR_RETURN(const v1::CollectGarbageResponse dropped,
                     store.CollectGarbage(target, /*dry_run=*/false));
    sum.set_dropped_blobs(sum.dropped_blobs() + dropped.dropped_blobs());
    sum.set_dropped_bytes(sum.dropped_bytes() + dropped.dropped_bytes());
    if (dropped.dropped_blobs() == 0) break;
  }
  return sum;
}

}  // namespace

absl::StatusOr<int> CacheSize(const std::string& data_dir, Console& console) {
  std::error_code error;
  if (!fs::is_directory(data_dir, error)) {
    return absl::NotFoundError(
        absl::StrCat(data_dir, ": there is no such folder; a crawl makes it"));
  }
  const bool in_use = absl::IsFailedPrecondition(DataLock::Take(data_dir).status());
  OrderedJson json = {{"data", data_dir}, {"parts", OrderedJson::array()}};
  std::string text = absl::StrCat(data_dir, "\n");
  int64_t all = 0;
  for (const PartSize& size : MeasureParts(data_dir)) {
    all += size.bytes;
    const char* const folder = size.part == nullptr ? "other" : size.part->folder;
    json["parts"].push_back({{"part", folder}, {"bytes", size.bytes}});
    if (size.bytes == 0) continue;
    absl::StrAppendFormat(
        &text, "  %-12s %10s  %s\n", folder, ShortBytes(size.bytes),
        size.part == nullptr ? "files that kernelmill does not know" : size.part->content);
  }
  json["bytes"] = all;
  json["in_use"] = in_use;
  absl::StrAppendFormat(&text, "  %-12s %10s%s\n", "all", ShortBytes(all),
                        in_use ? "  another process has it open" : "");
  console.Result(console.json() ? JsonLine("cache", json) : text);
  return kDone;
}

absl::StatusOr<int> CachePrune(const std::string& data_dir, int64_t limit_bytes,
                               rpc::TerminationSignal& signal, Console& console) {
  RETURN_IF_ERROR(CheckDataFolder(data_dir));
  RETURN_IF_ERROR(DataLock::Take(data_dir).status());
  const int64_t before = DiskBytes(data_dir + "/store");
  v1::CollectGarbageResponse dropped;
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<EmbeddedCluster> embedded,
                     EmbeddedCluster::Start({.data_dir = data_dir}));
    const std::unique_ptr<StoreClient> store = NewStoreClient(embedded->store());
    const OnInterrupt on_interrupt(signal, [&] { store->Interrupt(); });
    ASSIGN_OR_RETURN(dropped, Shrink(*store, limit_bytes));
  }
  const int64_t after = DiskBytes(data_dir + "/store");
  console.Result(console.json()
                     ? JsonLine("cache_pruned", {{"data", data_dir},
                                                 {"dropped_blobs", dropped.dropped_blobs()},
                                                 {"dropped_bytes", dropped.dropped_bytes()},
                                                 {"before_bytes", before},
                                                 {"after_bytes", after}})
                     : absl::StrCat("store  ", ShortBytes(before), " before, ", ShortBytes(after),
                                    " after\n"));
  return kDone;
}

absl::StatusOr<int> CacheClear(const std::string& data_dir, bool yes,
                               rpc::TerminationSignal& signal, Console& console) {
  RETURN_IF_ERROR(CheckDataFolder(data_dir));
  // Held until the end, so that no crawl starts on a folder that disappears.
  ASSIGN_OR_RETURN(const DataLock lock, DataLock::Take(data_dir));
  int64_t bytes = 0;
  for (const PartSize& size : MeasureParts(data_dir)) {
    if (size.part != nullptr && size.part->cleared) bytes += size.bytes;
  }
  if (!yes && !CanAsk()) {
    return absl::InvalidArgumentError(
        "clear asks before it deletes, and there is no terminal; --yes deletes without asking");
  }
  if (!yes) {
    ASSIGN_OR_RETURN(const std::string answer,
                     Ask(absl::StrCat("Delete ", ShortBytes(bytes), " in ", OneLine(data_dir),
                                      "? The next crawl fetches everything again. [y/N] "),
                         signal));
    const std::string word = absl::AsciiStrToLower(answer);
    if (word != "y" && word != "yes") {
      console.Note("nothing was deleted");
      return kDone;
    }
  }
  // The store goes last: a folder without one is not taken for a data folder any more.
  for (const char* const folder : {"tmp", "coordinator", "store"}) {
    std::error_code error;
    fs::remove_all(fs::path(data_dir) / folder, error);
    if (error) return ErrnoStatus(error.value(), absl::StrCat(data_dir, "/", folder));
  }
  console.Result(console.json()
                     ? JsonLine("cache_cleared", {{"data", data_dir}, {"deleted_bytes", bytes}})
                     : absl::StrCat("deleted ", ShortBytes(bytes), "\n"));
  return kDone;
}

}  // namespace kernelmill::client
