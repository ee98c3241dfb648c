#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_CUDA_CLOSURE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_CUDA_CLOSURE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "services/extractor/core/link/cuda/source.h"

namespace kernelmill::extractor::cuda {

// Beyond these the name that would be taken next is "too_large".
struct ClosureLimits {
  size_t bytes = 512u << 10;  // of what is taken
  size_t items = 1024;
  size_t looked_at = 8u << 20;  // bytes of what is looked at
};

// What one CUDA function needs of its source.
//
// The basic idea: from the words that the function uses and does not declare, follow macros and
// declarations in its own file and in what that includes, and what they use in turn. A name is
// looked for in the namespace of who uses it, then in those around, then in those that "using
// namespace" opens; all declarations of the first that has it are taken: overloads,
// specializations, forward declarations. With a class come its members that are defined outside of
// it, with types the operators on them. What stands in other branches of the conditionals around
// the function is none of it.
//
// A function in a header may need what its includer says first: where names are missing, the files
// that include it are tried as beginnings, and the first of those that misses least is it.
class CudaClosure {
 public:
  CudaClosure(const Source& source, const ItemRef& kernel, const ClosureLimits& limits);

  // Where it begins, and all that this includes.
  const View& view() const { return *view_; }
  const ItemRef& kernel() const { return kernel_; }
  const absl::flat_hash_set<ItemRef>& taken() const { return taken_; }
  // Names that nothing gives a meaning to, and why: see v1::UnresolvedName.
  const std::map<std::string, std::string>& missing() const { return missing_; }
  // Known headers that names in it need; paths with which headers of packages in it begin.
  const std::set<std::string>& headers() const { return headers_; }
  const std::set<std::string>& packages() const { return packages_; }
  // Whether a name is missing that a header of nobody knows where could declare.
  bool misses_unknown() const { return misses_unknown_; }
  // Whether something that was taken needs the kernel's own declaration, a class.
  bool needs_kernel() const { return needs_kernel_; }
  size_t looked_at() const { return looked_at_; }

 private:
  CudaClosure(const Source& source, const ItemRef& kernel, uint32_t root,
              const ClosureLimits& limits);

  void TryIncluders();
  void Run();
  void Follow(const ItemRef& ref);
  void FollowConditions(const ItemRef& ref);
  void Ask(absl::string_view word);
  bool CallsItsName() const;
  void TakeSameName();
  void Resolve(const UsedName& used, const ItemRef& user, int depth);
  bool TakeMacros(absl::string_view name, bool invoked);
  bool TakeNamed(absl::string_view path, const ItemRef& user, bool global, int depth);
  bool TakePath(const std::string& scope, absl::string_view path, const ItemRef& user, int depth);
  bool TakeMember(absl::string_view name, const ItemRef& user);
  bool TakeThroughDirectives(const UsedName& used, const ItemRef& user, int depth);
  bool IsKnown(absl::string_view path);
  bool Take(const ItemRef& ref, absl::string_view name);
  void TakeOperators();
  bool IsVisible(const ItemRef& ref) const;
  bool InOtherBranch(const ItemRef& ref) const;
  void Miss(absl::string_view name, absl::string_view reason);

  const Source* source_;
  ItemRef kernel_;
  ClosureLimits limits_;
  std::shared_ptr<const View> view_;
  ItemRefs usings_;  // directives that are visible
  // The branches that the kernel stands in, by their conditionals.
  absl::flat_hash_map<uint32_t, uint32_t> branches_;
  absl::flat_hash_set<ItemRef> taken_;
  ItemRef current_{kNoFile, 0};  // that is being followed
  std::vector<ItemRef> pending_;
  std::vector<ItemRef> types_;                 // taken
  absl::flat_hash_set<std::string> resolved_;  // per namespace and name
  std::map<std::string, std::string> missing_;
  std::set<std::string> headers_;
  std::set<std::string> packages_;
  bool misses_unknown_ = false;
  bool always_ = false;  // the last name that was found is so outside of conditionals
  bool needs_kernel_ = false;
  size_t bytes_ = 0;
  size_t looked_at_ = 0;
};

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_CUDA_CLOSURE_H_
