// The form of data files: one call `kernelmill("NAME",VALUE);` in a script, which a page may load
// even if it was opened from a folder. docs/architecture/catalog.md describes the files.

#include "client/catalog/search/data_files.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/catalog/web/page.h"
#include "common/base/text.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {

absl::Status WriteDataFile(const std::string& site, absl::string_view name,
                           absl::string_view json) {
  return WriteSiteFile(site, absl::StrCat("data/", name, ".js"),
                       absl::StrCat("kernelmill(\"", name, "\",", json, ");\n"));
}

std::string ShownText(absl::string_view text, size_t max_bytes) {
  size_t end = std::min(text.size(), max_bytes);
  // Do not cut inside a UTF-8 character: continuation bytes begin with the bits 10.
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
    --end;
  }
  // A width that no text reaches, so that SafeLines only breaks at line ends.
  constexpr int kOneLine = 1 << 20;
  std::string shown = absl::StrJoin(SafeLines(text.substr(0, end), kOneLine), " ");
  if (end < text.size()) shown.append("…");
  return shown;
}

std::string JsonTexts(const std::vector<std::string>& texts) {
  return absl::StrCat("[",
                      absl::StrJoin(texts, ",",
                                    [](std::string* out, const std::string& text) {
                                      out->append(JsonString(text));
                                    }),
                      "]");
}

std::string JsonNumbers(const std::vector<uint32_t>& numbers) {
  return absl::StrCat("[", absl::StrJoin(numbers, ","), "]");
}

void AppendVarint(uint32_t value, std::string* bytes) {
  for (; value >= 128; value >>= 7) bytes->push_back(static_cast<char>((value & 127) | 128));
  bytes->push_back(static_cast<char>(value));
}

}  // namespace kernelmill::client
