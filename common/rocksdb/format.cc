// The record of the format is a number; or "2 to 3" while a program upgrades the database from 2
// to 3, because programs that read 2 must not open it then. The copy of the old database exists
// before the record says so.
#include "common/rocksdb/format.h"

#include <rocksdb/db.h>
#include <rocksdb/utilities/checkpoint.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/rocksdb/rocksdb.h"

namespace kernelmill {
namespace {

namespace fs = std::filesystem;

// The format of a database, and the one that an unfinished upgrade makes.
struct Record {
  int format = 0;
  std::optional<int> target;

  int newest() const { return target.value_or(format); }
};

std::optional<Record> ParseRecord(absl::string_view text) {
  Record record;
  if (absl::SimpleAtoi(text, &record.format)) return record;
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, " to ");
  int target = 0;
  if (!absl::SimpleAtoi(parts.first, &record.format) || !absl::SimpleAtoi(parts.second, &target)) {
    return std::nullopt;
  }
  record.target = target;
  return record;
}

absl::Status WriteRecord(rocksdb::DB& db, const Formats& formats, const std::string& record) {
  rocksdb::WriteOptions sync;
  sync.sync = true;
  return FromRocksStatus(db.Put(sync, formats.key, record), "writing the format");
}

// Returns a name that no file has: an earlier upgrade may have left its copy.
std::string FreeName(const std::string& name) {
  std::string free = name;
  std::error_code ignored;
  for (int i = 2; fs::exists(free, ignored); ++i) free = absl::StrCat(name, "-", i);
  return free;
}

// Copies the database into a subfolder and returns its path. The copy gets its name when it is
// complete.
absl::StatusOr<std::string> CopyDatabase(rocksdb::DB& db, const std::string& dir,
                                         const Formats& formats) {
  std::string copy = FreeName(absl::StrCat(dir, "/before-format-", formats.newest()));
  const std::string half = absl::StrCat(dir, "/upgrading");
  std::error_code error;
  fs::remove_all(half, error);  // left by a process that was killed
  if (error) return ErrnoStatus(error.value(), half);
  rocksdb::Checkpoint* made = nullptr;
  RETURN_IF_ERROR(FromRocksStatus(rocksdb::Checkpoint::Create(&db, &made), half));
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  RETURN_IF_ERROR(FromRocksStatus(checkpoint->CreateCheckpoint(half), half));
  for (const std::string& file : formats.files) {
    const absl::StatusOr<std::string> content = ReadFile(absl::StrCat(dir, "/", file), 1 << 20);
    if (absl::IsNotFound(content.status())) continue;
    RETURN_IF_ERROR(content.status());
    RETURN_IF_ERROR(WriteFile(absl::StrCat(half, "/", file), *content));
  }
  fs::permissions(half, fs::perms::owner_all, error);
  if (!error) fs::rename(half, copy, error);
  if (error) return ErrnoStatus(error.value(), half);
  return copy;
}

absl::Status RunSteps(rocksdb::DB& db, const std::string& dir, const Formats& formats, int from) {
  for (int format = from; format < formats.newest(); ++format) {
    const FormatStep& step = formats.steps[format - formats.oldest];
    RETURN_IF_ERROR(WriteRecord(db, formats, absl::StrCat(format, " to ", formats.newest())));
    LogInfo("upgrading the database",
            {{"data", dir}, {"from", format}, {"to", format + 1}, {"step", step.what}});
    RETURN_IF_ERROR(Annotate(step.run(), absl::StrCat("upgrade from format ", format)));
  }
  return WriteRecord(db, formats, absl::StrCat(formats.newest()));
}

}  // namespace

absl::Status CheckReadable(absl::string_view record, int oldest, int newest) {
  const std::optional<Record> found = ParseRecord(record);
  if (!found.has_value() || found->newest() > newest) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the database has format ", JsonString(record), ", and this release reads formats ", oldest,
        " to ", newest, ": a newer release wrote it. Start that release, or use the copy ",
        "from before its upgrade (before-format-N) or another data folder"));
  }
  if (found->format >= oldest) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the database has format ", found->format, ", and this release reads formats ", oldest,
      " to ", newest, ": start the release that wrote it, or use another data folder"));
}

absl::Status UpgradeFormat(rocksdb::DB& db, const std::string& dir, const Formats& formats) {
  std::string text;
  const rocksdb::Status read = db.Get(rocksdb::ReadOptions(), formats.key, &text);
  if (read.IsNotFound()) return WriteRecord(db, formats, absl::StrCat(formats.newest()));
  RETURN_IF_ERROR(FromRocksStatus(read, "reading the format"));
  RETURN_IF_ERROR(CheckReadable(text, formats.oldest, formats.newest()));
  const Record record = *ParseRecord(text);
  if (text == absl::StrCat(formats.newest())) return absl::OkStatus();
  if (record.target.has_value()) {
    LogWarning("going on with an unfinished upgrade of the database", {{"data", dir}});
    return RunSteps(db, dir, formats, record.format);
  }
  ASSIGN_OR_RETURN(const std::string copy, CopyDatabase(db, dir, formats));
  LogWarning(
      "upgrading the database; the copy is from before, for a return to the old release: "
      "delete it when it is no longer needed",
      {{"data", dir}, {"from", record.format}, {"to", formats.newest()}, {"copy", copy}});
  return RunSteps(db, dir, formats, record.format);
}

}  // namespace kernelmill
