#include "services/store/adapters/rocksdb/records.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

// The grammar of the database. Integers in keys are big-endian, so that they sort; in values
// little-endian. `hash` is a raw SHA-256 (32 bytes), `staging` 16 random bytes.
//
// Column family "default":
//   "format"                      -> the version of this grammar in decimal; "1"
//
// Column family "cas":
//   "h" hash                      -> header; a blob is held if and only if its header is there
//   "b" hash                      -> body: the bytes of a blob of kMaxInlineBytes < size <=
//   kChunkBytes "c" staging index:u32         -> chunk: kChunkBytes of a larger blob, the last one
//   may be shorter "u" staging                   -> empty: chunks of this id may exist that no
//   header names header := 'i' size:u64 bytes | 'b' size:u64 | 'c' size:u64 staging
//
//   A body is written in one batch with its header. Chunks go ahead of theirs: first "u" with chunk
//   0, then the others, at last, in one synced batch, the header and the deletion of "u". Whoever
//   opens the database deletes the chunks of every "u" that is left; no other scan is needed.
//   Headers stay small and in the LSM tree, so that asking for 100,000 digests reads no content;
//   bodies and chunks go to blob files.
//
// Column family "ac":
//   hash size:u64 instance        -> a serialized ActionResult

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

char TagOf(Header::Place place) {
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

std::string HeaderKey(const BlobId& id) { return Key('h', id.raw_hash()); }
std::string BodyKey(const BlobId& id) { return Key('b', id.raw_hash()); }
std::string ChunkPrefix(absl::string_view staging) { return Key('c', staging); }
std::string StagingKey(absl::string_view staging) { return absl::StrCat(kStagingPrefix, staging); }

std::string ChunkKey(absl::string_view staging, uint32_t index) {
  return absl::StrCat(ChunkPrefix(staging), BigEndian(index, 4));
}

std::string ResultKey(absl::string_view instance, const BlobId& action) {
  return absl::StrCat(action.raw_hash(), BigEndian(action.size, 8), instance);
}

std::string EncodeHeader(const Header& header) {
  return absl::StrCat(Key(TagOf(header.place), LittleEndian64(header.size)), header.rest);
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
      return absl::DataLossError("a header of an unknown kind");
  }
  if (header.size < 0 || header.rest.size() != rest) {
    return absl::DataLossError("a header has the wrong length");
  }
  return header;
}

}  // namespace kernelmill::store
