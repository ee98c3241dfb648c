#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_RECORDS_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_RECORDS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/store/core/blob_id.h"

namespace kernelmill::store {

// Keys and values of the database; records.cc has their grammar.

inline constexpr char kFormatKey[] = "format";
inline constexpr char kFormat[] = "1";

// Blobs up to this size live in their header: one look-up less for the many small ones.
inline constexpr int64_t kMaxInlineBytes = 1024;

std::string HeaderKey(const BlobId& id);
std::string BodyKey(const BlobId& id);
std::string ChunkKey(absl::string_view staging, uint32_t index);
std::string ChunkPrefix(absl::string_view staging);
std::string StagingKey(absl::string_view staging);
inline constexpr absl::string_view kStagingPrefix = "u";
std::string ResultKey(absl::string_view instance, const BlobId& action);

// Where a blob's bytes are.
struct Header {
  enum class Place { kInline, kBody, kChunks };
  Place place = Place::kInline;
  int64_t size = 0;
  absl::string_view rest;  // the bytes if inline; the staging id if in chunks; borrowed when parsed
};

std::string EncodeHeader(const Header& header);
// DATA_LOSS: not a header.
absl::StatusOr<Header> ParseHeader(absl::string_view value);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_RECORDS_H_
