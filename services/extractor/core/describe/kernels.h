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

// A parsed file: all that is needed to describe its kernels. `text` has the file's own bytes; it is
// as long as the tree's text, which may differ from it (see TextForParser).
struct ParsedFile {
  absl::string_view path;
  absl::string_view text;
  const SyntaxTree& tree;
  const LineIndex& lines;
  const ImportMap& imports;
  const Calls& calls;
  const Bindings& bindings;
};

// Returns the simple statement around a call that makes a function a kernel; the call itself if the
// statement is compound.
NodeId StatementAround(const SyntaxTree& tree, NodeId call);

// Returns the names that the kernels of a text call or mention, as in gl.warp_specialize([(helper,
// args)]), except a kernel's own name. Kernels among them are helpers.
absl::flat_hash_set<std::string> UsedByOthers(const std::vector<v1::Kernel>& kernels);

// How its file uses a function.
struct FunctionUse {
  bool launched = false;
  bool in_kernel = false;  // it is defined in a kernel
  bool returns_value = false;
};

// Decides whether a function is a kernel or a device function. A launched function is a kernel. A
// function that others use, and a method (of an object that only device code has), is a device
// function. All others are kernels if they do what only a launched function does, which is to ask
// for their program_id or to store; else device functions. In a language whose kernels return
// nothing they are kernels unless they return a value, or a decorator says that they are device
// functions. A Pallas function is a kernel unless it is in another one.
v1::KernelRole DecideRole(const v1::Kernel& kernel, const FunctionUse& use,
                          const absl::flat_hash_set<std::string>& used);

// The readers of a file that all its kernels share, since each remembers what it has read.
struct KernelReaders {
  const Launches& launches;
  const ParameterRoles& parameters;
  FeatureFinder& features;
  TuningReader& tuning;
};

// Makes the record of one kernel, except its role and the fields that the link stage sets.
v1::Kernel DescribeKernel(const ParsedFile& file, const JitFunction& function,
                          const KernelReaders& readers);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_KERNELS_H_
