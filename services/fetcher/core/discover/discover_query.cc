// The query language of GitHub's search: free words, then qualifiers "name:value". A value with
// other characters than letters, digits and a few signs is quoted. Ranges are "low..high" with both
// ends included, or ">=low".
#include "services/fetcher/core/discover/discover_query.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/base/url.h"

namespace kernelmill::fetcher {
namespace {

// Quotes a text. Quotes in it cannot be escaped in a search, and GitHub ignores them anyway.
std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", " "}}), "\"");
}

std::string Qualifier(absl::string_view name, absl::string_view value) {
  const bool plain = std::all_of(value.begin(), value.end(), [](char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("-+#._", absl::string_view(&c, 1));
  });
  return absl::StrCat(name, ":", plain ? std::string(value) : Quoted(value));
}

void AddRange(absl::string_view name, const NumberRange& range, std::vector<std::string>& terms) {
  if (range.high != NumberRange::kOpen) {
    terms.push_back(absl::StrCat(name, ":", range.low, "..", range.high));
  } else if (range.low > 0) {
    terms.push_back(absl::StrCat(name, ":>=", range.low));
  }
}

bool HasLanguage(const v1::Discover& search) {
  return !search.language().empty() && !absl::EqualsIgnoreCase(search.language(), "any");
}

std::string SearchPath(absl::string_view kind, const std::vector<std::string>& terms,
                       absl::string_view order, int page) {
  return absl::StrCat("/search/", kind,
                      "?q=", PercentEncoded(absl::StrJoin(terms, " "), kUnreserved), order,
                      "&per_page=", kRowsPerPage, "&page=", page);
}

}  // namespace

// Stars are distributed roughly as a power law, so halves of equal ratio have more equal numbers of
// rows than halves of equal length. With them the walk needs fewer requests.
std::optional<std::pair<NumberRange, NumberRange>> SplitRange(const NumberRange& range,
                                                              int64_t largest) {
  const int64_t high = range.high == NumberRange::kOpen ? largest : range.high;
  if (range.low >= high) return std::nullopt;
  const double mean = std::sqrt((range.low + 1.0) * (high + 1.0)) - 1.0;
  const int64_t middle = std::clamp(static_cast<int64_t>(mean), range.low, high - 1);
  return std::make_pair(NumberRange{middle + 1, range.high}, NumberRange{range.low, middle});
}

// Sorted by stars, so that pages are stable and the best repositories come first.
std::string RepositorySearchPath(const v1::Discover& search, const NumberRange& stars, int page) {
  std::vector<std::string> terms;
  for (const std::string& word : search.readme()) terms.push_back(Quoted(word));
  if (!search.readme().empty()) terms.emplace_back("in:readme");
  AddRange("stars", stars, terms);
  // With code, the language is that of the file that has the code.
  if (HasLanguage(search) && search.code().empty()) {
    terms.push_back(Qualifier("language", search.language()));
  }
  for (const std::string& topic : search.topics()) terms.push_back(Qualifier("topic", topic));
  terms.emplace_back("is:public");  // a token may see private repositories
  if (search.forks()) terms.emplace_back("fork:true");
  if (!search.archived()) terms.emplace_back("archived:false");
  return SearchPath("repositories", terms, "&sort=stars&order=desc", page);
}

std::string CodeSearchPath(const v1::Discover& search, const NumberRange& bytes, int page) {
  std::vector<std::string> terms = {Quoted(search.code())};
  if (HasLanguage(search)) terms.push_back(Qualifier("language", search.language()));
  AddRange("size", bytes, terms);
  if (search.forks()) terms.emplace_back("fork:true");
  return SearchPath("code", terms, "", page);
}

std::string RepositoryPath(absl::string_view name) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '/');
  return absl::StrCat("/repos/", PercentEncoded(parts[0], kUnreserved), "/",
                      PercentEncoded(parts[1], kUnreserved));
}

// Returns whether the text is "owner/name". "." and ".." are refused, since the name becomes a part
// of a URL's path.
bool IsRepositoryName(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '/');
  const auto names = [](absl::string_view part) {
    return !part.empty() && part.size() <= 255 && part != "." && part != "..";
  };
  return parts.size() == 2 && names(parts[0]) && names(parts[1]);
}

absl::Status CheckSearch(const v1::Discover& search) {
  if (search.topics().empty() && search.readme().empty() && search.code().empty()) {
    return absl::InvalidArgumentError("a search must have topics, readme or code");
  }
  if (search.min_stars() < 0 || search.limit() <= 0) {
    return absl::InvalidArgumentError(
        "a search must have a limit above 0, and min_stars must not be negative");
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::fetcher
