#ifndef KERNELMILL_CLIENT_EVALUATE_HONESTY_STORED_VALUES_H_
#define KERNELMILL_CLIENT_EVALUATE_HONESTY_STORED_VALUES_H_

#include <map>
#include <set>

#include "client/evaluate/honesty/kernel_facts.h"
#include "common/python/parse/parsed_text.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::client {

// The stores of a kernel, by their calls.
struct StoredValues {
  // Those whose value is loaded from the same place of another tensor, or of the same one: the
  // address of the load.
  std::map<python::NodeId, python::NodeId> copies;
  // Those to an address that is the same for all programs, of a value that is not.
  std::set<python::NodeId> races;
};

// Reads the values of a kernel's stores. The kernel's statements are followed in their order. Each
// value is kept in a normal form, a sum of products, in which -(-x), x * 0.5 * 2, x + y - y and
// log(exp(x)) are x; so are casts of x, and minima, maxima and selections of x and x. Calls of
// other kernels in `kernels` are followed too. A name that a loop or a condition changes has an
// unknown value in the loop and after both.
StoredValues ReadStoredValues(const python::ParsedText& text, const KernelFacts& kernel,
                              const std::map<python::NodeId, KernelFacts>& kernels);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_HONESTY_STORED_VALUES_H_
