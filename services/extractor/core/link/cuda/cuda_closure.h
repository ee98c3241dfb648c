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
#include "common/dsl/language.h"
#include "services/extractor/core/link/cuda/known_names.h"
#include "services/extractor/core/link/cuda/source.h"

namespace kernelmill::extractor::cuda {

// Bounds of a closure. A name that would exceed them is missing as "too_large".
struct ClosureLimits {
  size_t bytes = 512u << 10;  // size of the items that are taken
  size_t items = 1024;
  size_t looked_at = 8u << 20;  // bytes that are read
};

// The items that one CUDA function needs from its source. All work is done by the constructor.
// Refers to the source; not thread-safe.
//
// The basic idea: start with the words that the function uses and does not declare. For each, take
// the macros and declarations of that name in the function's own file and in all files that it
// includes, and go on with the words that these use, until nothing new comes up. A name is looked
// up in the user's namespace, then in the namespaces around it, then in those that "using
// namespace" opens. The first namespace that has it wins, and all its declarations of the name are
// taken: overloads, specializations, forward declarations, and the invocations of macros that
// specialize it. A type brings the operators that use it; so does a vector type of CUDA, which has
// none of its own.
// Items in other branches of the conditionals around the function are not visible.
//
// A class comes without its methods: each is taken once a text that was taken mentions its name,
// whatever the name means there. So does a member that is defined outside of the class, and an
// operator whose sign is its name.
//
// A function in a header may need declarations that its includer makes first. So if names are
// missing, the files that include the header are tried as roots as well, and the one with the
// fewest missing names is used.
class CudaClosure {
 public:
  CudaClosure(const Source& source, const Part& kernel, const ClosureLimits& limits);

  // The root file and all that it includes.
  const View& view() const { return *view_; }
  const ItemRef& kernel() const { return kernel_; }
  const absl::flat_hash_set<ItemRef>& taken() const { return taken_; }
  // Returns whether the module has the method of an item that it has.
  bool HasMethod(const Part& method) const { return methods_.contains(method); }
  // Names without a declaration, and why: see v1::UnresolvedName.
  const std::map<std::string, std::string>& missing() const { return missing_; }
  // Known headers that the names need, and path prefixes of packages whose names are used.
  const std::set<std::string>& headers() const { return headers_; }
  const std::set<std::string>& packages() const { return packages_; }
  // Returns whether a missing name is unknown, so that any header might declare it.
  bool misses_unknown() const { return misses_unknown_; }
  // Returns whether an item that was taken uses the kernel's own item, which is a class then.
  bool needs_kernel() const { return needs_kernel_; }
  size_t looked_at() const { return looked_at_; }

 private:
  CudaClosure(const Source& source, const Part& kernel, uint32_t root, const ClosureLimits& limits);

  void TryIncluders();
  void Run();
  void Follow(const Part& part);
  void Mention(const Words& words);
  bool IsMentioned(absl::string_view name) const;
  void FollowConditions(const ItemRef& ref);
  void Ask(absl::string_view word);
  bool UsesItsName() const;
  void TakeSameName();
  void Resolve(const UsedName& used, const Part& part, int depth);
  bool TakeMacros(absl::string_view name, bool invoked);
  bool TakeNamed(absl::string_view path, const ItemRef& user, bool global, int depth);
  bool TakePath(const std::string& scope, absl::string_view path, const ItemRef& user, int depth);
  bool TakeMember(absl::string_view name, const ItemRef& user);
  bool TakeThroughDirectives(const UsedName& used, const Part& user, int depth);
  void TakeDirectives(const Declaration& opening);
  KnownName LookUp(absl::string_view path) const;
  bool IsKnown(absl::string_view path);
  bool Take(const ItemRef& ref, absl::string_view name);
  void TakeOrWait(const Part& part, absl::string_view name);
  void TakePart(const Part& part, absl::string_view name);
  bool Fits(const Part& part, absl::string_view name);
  void TakeOperators();
  void TakeInvocations();
  bool Specializes(const ItemRef& macro, const ItemRef& invocation);
  bool IsVisible(const ItemRef& ref) const;
  bool InOtherBranch(const ItemRef& ref) const;
  void Miss(absl::string_view name, absl::string_view reason);

  const Source* source_;
  const dsl::Language* language_;  // the kernel's
  ItemRef kernel_;
  uint32_t kernel_method_;
  ClosureLimits limits_;
  std::shared_ptr<const View> view_;
  ItemRefs usings_;  // directives that are visible
  // The branches around the kernel, by their conditionals.
  absl::flat_hash_map<uint32_t, uint32_t> branches_;
  absl::flat_hash_set<ItemRef> taken_;
  ItemRef current_{kNoFile, 0};  // the item that is being followed
  std::vector<Part> pending_;
  absl::flat_hash_set<Part> methods_;  // that were taken
  absl::flat_hash_set<absl::string_view> mentioned_;
  std::vector<absl::string_view> pasted_;
  // Methods and members that nothing mentions yet, by their names.
  absl::flat_hash_map<absl::string_view, std::vector<Part>> waiting_;
  std::vector<ItemRef> types_;                 // types that were taken
  absl::flat_hash_set<std::string> vectors_;   // CUDA's vector types that are used
  absl::flat_hash_set<std::string> resolved_;  // names that were looked up, with their namespace
  std::map<std::string, std::string> missing_;
  std::set<std::string> headers_;
  std::set<std::string> packages_;
  bool misses_unknown_ = false;
  bool always_ = false;  // the last name was found outside conditionals
  bool needs_kernel_ = false;
  size_t bytes_ = 0;
  size_t looked_at_ = 0;
};

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_CUDA_CLOSURE_H_
