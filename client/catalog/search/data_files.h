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

inline constexpr size_t kDataFile = 256 << 10;  // the approximate size of a data file

// Writes `site`/data/`name`.js: a script that passes one value to the page. Scripts are the only
// files that a page opened from a folder may load. `json` must be a JSON value. Returns the errors
// of WriteSiteFile.
absl::Status WriteDataFile(const std::string& site, absl::string_view name, absl::string_view json);

// Returns text of a repository on one line, as the site shows it: at most `max_bytes`, with
// characters that would hide or turn text spelled out.
std::string ShownText(absl::string_view text, size_t max_bytes);

// Return a JSON array of strings or of numbers.
std::string JsonTexts(const std::vector<std::string>& texts);
std::string JsonNumbers(const std::vector<uint32_t>& numbers);

// Appends a number with seven bits a byte, low bits first. Only the last byte is below 128.
void AppendVarint(uint32_t value, std::string* bytes);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_SEARCH_DATA_FILES_H_
