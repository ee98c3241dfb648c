#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_FILE_VALUES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_FILE_VALUES_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/local_names.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::extractor {

using python::LocalNames;
using python::NodeId;
using python::SyntaxTree;

// The definitions and expressions of a file that an expression may stand for. Immutable; refers to
// its arguments.
//
// The basic idea: one step at a time, and only through what the text shows. A name has its values
// in the scopes around it, the elements that a loop gives it, or a parameter's default; `A.f`,
// `A().f`, `self.f`, `cls.f` and `super().f` have the members of a class; `ns.f`, `d["f"]` and
// `d.get("f")` have what the file puts there. Nothing is executed, so an expression has all the
// values that it may have.
class FileValues {
 public:
  FileValues(const SyntaxTree& tree, const LocalNames& names);

  // Returns the values of an expression, one step on; empty if they are not in the file.
  std::vector<NodeId> Follow(NodeId expression) const {
    int steps = kMaxSteps;
    return Follow(expression, steps);
  }

  // Returns what a loop over the expression gives its variable: the elements of lists and the like.
  std::vector<NodeId> ListElements(NodeId iterable) const;

  // Returns the iterable of the innermost loop or comprehension around the name that binds it;
  // kNoNode if no loop does.
  NodeId FindIterable(NodeId name) const;

  // Returns the default of the parameter that a name is; kNoNode if it has none.
  NodeId FindDefault(NodeId name) const;

  // Returns the members of a class, or of an instance or a namespace that a call makes, with their
  // names.
  std::vector<std::pair<absl::string_view, NodeId>> ListMembers(NodeId value) const;

 private:
  // The most steps of one question; each function below counts them down.
  static constexpr int kMaxSteps = 256;

  using Values = std::vector<NodeId>;
  using Path = std::vector<size_t>;  // the places in a loop's target: 1 is `f` in `for n, f in ...`

  Values Follow(NodeId expression, int& steps) const;
  Values FollowAttribute(NodeId attribute, int& steps) const;
  Values FollowSubscript(NodeId subscript, int& steps) const;
  Values FollowLoop(NodeId name, int& steps) const;
  Values FollowGet(NodeId call, int& steps) const;
  void AddAssignments();
  void AddAssignment(const std::string& target, NodeId value);
  Values ListHolders(NodeId object, int& steps) const;
  void AddMembers(NodeId holder, absl::string_view name, int& steps, Values& found) const;
  void AddElements(NodeId iterable, const Path& path, size_t at, int& steps, Values& found) const;
  void AddElementsOfCall(NodeId call, const Path& path, size_t at, int& steps, Values& found) const;
  void AddElement(NodeId element, const Path& path, size_t at, int& steps, Values& found) const;
  void AddEntries(NodeId mapping, absl::string_view key, int& steps, Values& found) const;
  NodeId FindLoop(NodeId name, Path& path) const;
  NodeId FindClass(NodeId object) const;
  NodeId FindClassAround(NodeId node) const;

  const SyntaxTree& tree_;
  const LocalNames& names_;
  // The values of attributes and entries, by the text of the target: "ns.f", "d['f']".
  absl::flat_hash_map<std::string, Values> assigned_;
};

// Returns the first child that is code.
NodeId FirstExpression(const SyntaxTree& tree, NodeId node);

// Returns the text in the quotes of a plain string; empty for any other expression.
absl::string_view StringIn(const SyntaxTree& tree, NodeId node);

// Returns whether the expression is one of its parts: a if b else c, a or b, a and b.
bool IsChoice(const SyntaxTree& tree, NodeId node);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_FILE_VALUES_H_
