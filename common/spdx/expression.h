#ifndef KERNELMILL_COMMON_SPDX_EXPRESSION_H_
#define KERNELMILL_COMMON_SPDX_EXPRESSION_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::spdx {

inline constexpr char kNoAssertion[] = "NOASSERTION";

// In a list of allowed licences: every licence, also an unknown one.
inline constexpr char kAnyLicense[] = "*";

// One licence of an expression, with what modifies it.
struct LicenseTerm {
  std::string id;         // canonical: "MIT", "GPL-3.0-or-later", "LicenseRef-x"
  bool or_later = false;  // a trailing '+'
  std::string exception;  // the identifier after WITH; may be empty
};

// A licence expression of SPDX 2.3 (annex D), in canonical form: identifiers spelled as in the SPDX
// list, deprecated ones renamed, operators in capitals, nested equal operators flattened, repeated
// operands dropped, no unnecessary parentheses. A value type.
class SpdxExpression {
 public:
  // Parses an expression. Operators may be in lower case, as SPDX 3 allows. INVALID_ARGUMENT: not
  // an expression, longer than 1,024 bytes or nested deeper than 32; NOASSERTION and NONE are not
  // expressions here.
  static absl::StatusOr<SpdxExpression> Parse(absl::string_view text);

  // Returns the expression that all of `parts` hold, or any. `parts` must not be empty.
  static SpdxExpression All(std::vector<SpdxExpression> parts);
  static SpdxExpression Any(std::vector<SpdxExpression> parts);
  static SpdxExpression Of(LicenseTerm term);

  std::string ToString() const;

  // Returns whether the expression can be fulfilled with the terms that `allowed` accepts.
  bool Holds(const std::function<bool(const LicenseTerm&)>& allowed) const;

  // Returns every term, from left to right.
  std::vector<LicenseTerm> Terms() const;

 private:
  enum class Kind { kTerm, kAll, kAny };
  friend class SpdxParser;
  SpdxExpression() = default;
  static SpdxExpression Combine(Kind kind, std::vector<SpdxExpression> parts);

  Kind kind_ = Kind::kTerm;
  LicenseTerm term_;
  std::vector<SpdxExpression> parts_;
};

// Returns the SPDX list's spelling of a licence identifier, and the successor of a deprecated one.
// An identifier that the list does not have stays as written.
std::string CanonicalLicenseId(absl::string_view id);

// Returns whether the SPDX list has the identifier, or it is a LicenseRef-.
bool IsKnownLicenseId(absl::string_view id);

// Returns whether it is an exception that is known to only grant more.
bool IsKnownException(absl::string_view id);

// Returns the identifier of the list that takes the fewest edits from `id`, the first of several.
// Letters behind the whole of `id` count as one edit: "BSD3" is nearest to BSD-3-Clause.
std::string NearestLicenseId(absl::string_view id);

// Parses an expression whose identifiers the list must have. INVALID_ARGUMENT: no expression, or an
// unknown identifier; the error names the nearest known one.
absl::StatusOr<SpdxExpression> ParseKnownLicenses(absl::string_view text);

}  // namespace kernelmill::spdx

#endif  // KERNELMILL_COMMON_SPDX_EXPRESSION_H_
