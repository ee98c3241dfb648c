// Zip archives from strangers. A few kilobytes can claim to unpack to terabytes, so the limits are
// on bytes that were really unpacked: for each member, for all members, and in relation to the
// archive's own size. Names are only bytes here; IsUnsafePath decides about them.
#include "services/fetcher/adapters/wheel/wheel_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "common/base/status.h"
#include "common/base/text.h"

namespace kernelmill::fetcher {
namespace {

// The ratio of unpacked bytes to the archive's size is checked beyond this: small archives of text
// compress well.
constexpr int64_t kFreeOfRatio = 16 << 20;

// Sets a UTF-8 locale for this thread while the object lives. libarchive converts names to the
// locale's encoding; with UTF-8 they stay as they are in the archive.
class Utf8Locale {
 public:
  Utf8Locale() : locale_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (locale_ != nullptr) before_ = ::uselocale(locale_);
  }
  ~Utf8Locale() {
    if (locale_ == nullptr) return;
    ::uselocale(before_);
    ::freelocale(locale_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  const locale_t locale_;
  locale_t before_ = nullptr;
};

using ArchivePtr = std::unique_ptr<archive, int (*)(archive*)>;

absl::Status NotAnArchive(archive* reader) {
  const char* message = ::archive_error_string(reader);
  return absl::DataLossError(
      absl::StrCat("not a zip archive: ", message == nullptr ? "" : ToUtf8(message)));
}

absl::StatusOr<ArchivePtr> Open(absl::string_view bytes) {
  ArchivePtr reader(::archive_read_new(), &::archive_read_free);
  // Only by the directory at its end, as installers read it.
  if (::archive_read_support_format_zip_seekable(reader.get()) != ARCHIVE_OK ||
      ::archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK) {
    return NotAnArchive(reader.get());
  }
  return reader;
}

// Moves to the next member. Returns false at the end.
absl::StatusOr<bool> Next(archive* reader, archive_entry** entry) {
  const int result = ::archive_read_next_header(reader, entry);
  if (result == ARCHIVE_EOF) return false;
  if (result == ARCHIVE_OK || result == ARCHIVE_WARN) return true;
  return NotAnArchive(reader);
}

EntryKind ToEntryKind(archive_entry* entry) {
  if (::archive_entry_hardlink(entry) != nullptr) return EntryKind::kSymlink;
  switch (::archive_entry_filetype(entry)) {
    case AE_IFREG:
    case 0:
      return EntryKind::kFile;
    case AE_IFLNK:
      return EntryKind::kSymlink;
    default:
      return EntryKind::kSpecial;
  }
}

// Reads a member's content. The size that the archive states is not trusted.
absl::StatusOr<std::string> ReadMember(archive* reader, int64_t member_bytes, int64_t& left) {
  std::string content;
  char buffer[1 << 16];
  while (true) {
    const la_ssize_t n = ::archive_read_data(reader, buffer, sizeof(buffer));
    if (n == 0) return content;
    if (n < 0) return absl::DataLossError("the member cannot be unpacked");
    left -= n;
    if (left < 0) return absl::FailedPreconditionError("the archive unpacks to more than allowed");
    if (static_cast<int64_t>(content.size()) + n > member_bytes) {
      return absl::OutOfRangeError("the member is larger than allowed");
    }
    content.append(buffer, static_cast<size_t>(n));
  }
}

uint32_t LittleEndian(absl::string_view bytes, size_t at, int count) {
  uint32_t value = 0;
  for (int i = count - 1; i >= 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

int64_t FromDosTime(uint32_t date, uint32_t time) {
  const absl::CivilSecond civil(1980 + (date >> 9), (date >> 5) & 15, date & 31, time >> 11,
                                (time >> 5) & 63, (time & 31) * 2);
  return absl::ToUnixSeconds(absl::FromCivil(civil, absl::UTCTimeZone()));
}

}  // namespace

// Visits the members without unpacking them. FAILED_PRECONDITION: too many members. DATA_LOSS: the
// bytes are no archive.
absl::Status ListArchive(absl::string_view archive_bytes, const ArchiveLimits& limits,
                         const std::function<absl::Status(const ArchiveMember&)>& visit) {
  const Utf8Locale locale;
  ASSIGN_OR_RETURN(const ArchivePtr reader, Open(archive_bytes));
  archive_entry* entry = nullptr;
  for (size_t number = 0;; ++number) {
    ASSIGN_OR_RETURN(const bool more, Next(reader.get(), &entry));
    if (!more) return absl::OkStatus();
    if (number == limits.members) {
      return absl::FailedPreconditionError(
          absl::StrCat("the archive has more than ", limits.members, " members"));
    }
    const char* path = ::archive_entry_pathname(entry);
    if (path == nullptr || ::archive_entry_filetype(entry) == AE_IFDIR) continue;
    RETURN_IF_ERROR(visit({number, path, ToEntryKind(entry)}));
  }
}

// Unpacks the wanted members in one pass. A member that is damaged or too large has its own error;
// a limit on the whole archive ends the pass.
absl::StatusOr<MemberContents> ReadMembers(absl::string_view archive_bytes,
                                           const ArchiveLimits& limits,
                                           const std::function<bool(size_t)>& wanted) {
  const Utf8Locale locale;
  ASSIGN_OR_RETURN(const ArchivePtr reader, Open(archive_bytes));
  const int64_t size = static_cast<int64_t>(archive_bytes.size());
  int64_t left = std::min(limits.unpacked_bytes, kFreeOfRatio + limits.ratio * size);
  MemberContents contents;
  archive_entry* entry = nullptr;
  for (size_t number = 0;; ++number) {
    ASSIGN_OR_RETURN(const bool more, Next(reader.get(), &entry));
    if (!more) return contents;
    if (!wanted(number)) continue;
    absl::StatusOr<std::string> content = ReadMember(reader.get(), limits.member_bytes, left);
    if (absl::IsFailedPrecondition(content.status())) return content.status();
    contents.emplace(number, std::move(content));
  }
}

// Reads the directory: an end record "PK\5\6" with the number of entries, the directory's size and
// its offset; then entries "PK\1\2" of 46 bytes and three variable parts, with the time at offset
// 12 and the date at 14.
int64_t NewestMemberTime(absl::string_view archive_bytes) {
  constexpr size_t kEndRecord = 22, kEntry = 46;
  const size_t end = archive_bytes.rfind(absl::string_view("PK\5\6", 4));
  if (end == absl::string_view::npos || end + kEndRecord > archive_bytes.size()) return 0;
  const uint32_t count = LittleEndian(archive_bytes, end + 10, 2);
  size_t at = LittleEndian(archive_bytes, end + 16, 4);
  int64_t newest = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (at + kEntry > archive_bytes.size() || archive_bytes.substr(at, 4) != "PK\1\2") return 0;
    newest = std::max(newest, FromDosTime(LittleEndian(archive_bytes, at + 14, 2),
                                          LittleEndian(archive_bytes, at + 12, 2)));
    at += kEntry + LittleEndian(archive_bytes, at + 28, 2) +
          LittleEndian(archive_bytes, at + 30, 2) + LittleEndian(archive_bytes, at + 32, 2);
  }
  return newest;
}

}  // namespace kernelmill::fetcher
