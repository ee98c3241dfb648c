// The tables of "cas" have, for each body and chunk, a reference to the place of its bytes, which
// begins with the number of a blob file. RocksDB does not show references to callers, but the
// reader of a single table does. RocksDB reads nothing of a blob file without its end.
#include "services/store/adapters/rocksdb/lost_content.h"

#include <rocksdb/metadata.h>
#include <rocksdb/sst_file_reader.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/rocksdb/rocksdb.h"
#include "services/store/adapters/rocksdb/database/records.h"
#include "services/store/adapters/rocksdb/uses.h"

namespace kernelmill::store {
namespace {

constexpr char kReference = 1;  // the first byte of a reference to a blob file
constexpr size_t kHashBytes = sizeof(BlobId::hash);

// Parses a number of RocksDB's variable length at the front.
std::optional<uint64_t> ParseVarint(absl::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// Returns the numbers of the blob files that are too short or gone.
std::set<uint64_t> FindShortFiles(const rocksdb::ColumnFamilyMetaData& data) {
  std::set<uint64_t> files;
  for (const rocksdb::BlobMetaData& file : data.blob_files) {
    std::error_code error;
    const uintmax_t size =
        std::filesystem::file_size(absl::StrCat(file.blob_file_path, file.blob_file_name), error);
    if (error && error != std::errc::no_such_file_or_directory) continue;
    if (!error && size >= file.blob_file_size) continue;
    files.insert(file.blob_file_number);
    LogError("a blob file is too short: blobs are lost",
             {{"file", file.blob_file_path + file.blob_file_name},
              {"bytes", error ? 0 : size},
              {"written", file.blob_file_size}});
  }
  return files;
}

// Returns whether a value of a table refers to one of the files.
bool RefersTo(absl::string_view value, const std::set<uint64_t>& files) {
  if (value.empty() || value.front() != kReference) return false;
  const std::optional<uint64_t> file = ParseVarint(value.substr(1));
  return file.has_value() && files.count(*file) > 0;
}

// Returns the keys whose newest or older values refer to one of the files.
std::set<std::string> FindLostKeys(Database* database, const rocksdb::ColumnFamilyMetaData& data,
                                   const std::set<uint64_t>& files) {
  std::set<std::string> keys;
  const rocksdb::Options options = database->db().GetOptions(database->cas());
  for (const rocksdb::LevelMetaData& level : data.levels) {
    for (const rocksdb::SstFileMetaData& table : level.files) {
      rocksdb::SstFileReader reader(options);
      rocksdb::Status read = reader.Open(table.db_path + table.name);
      if (read.ok()) {
        const std::unique_ptr<rocksdb::Iterator> it(reader.NewIterator(rocksdb::ReadOptions()));
        for (it->SeekToFirst(); it->Valid(); it->Next()) {
          if (RefersTo(ToView(it->value()), files)) keys.insert(it->key().ToString());
        }
        read = it->status();
      }
      if (!read.ok()) {
        LogError("a table is damaged", {{"file", table.name}, {"error", read.ToString()}});
      }
    }
  }
  return keys;
}

// Returns whether the record cannot be read: an upload since then may have replaced it.
bool IsLost(Database* database, absl::string_view key) {
  rocksdb::PinnableSlice value;
  const absl::Status read = database->GetUnchecked(database->cas(), key, &value, "lost content");
  return !read.ok() && !absl::IsNotFound(read);
}

// Returns the raw hashes of the blobs whose chunks have one of these staging ids.
absl::StatusOr<std::set<std::string>> FindOwners(Database* database,
                                                 const std::set<std::string>& stagings) {
  std::set<std::string> hashes;
  if (stagings.empty()) return hashes;
  const std::unique_ptr<rocksdb::Iterator> it(
      database->db().NewIterator(rocksdb::ReadOptions(), database->cas()));
  for (it->Seek(ToSlice(kHeaderPrefix));
       it->Valid() && absl::StartsWith(ToView(it->key()), kHeaderPrefix); it->Next()) {
    const absl::StatusOr<Header> header = ParseHeader(ToView(it->value()));
    if (!header.ok() || header->place != Header::Place::kChunks) continue;
    if (stagings.count(std::string(header->rest)) == 0) continue;
    hashes.emplace(ToView(it->key()).substr(kHeaderPrefix.size()));
  }
  RETURN_IF_ERROR(FromRocksStatus(it->status(), "looking for lost blobs"));
  return hashes;
}

}  // namespace

absl::StatusOr<std::vector<BlobId>> FindLostContent(Database* database) {
  rocksdb::ColumnFamilyMetaData data;
  database->db().GetColumnFamilyMetaData(database->cas(), &data);
  const std::set<uint64_t> files = FindShortFiles(data);
  if (files.empty()) return std::vector<BlobId>();
  std::set<std::string> hashes, stagings;
  const std::string body = BodyKey(BlobId());
  for (const std::string& key : FindLostKeys(database, data, files)) {
    if (!IsLost(database, key)) continue;
    const absl::string_view name = absl::string_view(key).substr(1);
    if (key.front() == body.front() && name.size() == kHashBytes) {
      hashes.emplace(name);
    } else if (key.front() == ChunkPrefix("").front() && name.size() > sizeof(uint32_t)) {
      stagings.emplace(name.substr(0, name.size() - sizeof(uint32_t)));
    }
  }
  ASSIGN_OR_RETURN(const std::set<std::string> owners, FindOwners(database, stagings));
  hashes.insert(owners.begin(), owners.end());
  std::vector<std::string> items;
  for (const std::string& hash : hashes) items.push_back(BlobItem(hash));
  ASSIGN_OR_RETURN(const std::vector<FoundUse> uses, ReadUses(database, items));
  std::vector<BlobId> lost;
  for (size_t i = 0; i < items.size(); ++i) {
    if (uses[i].found) lost.push_back(MakeBlobId(ItemKey(items[i]), uses[i].use.size));
  }
  return lost;
}

}  // namespace kernelmill::store
