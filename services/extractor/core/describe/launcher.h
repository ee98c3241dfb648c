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
#include "common/python/syntax/calls.h"
#include "common/python/syntax/syntax_tree.h"
#include "common/python/syntax/text_lines.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/describe/kernel_references.h"
#include "services/extractor/core/detect/functions.h"

namespace kernelmill::extractor {

using python::Calls;
using python::kNoNode;
using python::NodeId;
using python::SyntaxTree;

// Who launches what in a text. A launch is one of
//
//   form                       where
//   k[grid](...)               k is a kernel, or may be one (KernelReferences): f = a if c else b,
//                              KERNELS["a"], partial(k), wrap_triton(k), triton.autotune(...)(k)
//   f(...)                     f = k[grid] stands above
//   k.run(...), k.warmup(...)  with a grid or a stream, as TorchInductor writes it
//   launch(k, ...)             a function of the text that launches that parameter, in any of these
//                              forms; or another one whose name says that it launches, or that is
//                              given something called a grid
//   pl.pallas_call(k, ...)     and whatever else makes a Pallas kernel of a function; of one that a
//                              decorator makes, k(...) and what k is handed to, as jax.vmap(k)
//
// The launcher of a kernel is the smallest function around the launch, unless that is a jit
// function itself. Of a kernel that only statements outside any function launch it is such a
// statement of the module, which has no name.
//
// Texts of launchers are whole lines of `text`. Those above kMaxText bytes are left out, and so are
// those that would make all of them together more than kMaxOverlap times the text: one function may
// launch many kernels. Immutable; refers to the text and what is known of it.
class Launches {
 public:
  static constexpr size_t kMaxText = 16 << 10;
  static constexpr size_t kMaxOverlap = 8;

  Launches(absl::string_view text, const SyntaxTree& tree, const LineIndex& lines,
           const Calls& calls, const KernelReferences& references,
           const std::vector<JitFunction>& functions);

  // Whether the kernel of that definition is launched, be it outside any function.
  bool IsLaunched(NodeId definition) const;

  // A launch of what the text does not define, by its dotted name as written.
  struct Other {
    std::string dotted;
    NodeId host;  // the smallest function around
  };
  // In the order of the text.
  const std::vector<Other>& others() const { return others_; }

  // The place and text of a host function; the text is empty where it is over kMaxText.
  v1::Launcher HostAt(NodeId host) const;

  // The launcher of the kernel of that definition, but for its path; nothing if no function is one.
  std::optional<v1::Launcher> LauncherOf(NodeId definition) const;

 private:
  // Of the host functions that launch a name, the first whose text is in bounds, else the first.
  struct Choice {
    NodeId host = kNoNode;
    size_t size = 0;  // of its text
    int count = 0;    // of host functions
  };

  using HostsByKey = absl::flat_hash_map<KernelKey, std::vector<NodeId>>;

  class Finder;

  Choice Choose(const std::vector<NodeId>& hosts) const;
  const Choice* ChoiceFor(NodeId definition) const;

  const absl::string_view text_;
  const SyntaxTree& tree_;
  const LineIndex& lines_;
  absl::flat_hash_map<NodeId, KernelKey> keys_;  // by definition
  absl::flat_hash_set<KernelKey> launched_;
  absl::flat_hash_map<KernelKey, Choice> choices_;
  std::vector<Other> others_;
  absl::flat_hash_set<NodeId> with_text_;  // definitions of kernels whose launcher is in bounds
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_LAUNCHER_H_
