#include "services/fetcher/core/selection/requirements.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/path.h"

namespace kernelmill::fetcher {
namespace {

constexpr size_t kMaxSpecifier = 256;

// One clause: an operator and a version, ">= 3.0.0".
bool IsClause(absl::string_view clause) {
  clause = absl::StripAsciiWhitespace(clause);
  const size_t end = clause.find_first_not_of("<>=!~");
  if (end == absl::string_view::npos) return false;
  static constexpr absl::string_view kOperators[] = {"===", "==", "!=", "~=", "<=", ">=", "<", ">"};
  const bool known = std::find(std::begin(kOperators), std::end(kOperators),
                               clause.substr(0, end)) != std::end(kOperators);
  const absl::string_view version = absl::StripLeadingAsciiWhitespace(clause.substr(end));
  return known && !version.empty() && std::all_of(version.begin(), version.end(), [](char c) {
           return absl::ascii_isalnum(c) || absl::StrContains(".*+!_-", c);
         });
}

// The text if it is a PEP 440 specifier, without blanks around it; else empty.
absl::string_view AsSpecifier(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (text.empty() || text.size() > kMaxSpecifier) return "";
  for (const absl::string_view clause : absl::StrSplit(text, ',')) {
    if (!IsClause(clause)) return "";
  }
  return text;
}

// "name[extra] (>=1.0) ; marker" is ">=1.0"; empty if it is another package's, or has no version.
absl::string_view OfRequirement(absl::string_view text, absl::string_view package) {
  text = absl::StripAsciiWhitespace(text);
  if (!absl::StartsWithIgnoreCase(text, package)) return "";
  text = absl::StripLeadingAsciiWhitespace(text.substr(package.size()));
  if (absl::ConsumePrefix(&text, "[")) {
    const size_t close = text.find(']');
    if (close == absl::string_view::npos) return "";
    text = absl::StripLeadingAsciiWhitespace(text.substr(close + 1));
  }
  for (const absl::string_view end : {";", "#", " --", "\\"}) text = text.substr(0, text.find(end));
  text = absl::StripAsciiWhitespace(text);
  if (absl::ConsumePrefix(&text, "(")) absl::ConsumeSuffix(&text, ")");
  return AsSpecifier(text);
}

// The first specifier among the literals of a line, each taken for a requirement.
absl::string_view OfLiterals(absl::string_view line, absl::string_view package) {
  for (size_t begin = line.find_first_of("'\""); begin != absl::string_view::npos;) {
    const size_t end = line.find(line[begin], begin + 1);
    if (end == absl::string_view::npos) break;
    const absl::string_view found = OfRequirement(line.substr(begin + 1, end - begin - 1), package);
    if (!found.empty()) return found;
    begin = line.find_first_of("'\"", end + 1);
  }
  return "";
}

// triton = ">=3.0.0" and triton = {version = ">=3.0.0", ...}
absl::string_view OfTomlValue(absl::string_view line, absl::string_view package) {
  if (!absl::ConsumePrefix(&line, package)) return "";
  line = absl::StripLeadingAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, "=")) return "";
  const size_t begin = line.find_first_of("'\"");
  if (begin == absl::string_view::npos) return "";
  const size_t end = line.find(line[begin], begin + 1);
  if (end == absl::string_view::npos) return "";
  return AsSpecifier(line.substr(begin + 1, end - begin - 1));
}

absl::string_view OfLine(absl::string_view name, absl::string_view line,
                         absl::string_view package) {
  if (name == "METADATA") {
    return absl::ConsumePrefix(&line, "Requires-Dist:") ? OfRequirement(line, package) : "";
  }
  if (name != "pyproject.toml" && name != "setup.py") return OfRequirement(line, package);
  const absl::string_view literal = OfLiterals(line, package);
  return literal.empty() && name == "pyproject.toml" ? OfTomlValue(line, package) : literal;
}

}  // namespace

std::string RequiredVersion(absl::string_view path, absl::string_view content,
                            absl::string_view package) {
  const absl::string_view name = BaseName(path);
  for (absl::string_view line : absl::StrSplit(content, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (name == "METADATA" && line.empty()) break;  // the description follows
    if (absl::StartsWith(line, "#")) continue;
    const absl::string_view found = OfLine(name, line, package);
    if (!found.empty()) return std::string(found);
  }
  return "";
}

}  // namespace kernelmill::fetcher
