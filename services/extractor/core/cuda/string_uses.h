#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_STRING_USES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_STRING_USES_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/syntax_tree.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/cuda/cuda_strings.h"
#include "services/extractor/core/describe/kernel_references.h"
#include "services/extractor/core/describe/kernels.h"
#include "services/extractor/core/detect/file_values.h"

namespace kernelmill::extractor::cuda {

// The names under which pybind11 has the functions of a C++ text: m.def("name", &function). Refers
// to the text.
class BoundNames {
 public:
  explicit BoundNames(absl::string_view text);
  // Returns the last part of the function's name; empty without one.
  absl::string_view Find(absl::string_view name) const;

 private:
  absl::flat_hash_map<absl::string_view, absl::string_view> names_;
};

// The uses that a Python file makes of its strings of CUDA. Refers to its arguments.
//
// The basic idea: each expression leads back to the literals that it was made of, through the
// values of names (FileValues), elements, arguments of calls, and what functions of the file
// return. A call with a literal among its arguments, such as load_inline(...) or RawKernel(...),
// makes something of it. A call of something made, or of a member of it, launches:
//
//   m.f(...)                     m = load_inline(...), SourceModule(...)
//   k((grid,), (block,), args)   k = RawKernel(...), m.get_function("k")
//   launch(k, ...)               a function with launch in its name
//
// Nothing is executed. The number of steps is bounded.
class StringUses {
 public:
  StringUses(const ParsedFile& file, const FileValues& values, const KernelReferences& references,
             const std::vector<CudaString>& strings);

  // Returns the dotted name, resolved through the file's imports, of the first call that makes
  // something of the literal; empty if no call does.
  std::string FindMaker(const CudaLiteral& literal) const;

  // Returns whether the file fills in the literal: s % x, s.format(x), Template(s).
  bool IsTemplate(const CudaLiteral& literal) const;

  // Returns the functions around the launches of a kernel of the literal; statements of the module
  // if no function launches it. A launch by name is one of the kernel, of
  // a C++ function that launches it, or of what pybind11 calls such a function. If no name says
  // which, those count that name no other kernel of `kernels`.
  std::vector<python::NodeId> FindHosts(const CudaLiteral& literal, const v1::Kernel& kernel,
                                        const BoundNames& bound_names,
                                        const std::vector<std::string>& kernels) const;

 private:
  // A literal that an expression leads to, by the offset of its content.
  struct Reached {
    size_t literal;
    bool made;               // by a call
    absl::string_view name;  // of what is used of it; empty if unknown
  };
  using Reach = std::vector<Reached>;

  struct Use {
    python::NodeId host;
    bool in_module;
    absl::string_view name;
  };

  const Reach& Follow(python::NodeId expression);
  Reach Read(python::NodeId expression);
  void AddStrings(python::NodeId expression, Reach& reach);
  void AddCall(python::NodeId call, Reach& reach);
  void AddReturned(python::NodeId callee, Reach& reach);
  void ReadCall(const python::Call& call);
  void AddUses(const Reach& reach, python::NodeId call);
  void AddTemplates(const Reach& reach);

  const SyntaxTree& tree_;
  const FileValues& values_;
  const KernelReferences& references_;
  std::map<size_t, size_t> literals_;  // the ends of the literals' contents, by their begins
  std::map<python::NodeId, Reach> reached_;
  int depth_ = 0;
  std::map<size_t, std::string> makers_;
  std::map<size_t, bool> templates_;
  std::map<size_t, std::vector<Use>> uses_;
};

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_STRING_USES_H_
