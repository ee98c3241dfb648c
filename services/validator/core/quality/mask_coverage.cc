#include "services/validator/core/quality/mask_coverage.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "common/base/text.h"
#include "common/code/lexer.h"

namespace kernelmill::validator {
namespace {

bool IsLanguage(absl::string_view callee) {
  const absl::string_view first = FirstPart(callee);
  return first == "tl" || first == "gl" || first == "ttgl" || first == "triton" ||
         first == "language";
}

bool HasKeyword(const Call& call, absl::string_view keyword) {
  return std::find(call.keywords.begin(), call.keywords.end(), keyword) != call.keywords.end();
}

// load(pointer, mask), store(pointer, value, mask), atomic_add(pointer, value, mask).
bool HasPositionalMask(const Call& call) {
  if (!IsLanguage(call.callee)) return false;
  const absl::string_view last = LastPart(call.callee);
  if (last == "load") return call.positional >= 2;
  if (last == "store") return call.positional >= 3;
  return absl::StartsWith(last, "atomic_") && last != "atomic_cas" && call.positional >= 3;
}

}  // namespace

bool IsDescriptorAccess(absl::string_view dotted) {
  return absl::StrContains(dotted, "tensor_descriptor") ||
         absl::StrContains(dotted, "descriptor_load") ||
         absl::StrContains(dotted, "descriptor_store") || absl::StrContains(dotted, ".tma.") ||
         absl::StartsWith(dotted, "tma.");
}

bool IsMasked(const Call& call) {
  return HasKeyword(call, "mask") || HasKeyword(call, "boundary_check") || HasPositionalMask(call);
}

v1::MaskCoverage CoverMasks(const CodeFacts& code) {
  v1::MaskCoverage coverage;
  for (const Call& call : code.calls) {
    if (!IsLanguage(call.callee)) continue;
    const absl::string_view last = LastPart(call.callee);
    const bool masked = IsDescriptorAccess(call.callee) || IsMasked(call);
    if (last == "load" || last == "buffer_load" || absl::EndsWith(last, "descriptor_load")) {
      coverage.set_loads(coverage.loads() + 1);
      coverage.set_masked_loads(coverage.masked_loads() + (masked ? 1 : 0));
    }
    if (last == "store" || last == "buffer_store" || absl::EndsWith(last, "descriptor_store") ||
        absl::StartsWith(last, "atomic_")) {
      coverage.set_stores(coverage.stores() + 1);
      coverage.set_masked_stores(coverage.masked_stores() + (masked ? 1 : 0));
    }
  }
  return coverage;
}

bool IsGuarded(absl::string_view c_code) {
  bool branches = false;  // in the parentheses of an if, a for or a while
  int depth = 0;
  for (const code::Token& token : code::Lex(c_code, code::Language::kC)) {
    const absl::string_view text = token.text;
    if (token.kind == code::Token::kName && depth == 0) {
      branches = text == "if" || text == "for" || text == "while";
    } else if (token.kind == code::Token::kOperator && branches) {
      if (text == "(") ++depth;
      if (text == ")" && --depth <= 0) branches = false;
      if (depth < 0) depth = 0;
      if (text == "<" || text == ">" || text == "<=" || text == ">=") return true;
    }
  }
  return false;
}

}  // namespace kernelmill::validator
