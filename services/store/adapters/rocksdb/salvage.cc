// Repairing, the basic idea: nothing is mended in place. RocksDB opens the damaged database, in
// a folder of links and copies, with all its tolerance, and what can be read goes into a
// new database through the same ports that the store uses. A damaged block makes an iterator stop;
// the iterator then comes from the other end, so that only what is between the first and the last
// damaged block is lost.
//
// If RocksDB cannot open the database, or a table of "cas" stops iterators at both ends, the files
// are read one by one (RawContent): tables have the headers and small content, and blob files
// repeat the key before each content. That may bring back blobs that were evicted, which does no
// harm: a blob is its hash.
#include "services/store/adapters/rocksdb/salvage.h"

#include <rocksdb/db.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table_properties.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/rocksdb/format.h"
#include "common/rocksdb/rocksdb.h"
#include "services/store/adapters/rocksdb/database/packing.h"
#include "services/store/adapters/rocksdb/database/records.h"
#include "services/store/adapters/rocksdb/database/upgrades.h"
#include "services/store/adapters/rocksdb/rocksdb_storage.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {
namespace {

namespace fs = std::filesystem;

constexpr char kRepairing[] = "repairing";  // the subfolder in which the new database is made
constexpr char kReading[] = "reading";      // the subfolder there with links to the old files
constexpr char kDone[] = "repaired";        // a file there: the new database is complete
constexpr char kDamaged[] = "damaged";      // the subfolder for the old files
constexpr char kManifest[] = "MANIFEST-";
constexpr Epoch kEpoch = 1;  // the first one
constexpr int64_t kBatchBytes = 4 << 20;
constexpr int64_t kHoldDays = 7;

// Returns the regular files of a folder, not those of its subfolders.
absl::StatusOr<std::vector<fs::path>> ListFiles(const fs::path& dir) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::directory_iterator entries(dir, error);
  while (!error && entries != fs::directory_iterator()) {
    std::error_code gone;
    if (entries->is_regular_file(gone)) files.push_back(entries->path());
    entries.increment(error);
  }
  if (error) return ErrnoStatus(error.value(), dir.string());
  return files;
}

// Notes what RocksDB drops of the log while it opens a database. Thread-safe as RocksDB needs it:
// opening is one thread.
class DropNoter : public rocksdb::Logger {
 public:
  explicit DropNoter(std::vector<std::string>* notes) : notes_(notes) {}
  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[512];
    std::vsnprintf(line, sizeof(line), format, arguments);
    if (!absl::StrContains(line, "dropping")) return;
    if (notes_->size() < 100) notes_->push_back(absl::StrCat("the log: ", ToUtf8(line)));
    dropped_ = true;
  }
  bool dropped() const { return dropped_; }

 private:
  std::vector<std::string>* const notes_;
  bool dropped_ = false;
};

// Takes a copy of each record that an iterator finds; see the head of the file. Returns whether all
// of them could be read.
bool IterateAll(rocksdb::Iterator& it,
                absl::FunctionRef<void(absl::string_view key, absl::string_view value)> take) {
  std::string last;
  bool any = false;
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    last = it.key().ToString();
    any = true;
    take(last, ToView(it.value()));
  }
  if (it.status().ok()) return true;
  for (it.SeekToLast(); it.Valid() && !(any && ToView(it.key()) <= absl::string_view(last));
       it.Prev()) {
    take(ToView(it.key()), ToView(it.value()));
  }
  return false;
}

// The content of the damaged database's files, without RocksDB's list of them. Not thread-safe.
class RawContent {
 public:
  explicit RawContent(const std::string& dir) : dir_(dir) {}

  // Reads the tables of "cas" and the keys in all blob files.
  absl::Status Read(std::vector<std::string>* notes);

  // The values of headers by raw hash.
  const std::map<std::string, std::string>& headers() const { return headers_; }

  // Returns the packed record under a key of "cas"; nullopt if it is missing.
  std::optional<std::string> Find(const std::string& key) const;

 private:
  struct Place {
    std::string file;
    uint64_t offset;
    uint64_t size;
  };
  void ReadTable(const fs::path& path, std::vector<std::string>* notes);
  void ReadBlobFile(const fs::path& path);

  const std::string dir_;
  std::map<std::string, std::string> headers_;
  std::map<std::string, std::string> small_;  // records that are in tables, by key
  std::map<std::string, Place> places_;       // records that are in blob files, by key
};

absl::Status RawContent::Read(std::vector<std::string>* notes) {
  ASSIGN_OR_RETURN(const std::vector<fs::path> files, ListFiles(dir_));
  for (const fs::path& file : files) {
    if (file.extension() == ".sst") ReadTable(file, notes);
    if (file.extension() == ".blob") ReadBlobFile(file);
  }
  return absl::OkStatus();
}

void RawContent::ReadTable(const fs::path& path, std::vector<std::string>* notes) {
  rocksdb::SstFileReader reader{rocksdb::Options()};
  rocksdb::Status read = reader.Open(path.string());
  bool whole = read.ok();
  if (whole) {
    const auto properties = reader.GetTableProperties();
    if (properties != nullptr && properties->column_family_name != "cas") return;
    rocksdb::ReadOptions options;
    options.verify_checksums = true;
    const std::unique_ptr<rocksdb::Iterator> it(reader.NewIterator(options));
    whole = IterateAll(*it, [this](absl::string_view key, absl::string_view value) {
      if (absl::StartsWith(key, kHeaderPrefix)) {
        headers_.emplace(key.substr(kHeaderPrefix.size()), value);
      } else {
        small_.emplace(key, value);
      }
    });
    read = it->status();
  }
  if (!whole) {
    notes->push_back(absl::StrCat(path.filename().string(), ": ", ToUtf8(read.ToString())));
  }
}

uint64_t LoadLittleEndian64(const char* bytes) {
  uint64_t value;
  std::memcpy(&value, bytes, sizeof(value));  // as x86-64 and ARM64 have it
  return value;
}

// A blob file is a head of 30 bytes and records: the sizes of key and value, an expiration and two
// checksums, in 32 bytes, then key and value. A record whose sizes do not fit ends the file.
void RawContent::ReadBlobFile(const fs::path& path) {
  constexpr uint64_t kFileHead = 30, kRecordHead = 32, kLongestKey = 4096;
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  for (uint64_t at = kFileHead; !error && at + kRecordHead <= size;) {
    char head[kRecordHead];
    file.seekg(static_cast<std::streamoff>(at));
    if (!file.read(head, kRecordHead)) return;
    const uint64_t key_size = LoadLittleEndian64(head);
    const uint64_t value_size = LoadLittleEndian64(head + sizeof(uint64_t));
    const uint64_t left = size - at - kRecordHead;
    if (key_size == 0 || key_size > kLongestKey || key_size > left || value_size > left - key_size)
      return;
    std::string key(key_size, '\0');
    if (!file.read(key.data(), static_cast<std::streamsize>(key_size))) return;
    places_[key] = {path.string(), at + kRecordHead + key_size, value_size};
    at += kRecordHead + key_size + value_size;
  }
}

std::optional<std::string> RawContent::Find(const std::string& key) const {
  if (const auto place = places_.find(key); place != places_.end()) {
    std::ifstream file(place->second.file, std::ios::binary);
    std::string bytes(place->second.size, '\0');
    file.seekg(static_cast<std::streamoff>(place->second.offset));
    if (file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return bytes;
  }
  const auto found = small_.find(key);
  if (found == small_.end()) return std::nullopt;
  return found->second;
}

// The damaged database, open in a folder of links, since opening writes. Not thread-safe.
class DamagedDatabase {
 public:
  DamagedDatabase() = default;
  DamagedDatabase(const DamagedDatabase&) = delete;
  DamagedDatabase& operator=(const DamagedDatabase&) = delete;
  ~DamagedDatabase() {
    if (db_ == nullptr) return;
    for (rocksdb::ColumnFamilyHandle* handle : families_) db_->DestroyColumnFamilyHandle(handle);
  }

  // Opens it. Without an open database every call below finds nothing.
  void Open(const std::string& dir, std::vector<std::string>* notes);
  bool is_open() const { return db_ != nullptr; }
  // Returns whether a part of the log could not be read.
  bool log_dropped() const { return log_dropped_; }

  enum Family { kMain, kCas, kAc, kUse, kHold };
  // Returns whether all records of the family could be read.
  bool Iterate(Family family,
               absl::FunctionRef<void(absl::string_view key, absl::string_view value)> take);
  std::optional<std::string> Get(Family family, const std::string& key) const;

 private:
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  bool log_dropped_ = false;
};

void DamagedDatabase::Open(const std::string& dir, std::vector<std::string>* notes) {
  rocksdb::DBOptions options;
  options.paranoid_checks = false;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  options.max_open_files = 512;
  options.skip_stats_update_on_db_open = true;
  options.skip_checking_sst_file_sizes_on_db_open = true;
  options.avoid_flush_during_recovery = true;
  options.avoid_flush_during_shutdown = true;
  const auto noter = std::make_shared<DropNoter>(notes);
  options.info_log = noter;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const char* name : {"default", "cas", "ac", "use", "hold"}) {
    families.emplace_back(name, rocksdb::ColumnFamilyOptions());
    families.back().options.disable_auto_compactions = true;  // it would read damaged blocks
  }
  rocksdb::DB* db = nullptr;
  const rocksdb::Status opened = rocksdb::DB::Open(options, dir, families, &families_, &db);
  log_dropped_ = noter->dropped();
  if (!opened.ok()) {
    notes->push_back(absl::StrCat("the list of files: ", ToUtf8(opened.ToString())));
    families_.clear();
    return;
  }
  db_.reset(db);
}

bool DamagedDatabase::Iterate(
    Family family, absl::FunctionRef<void(absl::string_view key, absl::string_view value)> take) {
  if (db_ == nullptr) return false;
  rocksdb::ReadOptions options;
  options.verify_checksums = true;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(options, families_[family]));
  return IterateAll(*it, take);
}

std::optional<std::string> DamagedDatabase::Get(Family family, const std::string& key) const {
  if (db_ == nullptr) return std::nullopt;
  std::string value;
  rocksdb::ReadOptions options;
  options.verify_checksums = true;
  if (!db_->Get(options, families_[family], key, &value).ok()) return std::nullopt;
  return value;
}

// Moves what can be read from one database into another. Not thread-safe.
class Salvager {
 public:
  // All must outlive it. `links`: a folder with links to the files of `from`.
  Salvager(const std::string& from, const std::string& links, Storage& to, RepairReport& report)
      : raw_(from), to_(to), report_(report) {
    old_.Open(links, &report.damage);
  }

  absl::Status Run();

 private:
  absl::Status CheckFormat() const;
  absl::Status SaveBlobs();
  absl::Status SaveBlob(const std::string& raw_hash, absl::string_view header_value);
  absl::Status SaveWhole(const BlobId& id, std::string content);
  absl::StatusOr<bool> SaveChunks(const BlobId& id, absl::string_view staging);
  absl::Status FlushBatch();
  std::optional<std::string> Content(const std::string& key, int64_t size) const;
  absl::Status SaveResults();
  absl::Status SaveHolds();
  // Counts the blobs that the records of uses name but that are not here.
  absl::Status CountLost();
  void Lose(const BlobId& id);

  DamagedDatabase old_;
  RawContent raw_;
  Storage& to_;
  RepairReport& report_;
  std::vector<std::pair<BlobId, std::string>> batch_;
  int64_t batch_bytes_ = 0;
};

absl::Status Salvager::CheckFormat() const {
  const std::optional<std::string> format = old_.Get(DamagedDatabase::kMain, kFormatKey);
  return format.has_value() ? CheckReadable(*format, kOldestFormat, kNewestFormat)
                            : absl::OkStatus();
}

absl::Status Salvager::Run() {
  RETURN_IF_ERROR(CheckFormat());
  RETURN_IF_ERROR(SaveBlobs());
  RETURN_IF_ERROR(SaveResults());
  RETURN_IF_ERROR(SaveHolds());
  // A hold of uses that begins now must not hold what was saved here.
  RETURN_IF_ERROR(
      to_.uses().SetEpoch({.epoch = kEpoch + 1, .started_at = to_.blobs().usage().written}));
  return CountLost();
}

// The raw files come second, and only if the database could not be read from end to end.
absl::Status Salvager::SaveBlobs() {
  absl::Status saved;
  const bool whole =
      old_.Iterate(DamagedDatabase::kCas, [&](absl::string_view key, absl::string_view value) {
        if (!saved.ok() || !absl::ConsumePrefix(&key, kHeaderPrefix)) return;
        saved = SaveBlob(std::string(key), value);
      });
  RETURN_IF_ERROR(saved);
  if (!whole || old_.log_dropped()) {
    if (old_.is_open() && !whole) report_.damage.push_back("a table of the content");
    RETURN_IF_ERROR(raw_.Read(&report_.damage));
    for (const auto& [hash, value] : raw_.headers()) RETURN_IF_ERROR(SaveBlob(hash, value));
  }
  return FlushBatch();
}

// Saves a blob if its content can be read and matches its hash, and is not here yet.
absl::Status Salvager::SaveBlob(const std::string& raw_hash, absl::string_view header_value) {
  if (raw_hash.size() != sizeof(BlobId::hash)) return absl::OkStatus();
  const absl::StatusOr<Header> header = ParseHeader(header_value);
  if (!header.ok()) return absl::OkStatus();
  const BlobId id = MakeBlobId(raw_hash, header->size);
  ASSIGN_OR_RETURN(const std::vector<Epoch> uses, to_.uses().LastUses({id}));
  if (uses.front() != kNoEpoch) return absl::OkStatus();
  switch (header->place) {
    case Header::Place::kInline:
      return SaveWhole(id, std::string(header->rest));
    case Header::Place::kBody: {
      std::optional<std::string> content = Content(BodyKey(id), id.size);
      return content.has_value() ? SaveWhole(id, *std::move(content)) : absl::OkStatus();
    }
    case Header::Place::kChunks: {
      ASSIGN_OR_RETURN(const bool saved, SaveChunks(id, header->rest));
      report_.blobs += saved ? 1 : 0;
      report_.blob_bytes += saved ? id.size : 0;
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

// Returns the unpacked content of a record, from the database or from its files.
std::optional<std::string> Salvager::Content(const std::string& key, int64_t size) const {
  for (const std::optional<std::string>& record :
       {old_.Get(DamagedDatabase::kCas, key), raw_.Find(key)}) {
    if (!record.has_value()) continue;
    std::string buffer;
    const absl::StatusOr<absl::string_view> content = Unpack(*record, size, &buffer);
    if (content.ok()) return std::string(*content);
  }
  return std::nullopt;
}

absl::Status Salvager::SaveWhole(const BlobId& id, std::string content) {
  const bool queued = std::any_of(batch_.begin(), batch_.end(),
                                  [&](const auto& other) { return other.first == id; });
  if (queued || static_cast<int64_t>(content.size()) != id.size ||
      Sha256(content) != id.raw_hash()) {
    return absl::OkStatus();
  }
  batch_bytes_ += id.size;
  batch_.emplace_back(id, std::move(content));
  return batch_bytes_ < kBatchBytes && batch_.size() < 1000 ? absl::OkStatus() : FlushBatch();
}

absl::Status Salvager::FlushBatch() {
  if (batch_.empty()) return absl::OkStatus();
  std::vector<CheckedBlob> blobs;
  for (const auto& [id, content] : batch_) blobs.push_back({id, content});
  RETURN_IF_ERROR(to_.blobs().Put(blobs, /*fresh=*/true, kEpoch));
  report_.blobs += static_cast<int64_t>(batch_.size());
  report_.blob_bytes += batch_bytes_;
  batch_.clear();
  batch_bytes_ = 0;
  return absl::OkStatus();
}

// Returns false if a chunk is missing or the hash does not match: the staged chunks are dropped.
absl::StatusOr<bool> Salvager::SaveChunks(const BlobId& id, absl::string_view staging) {
  ASSIGN_OR_RETURN(const std::unique_ptr<StagedBlob> staged, to_.blobs().Stage());
  Sha256Stream hasher;
  for (int64_t at = 0; at < id.size; at += kChunkBytes) {
    const std::string key = ChunkKey(staging, static_cast<uint32_t>(at / kChunkBytes));
    const std::optional<std::string> chunk = Content(key, std::min(kChunkBytes, id.size - at));
    if (!chunk.has_value()) return false;
    hasher.Update(*chunk);
    RETURN_IF_ERROR(staged->Append(*chunk));
  }
  if (hasher.FinishHex() != absl::BytesToHexString(id.raw_hash())) return false;
  RETURN_IF_ERROR(staged->Commit(id, kEpoch));
  return true;
}

// Keeps all results or none; the header says why.
absl::Status Salvager::SaveResults() {
  absl::Status saved;
  bool readable = old_.is_open() && !old_.log_dropped();
  if (readable) {
    readable = old_.Iterate(DamagedDatabase::kAc, [](absl::string_view, absl::string_view) {});
  }
  if (!readable) {
    report_.results_forgotten = true;
    return absl::OkStatus();
  }
  old_.Iterate(DamagedDatabase::kAc, [&](absl::string_view key, absl::string_view value) {
    if (!saved.ok()) return;
    const absl::StatusOr<ResultId> result = ParseResultKey(key);
    if (!result.ok()) return;
    saved = to_.blobs().PutResult(result->instance, result->action, value, kEpoch);
    ++report_.results;
  });
  return saved;
}

// All uses are of the new database's first epoch, so a saved hold of uses holds everything. If
// holds are lost, nothing is evicted for kHoldDays or until the store is full, in which
// coordinators make theirs again.
absl::Status Salvager::SaveHolds() {
  std::map<uint64_t, HoldRecord> records;
  std::map<uint64_t, std::string> lists;
  const bool whole =
      old_.Iterate(DamagedDatabase::kHold, [&](absl::string_view key, absl::string_view value) {
        if (absl::ConsumePrefix(&key, kHoldPrefix)) {
          absl::StatusOr<HoldValue> hold = ParseHold(value);
          if (!hold.ok()) return;
          hold->record.name = std::string(key);
          records[hold->id] = std::move(hold->record);
        } else if (key.size() == HoldListKey(0).size() && key.front() == HoldListKey(0).front()) {
          uint64_t id = 0;
          for (const char byte : key.substr(1)) id = id << 8 | static_cast<uint8_t>(byte);
          lists[id] = std::string(value);
        }
      });
  for (auto& [id, record] : records) {
    std::vector<BlobId> blobs;
    absl::string_view hashes = lists[id];
    for (; hashes.size() >= sizeof(BlobId::hash); hashes.remove_prefix(sizeof(BlobId::hash))) {
      blobs.push_back(MakeBlobId(hashes.substr(0, sizeof(BlobId::hash)), 0));
    }
    if (record.holds_uses) record.since = 0;
    RETURN_IF_ERROR(to_.holds().Save(record, blobs));
    ++report_.holds;
  }
  if (whole && !old_.log_dropped()) return absl::OkStatus();
  report_.damage.push_back(
      absl::StrCat("holds may be lost: nothing is evicted for ", kHoldDays,
                   " days, unless the store is full; make yours again before"));
  return to_.holds().Save({.name = std::string(kRepairHold),
                           .blobs = 0,
                           .holds_uses = true,
                           .since = 0,
                           .ttl_ms = kHoldDays * 24 * 60 * 60 * 1000},
                          {});
}

void Salvager::Lose(const BlobId& id) {
  ++report_.lost_blobs;
  if (report_.lost.size() < RepairReport::kNamed) report_.lost.push_back(id);
}

absl::Status Salvager::CountLost() {
  absl::Status counted;
  const bool whole =
      old_.Iterate(DamagedDatabase::kUse, [&](absl::string_view key, absl::string_view value) {
        if (!counted.ok() || !absl::ConsumePrefix(&key, kBlobUsePrefix)) return;
        const absl::StatusOr<UseValue> use = ParseUse(value);
        if (!use.ok() || key.size() != sizeof(BlobId::hash)) return;
        const BlobId id = MakeBlobId(key, use->size);
        const absl::StatusOr<std::vector<Epoch>> found = to_.uses().LastUses({id});
        counted = found.status();
        if (found.ok() && found->front() == kNoEpoch) Lose(id);
      });
  if (!whole || old_.log_dropped()) {
    report_.damage.push_back("records of uses: the number of lost blobs is a lower bound");
  }
  return counted;
}

// Makes CURRENT name the newest list of files, if it is missing or names none that is there.
absl::Status MendCurrent(const fs::path& dir, std::vector<std::string>* notes) {
  const absl::StatusOr<std::string> current = ReadFile((dir / "CURRENT").string(), 1 << 10);
  std::error_code error;
  if (current.ok()) {
    const std::string named(absl::StripAsciiWhitespace(*current));
    if (absl::StartsWith(named, kManifest) && fs::exists(dir / named, error)) {
      return absl::OkStatus();
    }
  }
  std::pair<uint64_t, std::string> newest;
  ASSIGN_OR_RETURN(const std::vector<fs::path> files, ListFiles(dir));
  for (const fs::path& file : files) {
    const std::string name = file.filename().string();
    absl::string_view number = name;
    uint64_t value = 0;
    if (!absl::ConsumePrefix(&number, kManifest) || !absl::SimpleAtoi(number, &value)) continue;
    newest = std::max(newest, {value, name});
  }
  notes->push_back("CURRENT");
  if (newest.second.empty()) return absl::OkStatus();
  return WriteFile((dir / "CURRENT").string(), newest.second + "\n");
}

// A folder that does not exist is no database.
absl::StatusOr<bool> IsDatabase(const fs::path& dir) {
  const absl::StatusOr<std::vector<fs::path>> files = ListFiles(dir);
  if (absl::IsNotFound(files.status())) return false;
  RETURN_IF_ERROR(files.status());
  return std::any_of(files->begin(), files->end(), [](const fs::path& file) {
    const std::string name = file.filename().string();
    return name == "CURRENT" || absl::StartsWith(name, kManifest) || file.extension() == ".sst" ||
           file.extension() == ".blob";
  });
}

// Moves the files, not the folders, of one folder into another.
absl::Status MoveFiles(const fs::path& from, const fs::path& to) {
  ASSIGN_OR_RETURN(const std::vector<fs::path> files, ListFiles(from));
  for (const fs::path& file : files) {
    std::error_code error;
    fs::rename(file, to / file.filename(), error);
    if (error) return ErrnoStatus(error.value(), file.string());
  }
  return absl::OkStatus();
}

// Returns a subfolder for the old files that does not exist yet.
absl::StatusOr<fs::path> MakeDamagedFolder(const fs::path& dir) {
  for (int number = 1;; ++number) {
    fs::path folder = dir / absl::StrCat(kDamaged, "-", number);
    std::error_code error;
    if (fs::create_directory(folder, error)) return folder;
    if (error) return ErrnoStatus(error.value(), folder.string());
  }
}

// RocksDB's own lock excludes a running store.
class DatabaseLock {
 public:
  explicit DatabaseLock(const std::string& dir) : path_(dir + "/LOCK") {}
  ~DatabaseLock() {
    if (lock_ != nullptr) rocksdb::Env::Default()->UnlockFile(lock_);
  }
  absl::Status Take() {
    const rocksdb::Status taken = rocksdb::Env::Default()->LockFile(path_, &lock_);
    if (taken.ok()) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("the database is in use; stop the store first: ", taken.ToString()));
  }

 private:
  const std::string path_;
  rocksdb::FileLock* lock_ = nullptr;
};

// Makes a folder with the files of `dir` except its lock: hard links to tables and blob files,
// which never change, and copies of the others.
absl::Status LinkFiles(const fs::path& dir, const fs::path& links) {
  std::error_code error;
  fs::create_directories(links, error);
  if (error) return ErrnoStatus(error.value(), links.string());
  ASSIGN_OR_RETURN(const std::vector<fs::path> files, ListFiles(dir));
  for (const fs::path& file : files) {
    const fs::path name = file.filename();
    if (name == "LOCK") continue;
    if (name.extension() == ".sst" || name.extension() == ".blob") {
      fs::create_hard_link(file, links / name, error);
    } else {
      fs::copy_file(file, links / name, error);
    }
    if (error) return ErrnoStatus(error.value(), file.string());
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> CountBytes(const fs::path& dir) {
  ASSIGN_OR_RETURN(const std::vector<fs::path> files, ListFiles(dir));
  int64_t bytes = 0;
  for (const fs::path& file : files) {
    std::error_code error;
    bytes += static_cast<int64_t>(fs::file_size(file, error));
    if (error) return ErrnoStatus(error.value(), file.string());
  }
  return bytes;
}

absl::Status MakeNewDatabase(const fs::path& dir, const fs::path& work, RepairReport& report) {
  const fs::path links = work / kReading;
  RETURN_IF_ERROR(LinkFiles(dir, links));
  RETURN_IF_ERROR(MendCurrent(links, &report.damage));
  // The limit makes buffers and the log small: the disk has little room beside both databases.
  ASSIGN_OR_RETURN(const int64_t bytes, CountBytes(dir));
  const RocksDbOptions options = {.limit_bytes = std::max<int64_t>(1, bytes)};
  ASSIGN_OR_RETURN(const std::unique_ptr<Storage> storage,
                   OpenRocksDbStorage(work.string(), options));
  return Salvager(dir.string(), links.string(), *storage, report).Run();
}

}  // namespace

absl::Status CheckRepaired(const std::string& dir) {
  std::error_code error;
  if (!fs::exists(fs::path(dir) / kRepairing, error)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(dir, ": contains an unfinished repair; run `kernelmill-store repair` again"));
}

// The new database is complete before the first old file is moved. From then on a repair that was
// killed is only continued.
absl::StatusOr<RepairReport> RepairDatabase(const std::string& dir) {
  RepairReport report;
  const fs::path work = fs::path(dir) / kRepairing;
  std::error_code error;
  const bool made = fs::exists(work / kDone, error);
  if (!made) {
    ASSIGN_OR_RETURN(const bool is_database, IsDatabase(dir));
    if (!is_database) return absl::NotFoundError(absl::StrCat(dir, ": no database"));
  }
  DatabaseLock lock(dir);
  RETURN_IF_ERROR(Annotate(lock.Take(), dir));
  if (!made) {
    fs::remove_all(work, error);
    if (error) return ErrnoStatus(error.value(), work.string());
    RETURN_IF_ERROR(Annotate(MakeNewDatabase(dir, work, report), dir));
    RETURN_IF_ERROR(WriteFile((work / kDone).string(), ""));
  }
  ASSIGN_OR_RETURN(const fs::path damaged, MakeDamagedFolder(dir));
  report.old_files = damaged.string();
  RETURN_IF_ERROR(MoveFiles(dir, damaged));
  fs::remove(work / kDone, error);
  if (error) return ErrnoStatus(error.value(), work.string());
  RETURN_IF_ERROR(MoveFiles(work, dir));
  fs::remove_all(work, error);
  if (error) return ErrnoStatus(error.value(), work.string());
  return report;
}

}  // namespace kernelmill::store
