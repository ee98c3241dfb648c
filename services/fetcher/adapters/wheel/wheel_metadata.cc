#include "services/fetcher/adapters/wheel/wheel_metadata.h"

#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace kernelmill::fetcher {
namespace {

constexpr size_t kMaxValue = 64 << 10;
constexpr size_t kMaxHeaders = 100'000;

using Header = std::pair<std::string, std::string>;

// The headers up to the first empty line; a line that begins with a blank goes on with the one
// before it.
std::vector<Header> ParseHeaders(absl::string_view text) {
  std::vector<Header> headers;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    absl::ConsumeSuffix(&line, "\r");
    if (line.empty() || headers.size() == kMaxHeaders) break;
    if (line[0] == ' ' || line[0] == '\t') {
      if (headers.empty() || headers.back().second.size() + line.size() > kMaxValue) continue;
      absl::StrAppend(&headers.back().second, "\n", absl::StripAsciiWhitespace(line));
      continue;
    }
    const size_t colon = line.find(':');
    if (colon == absl::string_view::npos) continue;
    const absl::string_view value = absl::StripAsciiWhitespace(line.substr(colon + 1));
    headers.emplace_back(absl::AsciiStrToLower(line.substr(0, colon)), value.substr(0, kMaxValue));
  }
  return headers;
}

}  // namespace

std::vector<std::string> DeclaredLicenses(absl::string_view metadata) {
  const std::vector<Header> headers = ParseHeaders(metadata);
  std::vector<std::string> declared;
  for (const char* wanted : {"license-expression", "license", "classifier"}) {
    for (const auto& [name, value] : headers) {
      const bool classifier = name == "classifier";
      if (name != wanted || value.empty() || value == "UNKNOWN") continue;
      if (!classifier || absl::StartsWith(value, "License ::")) declared.push_back(value);
    }
  }
  return declared;
}

}  // namespace kernelmill::fetcher
