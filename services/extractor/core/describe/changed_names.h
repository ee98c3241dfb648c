#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_CHANGED_NAMES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_CHANGED_NAMES_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "common/python/syntax/bindings.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::extractor {

using python::Bindings;
using python::NodeId;
using python::SyntaxTree;

// The names whose objects a statement of the module changes without binding them, itself or in its
// blocks, but not in functions there. Such a statement belongs to the name's definition:
//   x[...] = v   x[...] += v              an element, also of an element: x[i][j] = v
//   x.append(v)  and Mutates' others      likewise: x[i].append(v)
//   x.a = v      x.a: T = v    x.a += v   an attribute, also x.a[...] = v and x.a.append(v)
//   setattr(x, "a", v)
// An attribute counts only where the text's module level itself defines x, as a function, a class
// or a value. Of what it imports it would be another module's setting (torch.backends.x.y = v,
// os.environ["X"] = "1"), which is the host's.
//
// A statement that only hands x on does not change it: table[name] = x, library.impl("x", x) and
// register(x) belong to no definition of x. What stands under `if __name__ == ...` is not run by
// who imports the file. A name may stand there twice.
std::vector<absl::string_view> ChangedNames(const SyntaxTree& tree, const Bindings& bindings,
                                            NodeId statement);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_CHANGED_NAMES_H_
