#ifndef KERNELMILL_COMMON_SPDX_EXPRESSION_H_
#define KERNELMILL_COMMON_SPDX_EXPRESSION_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::spdx {

inline constexpr char kNoAssertion[] = "NOASSERTION";

// One licence of an expression.
struct LicenseTerm {
  std::string id;         // canonical: "MIT", "GPL-3.0-or-later", "LicenseRef-x"
  bool or_later = false;  // a trailing '+'
  std::string exception;  // what stands after WITH; may be empty
};

// A licence expression of SPDX 2.3 (annex D), in canonical form: identifiers spelled as the SPDX
// list has them, deprecated ones renamed, operators in capitals, nested equal operators
// flattened, repeated operands dropped, no parenthesis that is not needed. A value type.
class SpdxExpression {
 public:
  // Operators may be written in lower case, as SPDX 3 allows. INVALID_ARGUMENT: not an expression,
  // longer than 1,024 bytes or nested deeper than 32; NOASSERTION and NONE are not expressions
  // here.
  static absl::StatusOr<SpdxExpression> Parse(absl::string_view text);

  // All of `parts`, or any. `parts` must not be empty.
  static SpdxExpression All(std::vector<SpdxExpression> parts);
  static SpdxExpression Any(std::vector<SpdxExpression> parts);
  static SpdxExpression Of(LicenseTerm term);

  std::string ToString() const;

  // Whether the expression holds where `allowed` says which terms do.
  bool Holds(const std::function<bool(const LicenseTerm&)>& allowed) const;

  // Every term, from left to right.
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

// The SPDX list's spelling of a licence identifier, and of a deprecated one its successor's; as
// written if the list lacks it.
std::string CanonicalLicenseId(absl::string_view id);

// Whether the SPDX list has the identifier, or it is a LicenseRef-.
bool IsKnownLicenseId(absl::string_view id);

}  // namespace kernelmill::spdx

#endif  // KERNELMILL_COMMON_SPDX_EXPRESSION_H_
