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
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/detect/functions.h"
#include "services/extractor/core/syntax/syntax_tree.h"
#include "services/extractor/core/syntax/text_lines.h"

namespace kernelmill::extractor {

// Who launches what in a text.
//
// A launch is name[grid](...), wrap(name)[grid](...), or name.run(...) with a grid or a stream, as
// TorchInductor writes it. Names count by their last part; of kernels of one name, those count that
// the innermost function around the launch defines, or the module. The launcher of a kernel is the
// smallest function around the launch, unless that is a jit function itself.
//
// Texts of launchers are whole lines of `text`. Those above kMaxText bytes are left out, and so are
// those that would make all of them together more than kMaxOverlap times the text: one function may
// launch many kernels. Immutable; refers to the text and what is known of it.
class Launches {
 public:
  static constexpr size_t kMaxText = 16 << 10;
  static constexpr size_t kMaxOverlap = 8;

  Launches(absl::string_view text, const SyntaxTree& tree, const LineIndex& lines,
           const std::vector<JitFunction>& functions);

  // Whether a kernel of that name is launched, be it outside any function.
  bool Contains(absl::string_view name) const { return names_.contains(name); }

  // A launch of what the text does not define as a kernel, by its dotted name as written.
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

  // A kernel's name and the function that it is defined in, kNoNode outside any.
  using Key = std::pair<std::string, NodeId>;
  using HostsByKey = absl::flat_hash_map<Key, std::vector<NodeId>>;

  HostsByKey FindHosts(const std::vector<JitFunction>& functions);
  Key KeyOf(NodeId definition) const;
  Choice Choose(const std::vector<NodeId>& hosts) const;
  const Choice* ChoiceFor(NodeId definition) const;

  const absl::string_view text_;
  const SyntaxTree& tree_;
  const LineIndex& lines_;
  const std::vector<NodeId> around_;        // by node: the innermost function that it stands in
  absl::flat_hash_set<std::string> names_;  // that are launched
  absl::flat_hash_map<Key, Choice> choices_;
  std::vector<Other> others_;
  absl::flat_hash_set<NodeId> with_text_;  // definitions of kernels whose launcher is in bounds
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_LAUNCHER_H_
