#include "services/cli/core/store_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "common/cas/digest.h"
#include "services/cli/core/outcome.h"
#include "services/cli/core/progress.h"

namespace kernelmill::cli {
namespace {

std::string Blobs(int64_t count) { return absl::StrCat(count, count == 1 ? " blob" : " blobs"); }

std::string HoldText(const v1::HoldInfo& hold) {
  std::string what =
      hold.blobs() > 0 || !hold.everything_used_from_now() ? Blobs(hold.blobs()) : "";
  if (hold.everything_used_from_now()) {
    absl::StrAppend(&what, what.empty() ? "" : " and ", "everything used since it began");
  }
  if (hold.expires_in_ms() > 0) {
    absl::StrAppend(&what, ", for another ",
                    ShortDuration(absl::Milliseconds(hold.expires_in_ms())));
  }
  return absl::StrFormat("  %-40s %s\n", OneLine(hold.name()), what);
}

}  // namespace

std::string ShortBytes(int64_t bytes) {
  if (bytes < 1024) return absl::StrCat(bytes, bytes == 1 ? " byte" : " bytes");
  double value = static_cast<double>(bytes);
  int unit = -1;
  // 1023.95 and more would be shown as 1024.0.
  for (; value >= 1023.95 && unit < 5; ++unit) value /= 1024;
  return absl::StrFormat("%.1f %ciB", value, "KMGTPE"[unit]);
}

std::string StatText(const v1::StatResponse& stat) {
  std::string text = absl::StrFormat("%-16s %s, %s\n", "content", Blobs(stat.blobs()),
                                     ShortBytes(stat.blob_bytes()));
  absl::StrAppendFormat(&text, "%-16s %d\n", "action results", stat.action_results());
  absl::StrAppendFormat(&text, "%-16s %s%s, %s free\n", "on disk", ShortBytes(stat.disk_bytes()),
                        stat.limit_bytes() > 0
                            ? absl::StrCat(" of at most ", ShortBytes(stat.limit_bytes()))
                            : std::string(),
                        ShortBytes(stat.free_disk_bytes()));
  absl::StrAppendFormat(&text, "%-16s %d\n", "holds", stat.holds_size());
  for (const v1::HoldInfo& hold : stat.holds()) text += HoldText(hold);
  return text;
}

std::string VerifyLine(const v1::VerifyProgress& progress, const v1::StatResponse& whole) {
  return absl::StrCat(progress.blobs(), " of ", Blobs(whole.blobs()), ", ",
                      ShortBytes(progress.bytes()), " of ", ShortBytes(whole.blob_bytes()),
                      " read, ", progress.damaged_size(), " damaged");
}

std::string VerifyText(const v1::VerifyProgress& last, bool dropped) {
  std::string text = absl::StrCat(Blobs(last.blobs()), ", ", ShortBytes(last.bytes()), " read; ");
  if (last.damaged().empty()) return text + "all are whole\n";
  absl::StrAppend(&text, Blobs(last.damaged_size()), " damaged", dropped ? " and dropped" : "",
                  ":\n");
  for (const auto& digest : last.damaged()) {
    absl::StrAppend(&text, "  ", cas::ToString(digest), "\n");
  }
  return text;
}

std::string GarbageText(const v1::CollectGarbageResponse& response) {
  std::string text = absl::StrCat("dropped ", Blobs(response.dropped_blobs()), ", ",
                                  ShortBytes(response.dropped_bytes()));
  if (response.held_bytes() > 0) {
    absl::StrAppend(&text, "; ", ShortBytes(response.held_bytes()), " are held and stay");
  }
  return text + "\n";
}

std::string BackupText(const v1::BackupResponse& response) {
  return absl::StrCat(OneLine(response.path()), "  ", ShortBytes(response.bytes()), "\n");
}

}  // namespace kernelmill::cli
