#include "services/store/adapters/rocksdb/database/wal_tail.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"
#include "common/base/status.h"

// A log of RocksDB is a row of blocks of 32 KiB, each a row of fragments:
//   crc:u32 length:u16 type:u8 bytes, little-endian. type: 1 a whole record, 2 its first fragment,
//   3 a middle one, 4 its last. crc: CRC-32C of type and bytes, turned by 15 bits, plus a constant.
// What is left of a block and too short for a fragment is zeros.

namespace kernelmill::store {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kBlockBytes = 32 << 10;
constexpr uint64_t kHeaderBytes = 7;
enum FragmentType : uint8_t { kWhole = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

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

// Goes through the fragments of one block.
class Block {
 public:
  explicit Block(absl::string_view bytes) : bytes_(bytes) {}

  // The next fragment, if it is whole. False: the block ends here, or a fragment is damaged.
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
  // Only what pads a whole block is left.
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

// Where the last of the whole records ends that come one after the other from the beginning.
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
      path.string(), ": damaged at byte ", offset, "; all up to byte ", synced,
      " had been acknowledged; refusing to start, since serving it could lose acknowledged data"));
}

absl::Status Truncate(const fs::path& path, uint64_t size) {
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return ErrnoStatus(errno, path.string());
  const bool done = ftruncate(file.get(), static_cast<off_t>(size)) == 0 && fsync(file.get()) == 0;
  return done ? absl::OkStatus() : ErrnoStatus(errno, path.string());
}

}  // namespace

absl::StatusOr<WalTails> CheckWalTails(const std::string& dir, const SyncedSizes& sizes) {
  WalTails tails;
  for (const auto& [number, path] : LogsIn(dir)) {
    const auto known = sizes.found().find(number);
    if (known == sizes.found().end()) continue;
    std::error_code error;
    const uint64_t size = fs::file_size(path, error);
    if (error) continue;  // another process has the database open, and deletes logs
    const uint64_t synced = known->second;
    if (size < synced) {
      tails.lost_bytes += synced - size;
      continue;
    }
    const uint64_t start = synced == 0 ? 0 : (synced - 1) / kBlockBytes * kBlockBytes;
    if (size >= start + kBlockBytes) continue;  // no last block: RocksDB forgives nothing there
    std::ifstream file(path, std::ios::binary);
    const std::string bytes = ReadBlock(file, start);
    Block block(bytes);
    while (start + block.offset() < synced && block.Next()) {
    }
    if (start + block.offset() < synced) return Damaged(path, start + block.offset(), synced);
  }
  return tails;
}

absl::StatusOr<WalTails> CutTornTails(const std::string& dir, const SyncedSizes& sizes) {
  if (!sizes.was_there()) {
    return absl::DataLossError("it is not known how much of the log had been acknowledged");
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
