#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_RECORDS_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_RECORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "services/store/core/blob_id.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// Keys and values of the database. records.cc has the grammar. Each EncodeX makes a value, and
// ParseX reads it; DATA_LOSS: the value is malformed.

inline constexpr char kFormatKey[] = "format";
inline constexpr char kEpochKey[] = "clock";
inline constexpr char kBootKey[] = "boot";

// Blobs up to this size are stored in their header, which saves one lookup for the many small ones.
inline constexpr int64_t kMaxInlineBytes = 1024;

inline constexpr absl::string_view kHeaderPrefix = "h";
inline constexpr absl::string_view kStagingPrefix = "u";
std::string HeaderKey(const BlobId& id);
std::string BodyKey(const BlobId& id);
std::string ChunkKey(absl::string_view staging, uint32_t index);
std::string ChunkPrefix(absl::string_view staging);
std::string StagingKey(absl::string_view staging);
std::string ResultKey(absl::string_view instance, const BlobId& action);
// Parses the key of a result. DATA_LOSS: it is malformed.
absl::StatusOr<ResultId> ParseResultKey(absl::string_view key);

// Describes where a blob's bytes are stored.
struct Header {
  enum class Place { kInline, kBody, kChunks };
  Place place = Place::kInline;
  int64_t size = 0;
  absl::string_view rest;  // inline: the bytes; chunks: the staging id. Parsed: borrowed
};

std::string EncodeHeader(const Header& header);
absl::StatusOr<Header> ParseHeader(absl::string_view value);

// Makes the item of the column family "use" for a blob or a result.
std::string BlobItem(absl::string_view raw_hash);
std::string ResultItem(absl::string_view result_key);
// Returns the raw hash of a blob, or the key of a result.
inline absl::string_view ItemKey(absl::string_view item) { return item.substr(1); }
bool IsBlobItem(absl::string_view item);

inline constexpr absl::string_view kBlobUsePrefix = "lb";
std::string UseKey(absl::string_view item);
struct UseValue {
  Epoch epoch = 0;
  int64_t size = 0;
};
std::string EncodeUse(const UseValue& use);
absl::StatusOr<UseValue> ParseUse(absl::string_view value);

inline constexpr absl::string_view kIndexPrefix = "t";
std::string IndexKey(Epoch epoch, absl::string_view item);
std::string IndexBound(Epoch epoch);  // sorts before all items of this epoch
Epoch IndexKeyEpoch(absl::string_view key);
absl::string_view IndexKeyItem(absl::string_view key);

inline constexpr absl::string_view kCounterPrefix = "n";
std::string CounterKey(uint32_t slot);
std::string EncodeUsage(const Usage& usage);
absl::StatusOr<Usage> ParseUsage(absl::string_view value);

inline constexpr absl::string_view kDamagePrefix = "d";
std::string DamageKey(const BlobId& id);

std::string EncodeSize(int64_t size);
absl::StatusOr<int64_t> ParseSize(absl::string_view value);

// Makes the id of the blob with this raw hash.
BlobId MakeBlobId(absl::string_view raw_hash, int64_t size);

std::string EncodeEpoch(const EpochState& epoch);
absl::StatusOr<EpochState> ParseEpoch(absl::string_view value);

inline constexpr absl::string_view kHoldPrefix = "n";
std::string HoldKey(absl::string_view name);
std::string HeldPrefix(absl::string_view raw_hash);
std::string HeldKey(absl::string_view raw_hash, uint64_t hold);
std::string HoldListKey(uint64_t hold);
struct HoldValue {
  uint64_t id = 0;
  HoldRecord record;  // without its name
};
std::string EncodeHold(const HoldValue& hold);
absl::StatusOr<HoldValue> ParseHold(absl::string_view value);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_RECORDS_H_
