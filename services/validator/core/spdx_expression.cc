// The grammar, lowest precedence first:
//   any  := all ("OR" all)*
//   all  := term ("AND" term)*
//   term := "(" any ")" | id ["+"] ["WITH" id]
// by recursive descent; the depth is bounded, so a hostile tag cannot exhaust the stack.
#include "services/validator/core/spdx_expression.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kMaxBytes = 1024;
constexpr int kMaxDepth = 32;

constexpr const char* kKnownIds[] = {
    "0BSD",
    "AFL-3.0",
    "AGPL-1.0-only",
    "AGPL-1.0-or-later",
    "AGPL-3.0-only",
    "AGPL-3.0-or-later",
    "Apache-1.1",
    "Apache-2.0",
    "Artistic-2.0",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-2-Clause-Patent",
    "BSD-3-Clause",
    "BSD-3-Clause-Clear",
    "BSD-3-Clause-LBNL",
    "BSD-4-Clause",
    "BSL-1.0",
    "BUSL-1.1",
    "BlueOak-1.0.0",
    "CC-BY-3.0",
    "CC-BY-4.0",
    "CC-BY-NC-4.0",
    "CC-BY-NC-ND-4.0",
    "CC-BY-NC-SA-4.0",
    "CC-BY-ND-4.0",
    "CC-BY-SA-3.0",
    "CC-BY-SA-4.0",
    "CC0-1.0",
    "CDDL-1.0",
    "CECILL-2.1",
    "ECL-2.0",
    "EPL-1.0",
    "EPL-2.0",
    "EUPL-1.2",
    "Elastic-2.0",
    "GPL-1.0-only",
    "GPL-1.0-or-later",
    "GPL-2.0-only",
    "GPL-2.0-or-later",
    "GPL-3.0-only",
    "GPL-3.0-or-later",
    "HPND",
    "ISC",
    "JSON",
    "LGPL-2.0-only",
    "LGPL-2.0-or-later",
    "LGPL-2.1-only",
    "LGPL-2.1-or-later",
    "LGPL-3.0-only",
    "LGPL-3.0-or-later",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "MPL-1.1",
    "MPL-2.0",
    "MS-PL",
    "MulanPSL-2.0",
    "NCSA",
    "OFL-1.1",
    "OpenSSL",
    "PSF-2.0",
    "PolyForm-Noncommercial-1.0.0",
    "PostgreSQL",
    "Python-2.0",
    "SSPL-1.0",
    "UPL-1.0",
    "Unicode-3.0",
    "Unlicense",
    "W3C",
    "WTFPL",
    "X11",
    "Zlib",
    "libpng-2.0",
};

constexpr const char* kKnownExceptions[] = {
    "Autoconf-exception-3.0", "Classpath-exception-2.0", "GCC-exception-3.1",
    "LLVM-exception",         "Linux-syscall-note",      "OpenSSL-exception",
};

bool IsGnuFamily(absl::string_view id) {
  return absl::StartsWith(id, "GPL-") || absl::StartsWith(id, "LGPL-") ||
         absl::StartsWith(id, "AGPL-");
}

bool IsIdByte(char c) { return absl::ascii_isalnum(c) || c == '-' || c == '.' || c == ':'; }

bool IsOperator(absl::string_view word) {
  return absl::EqualsIgnoreCase(word, "AND") || absl::EqualsIgnoreCase(word, "OR") ||
         absl::EqualsIgnoreCase(word, "WITH");
}

absl::string_view FindKnown(absl::string_view id) {
  for (const absl::string_view known : kKnownIds) {
    if (absl::EqualsIgnoreCase(known, id)) return known;
  }
  return "";
}

// "GPL-2.0" and "GPL-2.0+" are the old names of GPL-2.0-only and GPL-2.0-or-later.
LicenseTerm MakeTerm(absl::string_view id, bool or_later, absl::string_view exception) {
  LicenseTerm term{CanonicalLicenseId(id), or_later, std::string(exception)};
  for (const absl::string_view known : kKnownExceptions) {
    if (absl::EqualsIgnoreCase(known, exception)) term.exception = std::string(known);
  }
  if (or_later && IsGnuFamily(term.id)) {
    absl::string_view base = term.id;
    if (absl::ConsumeSuffix(&base, "-only")) term.id = absl::StrCat(base, "-or-later");
    term.or_later = false;
  }
  return term;
}

absl::Status Wrong(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("not a licence expression: ", what));
}

}  // namespace

class SpdxParser {
 public:
  explicit SpdxParser(absl::string_view text) : text_(text) {}

  absl::StatusOr<SpdxExpression> Parse() {
    Advance();
    ASSIGN_OR_RETURN(SpdxExpression expression, ParseAny(0));
    if (!word_.empty()) return Wrong("more follows it");
    return expression;
  }

 private:
  using Kind = SpdxExpression::Kind;

  // Makes word_ the next parenthesis, plus sign or word; empty at the end, "?" for any other byte.
  void Advance() {
    while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
    const size_t start = at_;
    while (at_ < text_.size() && IsIdByte(text_[at_])) ++at_;
    if (at_ == start && at_ < text_.size()) ++at_;
    word_ = text_.substr(start, at_ - start);
  }

  bool Take(absl::string_view word) {
    if (!absl::EqualsIgnoreCase(word_, word)) return false;
    Advance();
    return true;
  }

  absl::StatusOr<SpdxExpression> ParseAny(int depth) {
    if (depth > kMaxDepth) return Wrong("nested too deep");
    std::vector<SpdxExpression> parts;
    do {
      ASSIGN_OR_RETURN(SpdxExpression part, ParseAll(depth));
      parts.push_back(std::move(part));
    } while (Take("OR"));
    return SpdxExpression::Any(std::move(parts));
  }

  absl::StatusOr<SpdxExpression> ParseAll(int depth) {
    std::vector<SpdxExpression> parts;
    do {
      ASSIGN_OR_RETURN(SpdxExpression part, ParseTerm(depth));
      parts.push_back(std::move(part));
    } while (Take("AND"));
    return SpdxExpression::All(std::move(parts));
  }

  absl::StatusOr<SpdxExpression> ParseTerm(int depth) {
    if (Take("(")) {
      ASSIGN_OR_RETURN(SpdxExpression inner, ParseAny(depth + 1));
      if (!Take(")")) return Wrong("a parenthesis is not closed");
      return inner;
    }
    ASSIGN_OR_RETURN(const absl::string_view id, TakeId());
    const bool or_later = Take("+");
    absl::string_view exception;
    if (Take("WITH")) {
      ASSIGN_OR_RETURN(exception, TakeId());
    }
    return SpdxExpression::Of(MakeTerm(id, or_later, exception));
  }

  absl::StatusOr<absl::string_view> TakeId() {
    const absl::string_view id = word_;
    if (id.empty() || !IsIdByte(id[0]) || IsOperator(id)) return Wrong("an identifier is missing");
    if (absl::EqualsIgnoreCase(id, kNoAssertion) || absl::EqualsIgnoreCase(id, "NONE")) {
      return Wrong("it asserts nothing");
    }
    Advance();
    return id;
  }

  const absl::string_view text_;
  size_t at_ = 0;
  absl::string_view word_;
};

absl::StatusOr<SpdxExpression> SpdxExpression::Parse(absl::string_view text) {
  if (text.size() > kMaxBytes) return Wrong("too long");
  return SpdxParser(text).Parse();
}

SpdxExpression SpdxExpression::Of(LicenseTerm term) {
  SpdxExpression expression;
  expression.term_ = std::move(term);
  return expression;
}

SpdxExpression SpdxExpression::All(std::vector<SpdxExpression> parts) {
  return Combine(Kind::kAll, std::move(parts));
}

SpdxExpression SpdxExpression::Any(std::vector<SpdxExpression> parts) {
  return Combine(Kind::kAny, std::move(parts));
}

SpdxExpression SpdxExpression::Combine(Kind kind, std::vector<SpdxExpression> parts) {
  std::vector<SpdxExpression> flat;
  std::vector<std::string> seen;
  const auto add = [&](SpdxExpression part) {
    std::string text = part.ToString();
    if (std::find(seen.begin(), seen.end(), text) != seen.end()) return;
    seen.push_back(std::move(text));
    flat.push_back(std::move(part));
  };
  for (SpdxExpression& part : parts) {
    if (part.kind_ != kind) {
      add(std::move(part));
      continue;
    }
    for (SpdxExpression& inner : part.parts_) add(std::move(inner));
  }
  if (flat.size() == 1) return std::move(flat.front());
  SpdxExpression expression;
  expression.kind_ = kind;
  expression.parts_ = std::move(flat);
  return expression;
}

std::string SpdxExpression::ToString() const {
  if (kind_ == Kind::kTerm) {
    return absl::StrCat(term_.id, term_.or_later ? "+" : "",
                        term_.exception.empty() ? "" : " WITH ", term_.exception);
  }
  std::vector<std::string> texts;
  for (const SpdxExpression& part : parts_) {
    const bool nested = kind_ == Kind::kAll && part.kind_ == Kind::kAny;
    texts.push_back(nested ? absl::StrCat("(", part.ToString(), ")") : part.ToString());
  }
  return absl::StrJoin(texts, kind_ == Kind::kAll ? " AND " : " OR ");
}

bool SpdxExpression::Holds(const std::function<bool(const LicenseTerm&)>& allowed) const {
  const auto holds = [&](const SpdxExpression& part) { return part.Holds(allowed); };
  switch (kind_) {
    case Kind::kTerm:
      return allowed(term_);
    case Kind::kAll:
      return std::all_of(parts_.begin(), parts_.end(), holds);
    case Kind::kAny:
      return std::any_of(parts_.begin(), parts_.end(), holds);
  }
  return false;
}

std::vector<LicenseTerm> SpdxExpression::Terms() const {
  if (kind_ == Kind::kTerm) return {term_};
  std::vector<LicenseTerm> terms;
  for (const SpdxExpression& part : parts_) {
    for (LicenseTerm& term : part.Terms()) terms.push_back(std::move(term));
  }
  return terms;
}

std::string CanonicalLicenseId(absl::string_view id) {
  absl::string_view known = FindKnown(id);
  if (!known.empty()) return std::string(known);
  if (absl::EqualsIgnoreCase(id.substr(0, 11), "LicenseRef-")) {
    return absl::StrCat("LicenseRef-", id.substr(11));
  }
  // The deprecated GNU names lack "-only".
  known = FindKnown(absl::StrCat(id, "-only"));
  return std::string(known.empty() ? id : known);
}

bool IsKnownLicenseId(absl::string_view id) {
  const std::string canonical = CanonicalLicenseId(id);
  return absl::StartsWith(canonical, "LicenseRef-") || !FindKnown(canonical).empty();
}

}  // namespace kernelmill::validator
