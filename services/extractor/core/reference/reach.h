#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_REACH_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_REACH_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "services/extractor/core/link/source_scope.h"
#include "services/extractor/core/reference/source_facts.h"

namespace kernelmill::extractor {

// The kernels that the definitions of a source reach, through whatever they use: launchers,
// re-exports, autograd classes, modules, registered operators.
//
// The basic idea: a definition is a node, and an edge leads to each definition that it uses. From
// each kernel a breadth-first search goes against the edges, and leaves at each node the next one
// on a shortest way to the kernel. Tables of functions are no way, since a dictionary of all
// operators does not say which one is used. Nor are definitions that reach very many kernels, such
// as a function that patches a model.
//
// A way through what only the method `backward` of a class uses is a way for gradients.
class Reach {
 public:
  using Node = int32_t;
  static constexpr Node kNone = -1;

  // A way from a node to a kernel.
  struct Way {
    int32_t kernel;  // as AddKernel numbers it
    Node next;       // kNone: the node is the kernel
    int16_t length;
    bool gradient;
  };

  // `paths` are the source's Python files. All must outlive this object.
  Reach(SourceScope& scope, const std::vector<std::string>& paths, const SourceFacts& facts);

  // Adds the kernel with that number. Call it for all, in the order of the numbers, then FindWays.
  void AddKernel(int32_t kernel, const std::string& path, const std::string& qualname);
  void FindWays();

  Node Find(const Origin& origin) const;
  // Returns the functions that an operator's name is registered for.
  const std::vector<Node>& FindOperator(absl::string_view name) const;
  bool has_operators() const { return !operators_.empty(); }
  // Returns the ways from a node, by kernel. Empty for a node that reaches too many.
  const std::vector<Way>& WaysFrom(Node node) const;
  const Way* FindWay(Node node, int32_t kernel) const;

  // Returns the kernel that is defined in a function, by its qualified name; -1 without one.
  int32_t FindLocal(const std::string& path, const std::string& qualname) const;
  // Returns the definition that a kernel is, or is in.
  Node FindNode(int32_t kernel) const;
  // Returns the first function or class, by path and name, that uses the kernel and is no kernel
  // itself; those of tests come last. kNone without one.
  Node FindUser(int32_t kernel) const;

  const std::string& GetPath(Node node) const { return nodes_[node].text->path; }
  const std::string& GetName(Node node) const { return nodes_[node].name; }

  // The most kernels that a node may reach, and the longest way.
  static constexpr size_t kMaxKernels = 48;
  static constexpr int kMaxLength = 12;

 private:
  struct Entry {
    const TextDefinitions* text;
    std::string name;
    bool passable = true;            // a way may lead through it
    std::vector<Node> users;         // nodes that use it
    std::vector<Node> for_gradient;  // the users that do so in `backward` alone
    std::vector<Way> ways;
  };
  using Key = std::pair<const TextDefinitions*, std::string>;

  void AddNodes(const TextDefinitions& text);
  void AddEdges(const SourceFacts& facts, Node node);
  void AddEdge(Node user, Node used, bool gradient);
  void Search(int32_t kernel, Node from);

  SourceScope& scope_;
  std::vector<Entry> nodes_;
  absl::flat_hash_map<Key, Node> by_name_;
  absl::flat_hash_map<std::string, std::vector<Node>> operators_;
  std::vector<std::pair<int32_t, Node>> kernels_;
  absl::flat_hash_map<int32_t, Node> node_of_;  // by kernel
  absl::flat_hash_set<Node> kernel_nodes_;
  absl::flat_hash_map<std::pair<std::string, std::string>, int32_t> locals_;  // by path, qualname
  size_t ways_ = 0;
};

// Returns every definition that a dotted name of a text's module level may mean, also where a try
// or an if imports it from several files.
std::vector<const Origin*> FindOrigins(SourceScope& scope, const TextDefinitions& text,
                                       const std::string& dotted);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_REACH_H_
