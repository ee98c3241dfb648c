#ifndef KERNELMILL_CLIENT_CATALOG_SEARCH_DATA_FILES_H_
#define KERNELMILL_CLIENT_CATALOG_SEARCH_DATA_FILES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kernelmill::client {

inline constexpr size_t kDataFile = 256 << 10;  // where data is cut, it is cut about here

// Writes `site`/data/`name`.js: a script that hands over one value, which is what a page that was
// opened from a folder may load. `json` must be a value of JSON. Fails as WriteSiteFile.
absl::Status WriteDataFile(const std::string& site, absl::string_view name, absl::string_view json);

// A text of a repository as the site shows it on one line: at most `max_bytes` of it, what would
// hide or turn text spelled out.
std::string ShownText(absl::string_view text, size_t max_bytes);

// As a JSON array of strings, or of numbers.
std::string JsonTexts(const std::vector<std::string>& texts);
std::string JsonNumbers(const std::vector<uint32_t>& numbers);

// Seven bits a byte, the low ones first; the last byte is below 128.
void AppendVarint(uint32_t value, std::string* bytes);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_SEARCH_DATA_FILES_H_
