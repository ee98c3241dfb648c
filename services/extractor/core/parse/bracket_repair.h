#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_PARSE_BRACKET_REPAIR_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_PARSE_BRACKET_REPAIR_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::extractor {

// A copy of broken Python in which brackets that were never closed are blanks, so that a parser
// loses the statement that they stand in and not the rest of the file. Nothing where there are
// none.
//
// The basic idea: no line within brackets can begin with `def` or `class`. One that does shows that
// the brackets open there were left open.
std::optional<std::string> ReplaceUnclosedBrackets(absl::string_view text);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_PARSE_BRACKET_REPAIR_H_
