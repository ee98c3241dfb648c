#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_OUTLINE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_OUTLINE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::extractor {

// What a definition's text says of a name, without its code, as comment lines:
//
//   # def f(x, y=1): Adds.        a function's signature on one line and the first line of its
//                                 docstring; # def f(...): where it is long
//   # class C(Base): Keeps.       and a class's fields and methods' signatures below, indented
//   # N = 1 << 6                  another statement that is short, without its indentation
//   # N = ...                     one that is long
//
// A function or class may stand in the blocks of the text. `shown` is the name that the comment
// gives it. Lines end with a newline.
std::string Outline(absl::string_view text, absl::string_view name, absl::string_view shown);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_OUTLINE_H_
