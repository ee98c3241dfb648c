#include "services/store/adapters/rocksdb/database/synced_sizes.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/base/path.h"

// The file is an array of records; that of log n is number n % kRecords:
//   number:u64 size:u64 hash:u64, the last being StableHash64 of the first two, as this machine
//   stores them. A record that does not fit its hash is none.

namespace kernelmill::store {
namespace {

constexpr char kName[] = "SYNCED";
constexpr uint64_t kRecords = 64;  // far more than there are logs at once

struct Record {
  uint64_t number;
  uint64_t size;
  uint64_t hash;
};

uint64_t HashOf(const Record& record) {
  return StableHash64(
      absl::string_view(reinterpret_cast<const char*>(&record), offsetof(Record, hash)), kRecords);
}

}  // namespace

absl::StatusOr<std::unique_ptr<SyncedSizes>> SyncedSizes::Open(const std::string& dir) {
  const std::string path = dir + "/" + kName;
  const bool was_there = access(path.c_str(), F_OK) == 0;
  FileDescriptor opened(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!opened.is_open()) return ErrnoStatus(errno, path);
  const int file = opened.get();
  std::unique_ptr<SyncedSizes> sizes(new SyncedSizes(std::move(opened), was_there));
  for (uint64_t i = 0; i < kRecords; ++i) {
    Record record;
    if (pread(file, &record, sizeof(record), i * sizeof(record)) != sizeof(record)) break;
    if (record.number % kRecords == i && record.hash == HashOf(record)) {
      sizes->found_[record.number] = record.size;
    }
  }
  // Its room is taken now, so that a full disk does not stop it.
  if (!was_there) {
    const std::string zeros(kRecords * sizeof(Record), '\0');
    if (pwrite(file, zeros.data(), zeros.size(), 0) != static_cast<ssize_t>(zeros.size())) {
      return ErrnoStatus(errno, path);
    }
  }
  return sizes;
}

void SyncedSizes::Note(uint64_t number, uint64_t size) {
  Record record = {.number = number, .size = size, .hash = 0};
  record.hash = HashOf(record);
  absl::MutexLock lock(&mutex_);
  const auto written =
      pwrite(file_.get(), &record, sizeof(record), (number % kRecords) * sizeof(record));
  if (written != sizeof(record)) {
    LogWarning("how far the log is synced could not be noted", {{"error", std::strerror(errno)}});
  }
}

bool ParseWalName(absl::string_view path, uint64_t* number) {
  absl::string_view name = BaseName(path);
  if (!absl::EndsWith(name, ".log")) return false;
  name.remove_suffix(4);
  for (const char c : name) {
    if (!absl::ascii_isdigit(c)) return false;
  }
  return absl::SimpleAtoi(name, number);
}

}  // namespace kernelmill::store
