// Parses and writes licence expressions of SPDX 2.3, annex D. The grammar, lowest precedence first:
//   any  := all ("OR" all)*
//   all  := term ("AND" term)*
//   term := "(" any ")" | id ["+"] ["WITH" id]
//
// The parser descends recursively. The depth is bounded, so that a hostile tag full of parentheses
// cannot exhaust the stack. Combine brings an expression to its canonical form while it is built:
// equal operators are flattened and repeated operands dropped, so that "MIT AND (Apache-2.0 AND
// MIT)" and "MIT AND Apache-2.0" have one text.
#include "common/spdx/expression.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/spdx/license_list.h"
#include "common/spdx/text/deprecated_ids.h"
#include "common/words/suggestion.h"

namespace kernelmill::spdx {
namespace {

constexpr size_t kMaxBytes = 1024;
constexpr int kMaxDepth = 32;

// The npm package of the SPDX list has no exceptions. These are the ones that occur in source code.
constexpr const char* kKnownExceptions[] = {
    "Autoconf-exception-2.0",
    "Autoconf-exception-3.0",
    "Bison-exception-2.2",
    "Bootloader-exception",
    "Classpath-exception-2.0",
    "Font-exception-2.0",
    "GCC-exception-2.0",
    "GCC-exception-3.1",
    "LGPL-3.0-linking-exception",
    "LLVM-exception",
    "Linux-syscall-note",
    "OpenSSL-exception",
    "Universal-FOSS-exception-1.0",
    "WxWindows-exception-3.1",
    "eCos-exception-2.0",
    "fmt-exception",
};

bool IsGnuFamily(absl::string_view id) {
  return absl::StartsWith(id, "GPL-") || absl::StartsWith(id, "LGPL-") ||
         absl::StartsWith(id, "AGPL-") || absl::StartsWith(id, "GFDL-");
}

bool IsIdByte(char c) { return absl::ascii_isalnum(c) || c == '-' || c == '.' || c == ':'; }

bool IsOperator(absl::string_view word) {
  return absl::EqualsIgnoreCase(word, "AND") || absl::EqualsIgnoreCase(word, "OR") ||
         absl::EqualsIgnoreCase(word, "WITH");
}

// Returns the list's spelling of an identifier; empty if the list does not have it.
absl::string_view FindKnown(absl::string_view id) {
  const absl::Span<const char* const> ids = LicenseIds();
  const std::string wanted = absl::AsciiStrToLower(id);
  const auto found = std::lower_bound(
      ids.begin(), ids.end(), wanted,
      [](const char* a, const std::string& b) { return absl::AsciiStrToLower(a) < b; });
  return found != ids.end() && absl::EqualsIgnoreCase(*found, id) ? *found : absl::string_view();
}

// Makes a term in canonical form: "GPL-2.0" and "GPL-2.0+" are the deprecated names of GPL-2.0-only
// and GPL-2.0-or-later.
LicenseTerm MakeTerm(absl::string_view id, bool or_later, absl::string_view exception) {
  const DeprecatedId* deprecated = FindDeprecatedId(id);
  if (deprecated != nullptr && exception.empty()) exception = deprecated->exception;
  LicenseTerm term{CanonicalLicenseId(id), or_later, std::string(exception)};
  for (const absl::string_view known : kKnownExceptions) {
    if (absl::EqualsIgnoreCase(known, exception)) term.exception = std::string(known);
  }
  // "GPL-2.0-only+" has a name of its own; other licences keep the plus sign.
  if (or_later && IsGnuFamily(term.id)) {
    absl::string_view base = term.id;
    if (absl::ConsumeSuffix(&base, "-only")) term.id = absl::StrCat(base, "-or-later");
    term.or_later = false;
  }
  return term;
}

absl::Status Wrong(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("invalid SPDX expression: ", what));
}

}  // namespace

class SpdxParser {
 public:
  explicit SpdxParser(absl::string_view text) : text_(text) {}

  absl::StatusOr<SpdxExpression> Parse() {
    Advance();
    ASSIGN_OR_RETURN(SpdxExpression expression, ParseAny(0));
    if (!word_.empty()) return Wrong(absl::StrCat("unexpected text at ", JsonString(word_)));
    return expression;
  }

 private:
  using Kind = SpdxExpression::Kind;

  // Sets word_ to the next parenthesis, plus sign or word. It is empty at the end, and one byte
  // long for any other character.
  void Advance() {
    while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
    const size_t start = at_;
    while (at_ < text_.size() && IsIdByte(text_[at_])) ++at_;
    if (at_ == start && at_ < text_.size()) ++at_;
    word_ = text_.substr(start, at_ - start);
  }

  // Takes the word, in any letter case, if it comes next.
  bool Take(absl::string_view word) {
    if (!absl::EqualsIgnoreCase(word_, word)) return false;
    Advance();
    return true;
  }

  absl::StatusOr<SpdxExpression> ParseAny(int depth) {
    if (depth > kMaxDepth)
      return Wrong(
          absl::StrCat("parentheses must not be nested deeper than ", kMaxDepth, " levels"));
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
      if (!Take(")")) return Wrong("a closing parenthesis is missing");
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

  // Takes an identifier. NOASSERTION and NONE are statements about a licence and not licences.
  absl::StatusOr<absl::string_view> TakeId() {
    const absl::string_view id = word_;
    if (id.empty() || !IsIdByte(id[0]) || IsOperator(id)) return Wrong("an identifier is missing");
    if (absl::EqualsIgnoreCase(id, kNoAssertion) || absl::EqualsIgnoreCase(id, "NONE")) {
      return Wrong("NOASSERTION and NONE name no licence");
    }
    Advance();
    return id;
  }

  const absl::string_view text_;
  size_t at_ = 0;
  absl::string_view word_;
};

// INVALID_ARGUMENT: the text is no expression. Identifiers that the list does not have are
// accepted.
absl::StatusOr<SpdxExpression> SpdxExpression::Parse(absl::string_view text) {
  if (text.size() > kMaxBytes)
    return Wrong(absl::StrCat("must be at most ", kMaxBytes, " bytes long"));
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

// Operands keep their order, since the first is how authors write a licence. Comparing texts is
// quadratic; an expression of 1 KiB has few operands.
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
    // An operand of the same kind is dissolved into its own operands.
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

// AND binds closer, so only an OR within an AND needs parentheses. The text is canonical: equal
// expressions have one.
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

// Decides whether the allowed terms satisfy the expression: all operands of an AND, one of an OR.
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

// Returns the terms from left to right; a term may occur several times.
std::vector<LicenseTerm> SpdxExpression::Terms() const {
  if (kind_ == Kind::kTerm) return {term_};
  std::vector<LicenseTerm> terms;
  for (const SpdxExpression& part : parts_) {
    for (LicenseTerm& term : part.Terms()) terms.push_back(std::move(term));
  }
  return terms;
}

// Returns an id that the list does not have as it is. The prefix LicenseRef- marks ids of one's
// own, whose rest keeps its case.
std::string CanonicalLicenseId(absl::string_view id) {
  const DeprecatedId* deprecated = FindDeprecatedId(id);
  if (deprecated != nullptr) return deprecated->id;
  const absl::string_view known = FindKnown(id);
  if (!known.empty()) return std::string(known);
  if (absl::EqualsIgnoreCase(id.substr(0, 11), "LicenseRef-")) {
    return absl::StrCat("LicenseRef-", id.substr(11));
  }
  return std::string(id);
}

// A LicenseRef is known by its form: it names a licence that the document itself explains.
bool IsKnownLicenseId(absl::string_view id) {
  const std::string canonical = CanonicalLicenseId(id);
  return absl::StartsWith(canonical, "LicenseRef-") || FindDeprecatedId(canonical) != nullptr ||
         !FindKnown(canonical).empty();
}

bool IsKnownException(absl::string_view id) {
  return std::any_of(std::begin(kKnownExceptions), std::end(kKnownExceptions),
                     [&](absl::string_view known) { return known == id; });
}

std::string NearestLicenseId(absl::string_view id) {
  return FindNearest(id, {LicenseIds().begin(), LicenseIds().end()});
}

absl::StatusOr<SpdxExpression> ParseKnownLicenses(absl::string_view text) {
  absl::StatusOr<SpdxExpression> expression = SpdxExpression::Parse(text);
  if (!expression.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(expression.status().message(), " (did you mean ",
                                                   NearestLicenseId(text), "?)"));
  }
  for (const LicenseTerm& term : expression->Terms()) {
    if (IsKnownLicenseId(term.id)) continue;
    return absl::InvalidArgumentError(absl::StrCat(JsonString(term.id),
                                                   " is not in the SPDX list (did you mean ",
                                                   NearestLicenseId(term.id), "?)"));
  }
  return expression;
}

}  // namespace kernelmill::spdx
