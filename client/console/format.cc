// Single values as text. Names and messages come from repositories and servers: a control character
// in one could move a terminal's cursor or change its title, so OneLine spells out all of them.

#include "client/console/format.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {

std::string OneLine(absl::string_view text) {
  return SafeLine(absl::StrReplaceAll(ToUtf8(text), {{"\r\n", " "}, {"\n", " "}, {"\r", " "}}));
}

std::string ShellWord(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("./_-~:@%+=,", c);
  });
  if (plain) return word;
  return OneLine(absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'"));
}

std::string CutTo(const std::string& line, int width) {
  size_t end = 0;
  for (int columns = 0; end < line.size(); ++end) {
    // A byte begins a character unless it is a continuation byte of UTF-8.
    const bool starts = (static_cast<unsigned char>(line[end]) & 0xc0) != 0x80;
    if (starts && ++columns > width) break;
  }
  return line.substr(0, end);
}

std::string ShortDuration(absl::Duration duration) {
  if (duration > absl::Hours(1000)) return "?";
  // Rounded up, so that a remaining time is "0:00" only at the end.
  const int64_t seconds = absl::ToInt64Seconds(absl::Ceil(duration, absl::Seconds(1)));
  if (seconds < 3600) return absl::StrFormat("%d:%02d", seconds / 60, seconds % 60);
  return absl::StrFormat("%d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string ShortBytes(int64_t bytes) {
  if (bytes < 1024) return absl::StrCat(bytes, bytes == 1 ? " byte" : " bytes");
  double value = static_cast<double>(bytes);
  int unit = -1;
  // 1023.95 and more would be printed as 1024.0.
  for (; value >= 1023.95 && unit < 5; ++unit) value /= 1024;
  return absl::StrFormat("%.1f %ciB", value, "KMGTPE"[unit]);
}

}  // namespace kernelmill::client
