#include "services/store/adapters/rocksdb/database/records.h"

#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"

// clang-format off
// The grammar of the database. Integers are big-endian in keys, so that they sort, and little-endian
// in values. `hash` is a raw SHA-256 (32 bytes), `staging` 16 random bytes.
//
// Column family "default":
//   "format" -> the version of this grammar in decimal: "3" (common/rocksdb/format.h); upgrades.cc
//               makes it of older ones
//   "clock"  -> epoch:u64 started_at:u64; the epoch of uses, and Usage::written when it began
//   "boot"   -> the boot id of the machine while the database is open; "clean" after a clean close
//
// Column family "cas":
//   "h" hash              -> header; a blob's content exists if and only if its header does
//   "b" hash              -> body: the bytes of a blob of kMaxInlineBytes < size <= kChunkBytes
//   "c" staging index:u32 -> chunk: kChunkBytes of a larger blob; the last one may be shorter
//                            bodies and chunks are packed (packing.cc)
//   "u" staging           -> empty; chunks of this id may exist that no header names
//   header := 'i' size:u64 bytes | 'b' size:u64 | 'c' size:u64 staging
//
//   A body is written in one batch with its header. Chunks are written before their header, without
//   the log: first "u" with chunk 0, then the other chunks, then a flush, and last one synced batch
//   with the header and the deletion of "u". When the database is opened, the chunks of every "u"
//   are deleted; no other scan is needed. RocksDB stores bodies and chunks in blob files.
//
// Column family "ac":
//   hash size:u64 instance -> a serialized ActionResult
//
// Column family "use" (small records, so that a lookup of 100,000 digests reads no content):
//   "l" item              -> epoch:u64 size:u64; the last use. A blob or result exists if and only
//                            if this record does
//   "t" epoch:u64 item    -> empty; the index by epoch: one entry for each "l", in the same batch
//   "n" slot:u32          -> blobs:u64 blob_bytes:u64 results:u64 written:u64 result_bytes:u64; one
//                            slot of the counters (counters.h)
//   "d" hash              -> size:u64; the blob is marked as damaged
//   item := 'b' hash | 'r' key of "ac"
//
// Column family "hold":
//   "n" name              -> id:u64 blobs:u64 holds_uses:u64 since:u64 ttl_ms:u64
//   "l" id:u64            -> hash*; the blobs of the hold
//   "b" hash id:u64       -> empty; the same list by blob
// clang-format on

namespace kernelmill::store {
namespace {

constexpr size_t kSizeBytes = 8;
constexpr size_t kStagingBytes = 16;

std::string Key(char tag, absl::string_view rest) {
  return absl::StrCat(absl::string_view(&tag, 1), rest);
}

std::string BigEndian(uint64_t value, int bytes) {
  std::string out(bytes, '\0');
  for (int i = bytes; i-- > 0; value >>= 8) out[i] = static_cast<char>(value & 0xff);
  return out;
}

uint64_t LoadBigEndian64(absl::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(value); ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

std::string LittleEndian64(uint64_t value) {
  std::string out(sizeof(value), '\0');
  for (char& byte : out) {
    byte = static_cast<char>(value & 0xff);
    value >>= 8;
  }
  return out;
}

uint64_t LoadLittleEndian64(absl::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = sizeof(value); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

// Parses a value of exactly `count` integers.
absl::StatusOr<std::vector<int64_t>> ParseIntegers(absl::string_view value, size_t count,
                                                   absl::string_view what) {
  if (value.size() != count * kSizeBytes) {
    return absl::DataLossError(absl::StrCat(what, " has the wrong length"));
  }
  std::vector<int64_t> integers;
  for (size_t i = 0; i < count; ++i) {
    integers.push_back(static_cast<int64_t>(LoadLittleEndian64(value.substr(i * kSizeBytes))));
  }
  return integers;
}

char GetTag(Header::Place place) {
  switch (place) {
    case Header::Place::kInline:
      return 'i';
    case Header::Place::kBody:
      return 'b';
    case Header::Place::kChunks:
      return 'c';
  }
  return '?';
}

}  // namespace

std::string HeaderKey(const BlobId& id) { return absl::StrCat(kHeaderPrefix, id.raw_hash()); }
std::string BodyKey(const BlobId& id) { return Key('b', id.raw_hash()); }
std::string ChunkPrefix(absl::string_view staging) { return Key('c', staging); }
std::string StagingKey(absl::string_view staging) { return absl::StrCat(kStagingPrefix, staging); }

std::string ChunkKey(absl::string_view staging, uint32_t index) {
  return absl::StrCat(ChunkPrefix(staging), BigEndian(index, 4));
}

std::string ResultKey(absl::string_view instance, const BlobId& action) {
  return absl::StrCat(action.raw_hash(), BigEndian(action.size, 8), instance);
}

absl::StatusOr<ResultId> ParseResultKey(absl::string_view key) {
  constexpr size_t kHashBytes = sizeof(BlobId::hash);
  if (key.size() < kHashBytes + kSizeBytes) return absl::DataLossError("a key is too short");
  const int64_t size = static_cast<int64_t>(LoadBigEndian64(key.substr(kHashBytes)));
  return ResultId{.instance = std::string(key.substr(kHashBytes + kSizeBytes)),
                  .action = MakeBlobId(key.substr(0, kHashBytes), size)};
}

std::string EncodeHeader(const Header& header) {
  return absl::StrCat(Key(GetTag(header.place), LittleEndian64(header.size)), header.rest);
}

absl::StatusOr<Header> ParseHeader(absl::string_view value) {
  if (value.size() < 1 + kSizeBytes) return absl::DataLossError("a header is too short");
  Header header;
  const char tag = value.front();
  header.size = static_cast<int64_t>(LoadLittleEndian64(value.substr(1)));
  header.rest = value.substr(1 + kSizeBytes);
  size_t rest = 0;
  switch (tag) {
    case 'i':
      header.place = Header::Place::kInline;
      rest = header.size;
      break;
    case 'b':
      header.place = Header::Place::kBody;
      break;
    case 'c':
      header.place = Header::Place::kChunks;
      rest = kStagingBytes;
      break;
    default:
      return absl::DataLossError("a header has an unknown tag");
  }
  if (header.size < 0 || header.rest.size() != rest) {
    return absl::DataLossError("a header has the wrong length");
  }
  return header;
}

std::string BlobItem(absl::string_view raw_hash) { return Key('b', raw_hash); }
std::string ResultItem(absl::string_view result_key) { return Key('r', result_key); }
bool IsBlobItem(absl::string_view item) {
  return item.size() == 1 + sizeof(BlobId::hash) && item.front() == 'b';
}

std::string UseKey(absl::string_view item) { return Key('l', item); }

std::string EncodeUse(const UseValue& use) {
  return absl::StrCat(LittleEndian64(use.epoch), LittleEndian64(use.size));
}

absl::StatusOr<UseValue> ParseUse(absl::string_view value) {
  ASSIGN_OR_RETURN(const auto parts, ParseIntegers(value, 2, "a use record"));
  return UseValue{.epoch = static_cast<Epoch>(parts[0]), .size = parts[1]};
}

std::string IndexBound(Epoch epoch) { return absl::StrCat(kIndexPrefix, BigEndian(epoch, 8)); }
std::string IndexKey(Epoch epoch, absl::string_view item) {
  return absl::StrCat(IndexBound(epoch), item);
}
Epoch IndexKeyEpoch(absl::string_view key) { return LoadBigEndian64(key.substr(1)); }
absl::string_view IndexKeyItem(absl::string_view key) { return key.substr(1 + kSizeBytes); }

std::string CounterKey(uint32_t slot) { return absl::StrCat(kCounterPrefix, BigEndian(slot, 4)); }

std::string EncodeUsage(const Usage& usage) {
  return absl::StrCat(LittleEndian64(usage.blobs), LittleEndian64(usage.blob_bytes),
                      LittleEndian64(usage.results), LittleEndian64(usage.written),
                      LittleEndian64(usage.result_bytes));
}

absl::StatusOr<Usage> ParseUsage(absl::string_view value) {
  ASSIGN_OR_RETURN(const auto parts, ParseIntegers(value, 5, "a counter"));
  return Usage{.blobs = parts[0],
               .blob_bytes = parts[1],
               .results = parts[2],
               .result_bytes = parts[4],
               .written = parts[3]};
}

std::string DamageKey(const BlobId& id) { return absl::StrCat(kDamagePrefix, id.raw_hash()); }

std::string EncodeSize(int64_t size) { return LittleEndian64(size); }

absl::StatusOr<int64_t> ParseSize(absl::string_view value) {
  ASSIGN_OR_RETURN(const auto parts, ParseIntegers(value, 1, "a size"));
  return parts[0];
}

BlobId MakeBlobId(absl::string_view raw_hash, int64_t size) {
  BlobId id;
  std::memcpy(id.hash, raw_hash.data(), sizeof(id.hash));
  id.size = size;
  return id;
}

std::string EncodeEpoch(const EpochState& epoch) {
  return absl::StrCat(LittleEndian64(epoch.epoch), LittleEndian64(epoch.started_at));
}

absl::StatusOr<EpochState> ParseEpoch(absl::string_view value) {
  ASSIGN_OR_RETURN(const auto parts, ParseIntegers(value, 2, "the epoch"));
  return EpochState{.epoch = static_cast<Epoch>(parts[0]), .started_at = parts[1]};
}

std::string HoldKey(absl::string_view name) { return absl::StrCat(kHoldPrefix, name); }
std::string HeldPrefix(absl::string_view raw_hash) { return Key('b', raw_hash); }
std::string HeldKey(absl::string_view raw_hash, uint64_t hold) {
  return absl::StrCat(HeldPrefix(raw_hash), BigEndian(hold, 8));
}
std::string HoldListKey(uint64_t hold) { return Key('l', BigEndian(hold, 8)); }

std::string EncodeHold(const HoldValue& hold) {
  const HoldRecord& record = hold.record;
  return absl::StrCat(LittleEndian64(hold.id), LittleEndian64(record.blobs),
                      LittleEndian64(record.holds_uses), LittleEndian64(record.since),
                      LittleEndian64(record.ttl_ms));
}

absl::StatusOr<HoldValue> ParseHold(absl::string_view value) {
  ASSIGN_OR_RETURN(const auto parts, ParseIntegers(value, 5, "a hold"));
  HoldValue hold{.id = static_cast<uint64_t>(parts[0]), .record = {}};
  hold.record.blobs = parts[1];
  hold.record.holds_uses = parts[2] != 0;
  hold.record.since = static_cast<Epoch>(parts[3]);
  hold.record.ttl_ms = parts[4];
  return hold;
}

}  // namespace kernelmill::store
