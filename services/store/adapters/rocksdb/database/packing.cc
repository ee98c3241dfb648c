#include "services/store/adapters/rocksdb/database/packing.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/rocksdb/rocksdb.h"

// clang-format off
// record   := codec:u8 checksum:u64 payload
// codec    := 0 (the payload is the content) | 1 (the payload is one zstd frame)
// checksum := XXH3 of the payload, little-endian
// clang-format on

namespace kernelmill::store {
namespace {

constexpr size_t kHead = 1 + sizeof(uint64_t);
constexpr char kStored = 0;
constexpr char kZstd = 1;
constexpr int kLevel = 1;  // several times faster than the default; a tenth larger

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// A context takes some hundred kilobytes and is slow to make, so each thread keeps one.
ZSTD_CCtx* Compressor() {
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  return context.get();
}

ZSTD_DCtx* Decompressor() {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  return context.get();
}

// Returns whether compressing would gain nothing. The basic idea: in a few samples, count the pairs
// of equal bytes. Random bytes (compressed or encrypted content) agree in one pair of 256; text and
// code agree far more often.
bool LooksRandom(absl::string_view content) {
  constexpr size_t kSample = 1024;
  constexpr size_t kSamples = 4;
  const size_t step = std::max(content.size() / kSamples, kSample);
  for (size_t at = 0; at < content.size(); at += step) {
    const absl::string_view sample = content.substr(at, kSample);
    std::array<uint32_t, 256> counts = {};
    for (const char byte : sample) ++counts[static_cast<unsigned char>(byte)];
    uint64_t pairs = 0;
    for (const uint32_t count : counts) pairs += uint64_t{count} * (count - (count > 0));
    // 3/2 of the pairs that random bytes would have: one in 256.
    if (pairs * 256 > uint64_t{sample.size()} * sample.size() * 3 / 2) return false;
  }
  return true;
}

// Returns a zstd frame that is at least an eighth smaller than the content, or an empty string.
std::string Compress(absl::string_view content) {
  if (LooksRandom(content)) return "";
  std::string frame(ZSTD_compressBound(content.size()), '\0');
  const size_t size = ZSTD_compressCCtx(Compressor(), frame.data(), frame.size(), content.data(),
                                        content.size(), kLevel);
  if (ZSTD_isError(size) || size + kHead > content.size() - content.size() / 8) return "";
  frame.resize(size);
  return frame;
}

std::string Head(char codec, absl::string_view payload) {
  const uint64_t checksum = StableHash64(payload);
  std::string head(kHead, codec);
  for (size_t i = 0; i < sizeof(checksum); ++i) {
    head[1 + i] = static_cast<char>(checksum >> (8 * i) & 0xff);
  }
  return head;
}

}  // namespace

PackedRecord::PackedRecord(absl::string_view content)
    : compressed_(Compress(content)),
      payload_(compressed_.empty() ? content : compressed_),
      head_(Head(compressed_.empty() ? kStored : kZstd, payload_)) {}

void PackedRecord::Put(rocksdb::ColumnFamilyHandle* family, absl::string_view key,
                       rocksdb::WriteBatch* batch) const {
  const rocksdb::Slice key_part = ToSlice(key);
  const rocksdb::Slice parts[] = {head_, ToSlice(payload_)};
  batch->Put(family, rocksdb::SliceParts(&key_part, 1), rocksdb::SliceParts(parts, 2));
}

// Returns the content: a view of `record` if it is stored as it is, of `buffer` if it is
// compressed. DATA_LOSS: the checksum, the codec or the size is wrong.
absl::StatusOr<absl::string_view> Unpack(absl::string_view record, int64_t size,
                                         std::string* buffer) {
  if (record.size() < kHead) return absl::DataLossError("a record is too short");
  const absl::string_view payload = record.substr(kHead);
  if (Head(record[0], payload) != record.substr(0, kHead)) {
    return absl::DataLossError("a record's checksum does not match");
  }
  if (record[0] == kStored && static_cast<int64_t>(payload.size()) == size) return payload;
  if (record[0] != kZstd) return absl::DataLossError("a record has an unknown codec or size");
  buffer->resize(size);
  const size_t found = ZSTD_decompressDCtx(Decompressor(), buffer->data(), buffer->size(),
                                           payload.data(), payload.size());
  if (ZSTD_isError(found) || static_cast<int64_t>(found) != size) {
    return absl::DataLossError("a record does not decompress to its content");
  }
  return absl::string_view(*buffer);
}

}  // namespace kernelmill::store
