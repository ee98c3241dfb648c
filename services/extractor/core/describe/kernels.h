#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_KERNELS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_KERNELS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/bindings.h"
#include "common/python/syntax/calls.h"
#include "common/python/syntax/imports.h"
#include "common/python/syntax/syntax_tree.h"
#include "common/python/syntax/text_lines.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/describe/features.h"
#include "services/extractor/core/describe/launcher.h"
#include "services/extractor/core/detect/functions.h"

namespace kernelmill::extractor {

using python::Bindings;
using python::Calls;
using python::ImportMap;
using python::NodeId;
using python::SyntaxTree;

class ParameterRoles;
class TuningReader;

// What is known of a file once it is parsed; all that is needed to describe its kernels. `text` is
// the file's own bytes, of the tree's text's length (see TextForParser).
struct ParsedFile {
  absl::string_view path;
  absl::string_view text;
  const SyntaxTree& tree;
  const LineIndex& lines;
  const ImportMap& imports;
  const Calls& calls;
  const Bindings& bindings;
};

// The simple statement around a call that makes a kernel of a function; the call itself where the
// statement is compound.
NodeId StatementAround(const SyntaxTree& tree, NodeId call);

// What all kernels of a text call or name, as in gl.warp_specialize([(helper, args)]), to tell
// which of them are helpers. Recursion does not count.
absl::flat_hash_set<std::string> UsedByOthers(const std::vector<v1::Kernel>& kernels);

// Kernels are launched, or they do what only a launched one does: ask for their program_id or
// store. Device functions are used by others, are methods (of an object that only device code
// has), or stand in another kernel; what is neither is taken for one as well. A Pallas function
// that stands in no other is a kernel.
v1::KernelRole RoleOf(const v1::Kernel& kernel, bool launched, bool in_kernel,
                      const absl::flat_hash_set<std::string>& used);

// The whole record of one kernel but for its role and what the link stage adds.
v1::Kernel DescribeKernel(const ParsedFile& file, const JitFunction& function,
                          const Launches& launches, const ParameterRoles& parameters,
                          FeatureFinder& features, TuningReader& tuning);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_KERNELS_H_
