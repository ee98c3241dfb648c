#include "services/fetcher/adapters/github/testing/stub_query.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace kernelmill::fetcher {
namespace {

std::string Decoded(absl::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out += absl::HexStringToBytes(std::string(text.substr(i + 1, 2)));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::string Unquoted(absl::string_view text) {
  if (absl::ConsumePrefix(&text, "\"")) absl::ConsumeSuffix(&text, "\"");
  return std::string(text);
}

// Splits at blanks outside quotes.
std::vector<std::string> SplitTerms(absl::string_view text) {
  std::vector<std::string> terms = {""};
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (c == ' ' && !quoted) {
      terms.emplace_back();
    } else {
      terms.back() += c;
    }
  }
  return terms;
}

}  // namespace

std::map<std::string, std::string> DecodeQuery(absl::string_view query) {
  std::map<std::string, std::string> out;
  for (const absl::string_view pair : absl::StrSplit(query, '&')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(pair, absl::MaxSplits('=', 1));
    out[std::string(parts.first)] = Decoded(parts.second);
  }
  return out;
}

std::optional<StubQuery> StubQuery::Parse(absl::string_view text) {
  StubQuery query;
  for (const std::string& term : SplitTerms(text)) {
    if (!term.empty() && !query.AddTerm(term)) return std::nullopt;
  }
  return query;
}

bool StubQuery::AddTerm(absl::string_view term) {
  const size_t colon = term.find(':');
  if (absl::StartsWith(term, "\"") || colon == absl::string_view::npos) {
    phrases_.push_back(Unquoted(term));
    return true;
  }
  return AddQualifier(term.substr(0, colon), Unquoted(term.substr(colon + 1)));
}

bool StubQuery::AddQualifier(absl::string_view name, absl::string_view value) {
  if (name == "stars") return ParseRange(value, stars_);
  if (name == "size") return ParseRange(value, bytes_);
  if (name == "language") {
    language_ = std::string(value);
  } else if (name == "topic") {
    topics_.push_back(absl::AsciiStrToLower(value));
  } else if (name == "in" && value == "readme") {
    in_readme_ = true;
  } else if (name == "fork" && value == "true") {
    forks_ = true;
  } else if (name == "archived" && value == "false") {
    no_archived_ = true;
  } else if (name == "is" && value == "public") {
    public_ = true;
  } else {
    return false;
  }
  return true;
}

bool StubQuery::ParseRange(absl::string_view text, Range& range) {
  if (absl::ConsumePrefix(&text, ">=")) return absl::SimpleAtoi(text, &range.low);
  const std::pair<absl::string_view, absl::string_view> ends = absl::StrSplit(text, "..");
  return absl::SimpleAtoi(ends.first, &range.low) && absl::SimpleAtoi(ends.second, &range.high);
}

bool StubQuery::MatchesRepository(const StubRepository& repository) const {
  const auto has_topic = [&](const std::string& topic) {
    return std::count(repository.topics.begin(), repository.topics.end(), topic) > 0;
  };
  const auto in_readme = [&](const std::string& phrase) {
    return in_readme_ && absl::StrContains(repository.readme, phrase);
  };
  return stars_.Has(repository.stars) && (forks_ || !repository.fork) &&
         !(no_archived_ && repository.archived) && !(public_ && repository.is_private) &&
         (language_.empty() || absl::EqualsIgnoreCase(language_, repository.language)) &&
         std::all_of(topics_.begin(), topics_.end(), has_topic) &&
         std::all_of(phrases_.begin(), phrases_.end(), in_readme);
}

bool StubQuery::MatchesCode(const StubRepository& repository) const {
  const auto in_code = [&](const std::string& phrase) {
    return absl::StrContains(repository.code, phrase);
  };
  return bytes_.Has(repository.code_bytes) && (forks_ || !repository.fork) && !phrases_.empty() &&
         (language_.empty() || absl::EqualsIgnoreCase(language_, repository.language)) &&
         std::all_of(phrases_.begin(), phrases_.end(), in_code);
}

}  // namespace kernelmill::fetcher
