#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_SYNTAX_CALL_ARGUMENTS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_SYNTAX_CALL_ARGUMENTS_H_

#include <cstddef>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "services/extractor/core/syntax/syntax_tree.h"

namespace kernelmill::extractor {

// What a call is given: f(x, y=z, *rest, **more).
struct Argument {
  absl::string_view keyword;  // empty where it is positional
  NodeId value;               // of *rest and **more the whole
};

using Arguments = absl::InlinedVector<Argument, 8>;

// In the order of the text; none where `call` is none or gives a generator alone.
Arguments ArgumentsOf(const SyntaxTree& tree, NodeId call);

// The argument of that keyword, if it is not empty, else the positional one at that place, from 0;
// kNoNode if there is neither.
NodeId FindArgument(const Arguments& arguments, absl::string_view keyword, size_t position);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_SYNTAX_CALL_ARGUMENTS_H_
