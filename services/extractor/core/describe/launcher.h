#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_LAUNCHER_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_LAUNCHER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/syntax_tree.h"
#include "common/python/syntax/text_lines.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/describe/kernel_references.h"
#include "services/extractor/core/detect/functions.h"

namespace kernelmill::extractor {

using python::kNoNode;
using python::NodeId;
using python::SyntaxTree;

struct ParsedFile;  // kernels.h

// clang-format off
// The launches of a text, and the launchers of its kernels. A launch is one of
//
//   form                       if
//   k[grid](...)               k is a kernel, or may be one (KernelReferences): f = a if c else b,
//                              KERNELS["a"], partial(k), wrap_triton(k), triton.autotune(...)(k)
//   f(...)                     f = k[grid] is above
//   check(k[grid])(...)        whatever check is
//   k(...).launch(...)         whatever else the call has; the host function may be one of the
//                              language, such as a @cute.jit
//   k.forall(n)(...)           whatever else the call has, as Numba has it
//   k(...), f(...)             the language runs kernels so (Language.runs_by_call); f = compile(k),
//                              f = k.compile(), f = make() that returns k
//   k.run(...), k.warmup(...)  there is a grid or a stream, as TorchInductor writes it
//   launch(k, ...)             a function of the text launches this parameter, in any of these
//                              forms; or another function has launch in its name, or an argument
//                              called grid, or the language says so (Language.launchers)
//   pl.pallas_call(k, ...)     it, or anything else, makes a function a Pallas kernel; for one made
//                              by a decorator, k(...) and calls with k as an argument: jax.vmap(k)
//
// The basic idea: one pass over all calls finds the launches, and each launch's expression is
// followed to the kernels that it may be. If it leads to a parameter of the function around, that
// function launches whatever it is given, so the calls of the function become launches of their
// arguments in the next round. The rounds end when no new parameters come up.
//
// The launcher of a kernel is the smallest function around the launch, unless that is a jit
// function itself. If only statements outside any function launch the kernel, it is such a
// statement of the module, which has no name. A method launches the kernels of its own class; those
// of a class below have it as launcher if nothing else launches them. Of a name with several definitions each has the
// launches up to the next one, if there are any.
//
// Texts of launchers are whole lines of `text`. A text over kMaxText bytes is left out. One
// function may launch many kernels, so texts are also left out once all together exceed kMaxOverlap
// times the text. Immutable; refers to its arguments.
// clang-format on
class Launches {
 public:
  static constexpr size_t kMaxText = 16 << 10;
  static constexpr size_t kMaxOverlap = 8;

  Launches(const ParsedFile& file, const KernelReferences& references,
           const std::vector<JitFunction>& functions);

  // Returns whether the kernel is launched, in a function or outside any.
  bool IsLaunched(NodeId definition) const;

  // A launch of a kernel that the text does not define, by its dotted name as written.
  struct Other {
    std::string dotted;
    NodeId host;  // the smallest function around
  };
  // In the order of the text.
  const std::vector<Other>& others() const { return others_; }

  // Returns the place and text of a host function. The text is empty if it is over kMaxText.
  v1::Launcher HostAt(NodeId host) const;

  // Returns the launcher of a kernel without its path; nullopt if nothing launches it.
  std::optional<v1::Launcher> FindLauncher(NodeId definition) const;

 private:
  // The host function that is chosen for a kernel: the first whose text is in bounds, else the
  // first.
  struct Choice {
    NodeId host = kNoNode;
    size_t size = 0;  // length of its text
    int count = 0;    // number of all host functions
  };

  using HostsByKey = absl::flat_hash_map<KernelKey, std::vector<NodeId>>;

  class Finder;

  Choice Choose(const std::vector<NodeId>& hosts) const;
  void ChooseFor(std::vector<NodeId>& definitions, const std::vector<NodeId>& hosts);
  const Choice* FindChoice(NodeId definition) const;

  const absl::string_view text_;
  const SyntaxTree& tree_;
  const LineIndex& lines_;
  absl::flat_hash_map<NodeId, KernelKey> keys_;  // by definition
  absl::flat_hash_set<KernelKey> launched_;
  absl::flat_hash_map<NodeId, Choice> choices_;  // by definition
  std::vector<Other> others_;
  absl::flat_hash_set<NodeId> with_text_;  // definitions of kernels whose launcher's text is kept
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_LAUNCHER_H_
