#include "services/store/adapters/rocksdb/database/wal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/base/path.h"
#include "common/base/status.h"

// clang-format off
// The file SYNCED is an array of kRecords records; the record of log n has the index n % kRecords:
//   record := number:u64 size:u64 hash:u64, in the machine's byte order
//   hash   := StableHash64 of number and size. A record with another hash is ignored.
//
// A log of RocksDB is a sequence of blocks of 32 KiB. A block is a sequence of fragments; a rest that
// is too short for a fragment is zeros.
//   fragment := crc:u32 length:u16 type:u8 bytes, little-endian
//   type     := 1 a whole record | 2 its first fragment | 3 a middle one | 4 the last one
//   crc      := CRC-32C of type and bytes, rotated right by 15 bits, plus a constant
// clang-format on

namespace kernelmill::store {
namespace {

// The basic idea: after each sync of a log, its size is noted in SYNCED, a small file outside
// RocksDB. SYNCED itself is not synced: it survives a crash of the process, and after a crash of
// the machine an older size is still a lower bound of what was acknowledged. So when the database
// is opened, a record in the log is known to be acknowledged (damage there is data loss), or known
// to be beyond the last sync (a torn tail, which can be cut off).
constexpr char kName[] = "SYNCED";
constexpr uint64_t kRecords = 64;  // far more than the number of logs at a time

struct Record {
  uint64_t number;
  uint64_t size;
  uint64_t hash;
};

uint64_t HashRecord(const Record& record) {
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
    if (record.number % kRecords == i && record.hash == HashRecord(record)) {
      sizes->found_[record.number] = record.size;
    }
  }
  // Allocates the whole file now, so that a full disk does not stop later writes to it.
  if (!was_there) {
    const std::string zeros(kRecords * sizeof(Record), '\0');
    if (pwrite(file, zeros.data(), zeros.size(), 0) != static_cast<ssize_t>(zeros.size())) {
      return ErrnoStatus(errno, path);
    }
  }
  return sizes;
}

// A failure is only logged: the sizes then say too little, which makes the checks weaker, never
// wrong.
void SyncedSizes::Note(uint64_t number, uint64_t size) {
  Record record = {.number = number, .size = size, .hash = 0};
  record.hash = HashRecord(record);
  absl::MutexLock lock(&mutex_);
  const auto written =
      pwrite(file_.get(), &record, sizeof(record), (number % kRecords) * sizeof(record));
  if (written != sizeof(record)) {
    LogWarning("cannot note how far the write-ahead log is synced",
               {{"error", std::strerror(errno)}});
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

// One open log: counts the bytes appended, and reports syncs and failures to the monitor.
class MonitoredWal : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  MonitoredWal(std::unique_ptr<rocksdb::FSWritableFile> file, uint64_t number, WalMonitor* monitor)
      : FSWritableFileOwnerWrapper(std::move(file)), number_(number), monitor_(monitor) {}

  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    return Appended(data.size(), FSWritableFileOwnerWrapper::Append(data, options, debug));
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           const rocksdb::DataVerificationInfo& info,
                           rocksdb::IODebugContext* debug) override {
    return Appended(data.size(), FSWritableFileOwnerWrapper::Append(data, options, info, debug));
  }
  // The size is read before the sync: bytes that are appended during it may not be covered.
  rocksdb::IOStatus Sync(const rocksdb::IOOptions& options,
                         rocksdb::IODebugContext* debug) override {
    const uint64_t size = size_;
    return Synced(size, FSWritableFileOwnerWrapper::Sync(options, debug));
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options,
                          rocksdb::IODebugContext* debug) override {
    const uint64_t size = size_;
    return Synced(size, FSWritableFileOwnerWrapper::Fsync(options, debug));
  }

 private:
  rocksdb::IOStatus Appended(uint64_t bytes, rocksdb::IOStatus status) {
    if (status.ok()) {
      size_ += bytes;
    } else {
      monitor_->Failed(status, "writing the write-ahead log");
    }
    return status;
  }
  rocksdb::IOStatus Synced(uint64_t size, rocksdb::IOStatus status) {
    if (status.ok()) {
      monitor_->Synced(number_, size);
    } else {
      monitor_->Failed(status, "syncing the write-ahead log");
    }
    return status;
  }

  const uint64_t number_;
  WalMonitor* const monitor_;
  std::atomic<uint64_t> size_{0};
};

WalMonitor::WalMonitor(const std::shared_ptr<rocksdb::FileSystem>& target,
                       std::unique_ptr<SyncedSizes> sizes,
                       std::function<void(const absl::Status&)> on_broken)
    : FileSystemWrapper(target), sizes_(std::move(sizes)), on_broken_(std::move(on_broken)) {}

rocksdb::IOStatus WalMonitor::NewWritableFile(const std::string& name,
                                              const rocksdb::FileOptions& options,
                                              std::unique_ptr<rocksdb::FSWritableFile>* file,
                                              rocksdb::IODebugContext* debug) {
  rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(name, options, file, debug);
  uint64_t number = 0;
  if (status.ok() && ParseWalName(name, &number)) {
    *file = std::make_unique<MonitoredWal>(std::move(*file), number, this);
  }
  return status;
}

void WalMonitor::Synced(uint64_t number, uint64_t size) { sizes_->Note(number, size); }

// After a failed sync the kernel may have dropped the pages, so a later sync that succeeds proves
// nothing. The first failure is therefore final: every later write returns it, and the process
// should restart.
void WalMonitor::Failed(const rocksdb::Status& status, const char* what) {
  if (status.IsNoSpace()) return;  // RocksDB resumes by itself when the disk has room
  {
    absl::MutexLock lock(&mutex_);
    if (broken_) return;
    failure_ = absl::UnavailableError(
        absl::StrCat(what, " failed; no write is acknowledged any more: ", status.ToString()));
    broken_ = true;
  }
  LogError("the database can no longer be written", {{"error", this->status().ToString()}});
  if (on_broken_) on_broken_(this->status());
}

absl::Status WalMonitor::status() const {
  if (!broken_) return absl::OkStatus();
  absl::MutexLock lock(&mutex_);
  return failure_;
}

namespace {

// Damage (Corruption) does not break the log: RocksDB refuses writes by itself, and the store still
// serves what can be read.
class FailureListener : public rocksdb::EventListener {
 public:
  FailureListener(std::shared_ptr<WalMonitor> monitor, DamageSink on_damage)
      : monitor_(std::move(monitor)), on_damage_(std::move(on_damage)) {}
  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* error) override {
    if (error->IsIOError()) monitor_->Failed(*error, "writing the database");
    if (error->IsCorruption()) on_damage_(*error);
  }

 private:
  const std::shared_ptr<WalMonitor> monitor_;
  const DamageSink on_damage_;
};

}  // namespace

std::shared_ptr<rocksdb::EventListener> NewFailureListener(std::shared_ptr<WalMonitor> monitor,
                                                           DamageSink on_damage) {
  return std::make_shared<FailureListener>(std::move(monitor), std::move(on_damage));
}

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kBlockBytes = 32 << 10;
constexpr uint64_t kHeaderBytes = 7;
enum FragmentType : uint8_t { kWhole = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

// The table has 256 entries for the reflected polynomial of CRC-32C. Speed does not matter here:
// only one block of each log is read.
uint32_t Crc32c(absl::string_view bytes) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> entries;
    for (uint32_t i = 0; i < entries.size(); ++i) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
      entries[i] = crc;
    }
    return entries;
  }();
  uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc = table[(crc ^ static_cast<uint8_t>(byte)) & 0xff] ^ (crc >> 8);
  }
  return ~crc;
}

uint32_t Masked(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

uint32_t LoadLittleEndian(absl::string_view bytes, size_t size) {
  uint32_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

// A cursor over the fragments of one block.
class Block {
 public:
  explicit Block(absl::string_view bytes) : bytes_(bytes) {}

  // Moves to the next fragment. Returns false if the block ends, or the fragment is damaged.
  bool Next() {
    if (AtEnd()) return false;
    const absl::string_view rest = bytes_.substr(at_);
    if (rest.size() < kHeaderBytes) return false;
    const size_t length = LoadLittleEndian(rest.substr(4), 2);
    type_ = static_cast<uint8_t>(rest[6]);
    if (type_ < kWhole || type_ > kLast || rest.size() < kHeaderBytes + length) return false;
    if (Masked(Crc32c(rest.substr(6, 1 + length))) != LoadLittleEndian(rest, 4)) return false;
    at_ += kHeaderBytes + length;
    return true;
  }
  // Returns whether only padding is left.
  bool AtEnd() const {
    return at_ == bytes_.size() ||
           (bytes_.size() == kBlockBytes && kBlockBytes - at_ < kHeaderBytes);
  }
  uint8_t type() const { return type_; }
  uint64_t offset() const { return at_; }

 private:
  const absl::string_view bytes_;
  uint64_t at_ = 0;
  uint8_t type_ = 0;
};

std::string ReadBlock(std::ifstream& file, uint64_t offset) {
  std::string bytes(kBlockBytes, '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(file.gcount());
  return bytes;
}

// Returns the end of the last record before the first damaged or incomplete one.
uint64_t WholeRecordsEnd(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  uint64_t end = 0;
  for (uint64_t start = 0;; start += kBlockBytes) {
    const std::string bytes = ReadBlock(file, start);
    Block block(bytes);
    while (block.Next()) {
      if (block.type() == kWhole || block.type() == kLast) end = start + block.offset();
    }
    if (!block.AtEnd() || bytes.size() < kBlockBytes) return end;
  }
}

std::map<uint64_t, fs::path> LogsIn(const std::string& dir) {
  std::map<uint64_t, fs::path> logs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    uint64_t number = 0;
    if (ParseWalName(entry.path().string(), &number)) logs[number] = entry.path();
  }
  return logs;
}

absl::Status Damaged(const fs::path& path, uint64_t offset, uint64_t synced) {
  return absl::DataLossError(absl::StrCat(
      path.string(), ": damaged at byte ", offset, "; everything up to byte ", synced,
      " was acknowledged; refusing to start, since serving it could lose acknowledged data"));
}

absl::Status Truncate(const fs::path& path, uint64_t size) {
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return ErrnoStatus(errno, path.string());
  const bool done = ftruncate(file.get(), static_cast<off_t>(size)) == 0 && fsync(file.get()) == 0;
  return done ? absl::OkStatus() : ErrnoStatus(errno, path.string());
}

}  // namespace

// Checks that each log still has what was synced. lost_bytes counts what is missing at the end;
// DATA_LOSS: the last synced block is damaged.
absl::StatusOr<WalTails> CheckWalTails(const std::string& dir, const SyncedSizes& sizes) {
  WalTails tails;
  for (const auto& [number, path] : LogsIn(dir)) {
    const auto known = sizes.found().find(number);
    if (known == sizes.found().end()) continue;
    std::error_code error;
    const uint64_t size = fs::file_size(path, error);
    if (error) continue;  // another process has the database open and deleted the log
    const uint64_t synced = known->second;
    if (size < synced) {
      tails.lost_bytes += synced - size;
      continue;
    }
    // Only the block with the last synced byte is read: RocksDB takes damage in the last block for
    // a torn tail, but finds damage in any earlier block by itself.
    const uint64_t start = synced == 0 ? 0 : (synced - 1) / kBlockBytes * kBlockBytes;
    if (size >= start + kBlockBytes)
      continue;  // not the last block; RocksDB checks the others itself
    std::ifstream file(path, std::ios::binary);
    const std::string bytes = ReadBlock(file, start);
    Block block(bytes);
    while (start + block.offset() < synced && block.Next()) {
    }
    if (start + block.offset() < synced) return Damaged(path, start + block.offset(), synced);
  }
  return tails;
}

// Truncates each log after its last whole record. All logs are checked before the first is cut:
// DATA_LOSS, with all logs unchanged, if one of them would lose synced bytes.
absl::StatusOr<WalTails> CutTornTails(const std::string& dir, const SyncedSizes& sizes) {
  if (!sizes.was_there()) {
    return absl::DataLossError("unknown how much of the log was acknowledged: SYNCED is missing");
  }
  WalTails tails;
  std::vector<std::pair<fs::path, uint64_t>> cuts;
  for (const auto& [number, path] : LogsIn(dir)) {
    std::error_code error;
    const uint64_t size = fs::file_size(path, error);
    if (error) return ErrnoStatus(error.value(), path.string());
    const uint64_t end = WholeRecordsEnd(path);
    if (end >= size) continue;
    const auto known = sizes.found().find(number);
    const uint64_t synced = known == sizes.found().end() ? 0 : known->second;
    if (end < std::min(synced, size)) return Damaged(path, end, synced);
    cuts.emplace_back(path, end);
    tails.torn_bytes += size - end;
  }
  for (const auto& [path, end] : cuts) RETURN_IF_ERROR(Truncate(path, end));
  return tails;
}

}  // namespace kernelmill::store
