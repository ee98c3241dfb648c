#include "services/extractor/core/describe/definitions.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "common/python/syntax/calls.h"

namespace kernelmill::extractor {

// How the definitions of a file are found:
//
// 1. StatementFinder lists the statements that may be definitions. A compound statement that holds
//    a kernel is listed in parts and as a whole.
// 2. Statements that share lines are described as one definition: the names that it binds or
//    changes, the names that it uses, the modules that it imports, its text.
// 3. MarkUsed follows names from the kernels to definitions, and from these to further ones.
// 4. All marked definitions are kept, and of the others those that fit into the bounds.

using python::Bindings;
using python::Field;
using python::Kind;
using python::kNoNode;
using python::NodeId;
using python::SyntaxTree;

namespace {

// Bounds the depth of assignment targets within targets.
constexpr int kMaxDefinitionDepth = 64;

// Returns whether a method of this name changes its object.
bool Mutates(absl::string_view method) {
  static constexpr absl::string_view kMethods[] = {"add",    "append",     "extend",
                                                   "insert", "setdefault", "update"};
  return std::find(std::begin(kMethods), std::end(kMethods), method) != std::end(kMethods);
}

bool IsTargetList(Kind kind) {
  switch (kind) {
    case Kind::kPatternList:
    case Kind::kTuplePattern:
    case Kind::kListPattern:
    case Kind::kListSplatPattern:
    case Kind::kTuple:
    case Kind::kList:
    case Kind::kExpressionList:
    case Kind::kParenthesizedExpression:
      return true;
    default:
      return false;
  }
}

// Collects the names whose objects expression statements change.
class ChangeFinder {
 public:
  ChangeFinder(const SyntaxTree& tree, const Bindings& bindings)
      : tree_(tree), bindings_(bindings) {}

  // Reads an expression statement.
  void Add(NodeId statement) {
    NodeId inner = tree_.FirstChild(statement);
    if (inner == kNoNode) return;
    if (tree_.GetKind(inner) == Kind::kCall) return AddCall(inner);
    // a = b = v is an assignment on the right side of another.
    for (int depth = 0; depth < kMaxDefinitionDepth && inner != kNoNode; ++depth) {
      const NodeId left = tree_.Child(inner, Field::kLeft);
      const NodeId right = tree_.Child(inner, Field::kRight);
      if (left == kNoNode || right == kNoNode) return;  // x.a: int
      AddTarget(left, 0);
      inner = right;
    }
  }

  const std::vector<absl::string_view>& names() const { return names_; }

 private:
  void AddTarget(NodeId target, int depth) {
    const Kind kind = tree_.GetKind(target);
    if (kind == Kind::kAttribute || kind == Kind::kSubscript) return AddChain(target);
    if (!IsTargetList(kind) || depth > kMaxDefinitionDepth) return;
    for (NodeId child = tree_.FirstChild(target); child != kNoNode;
         child = tree_.NextSibling(child)) {
      AddTarget(child, depth + 1);
    }
  }

  // x.append(v) and the like, and setattr(x, ...).
  void AddCall(NodeId call) {
    const NodeId function = tree_.Child(call, Field::kFunction);
    if (function == kNoNode) return;
    if (tree_.GetKind(function) == Kind::kAttribute) {
      const NodeId method = tree_.Child(function, Field::kAttribute);
      const NodeId object = tree_.Child(function, Field::kObject);
      if (method != kNoNode && object != kNoNode && Mutates(tree_.GetText(method))) {
        AddChain(object);
      }
    } else if (tree_.GetKind(function) == Kind::kIdentifier &&
               tree_.GetText(function) == "setattr") {
      const NodeId object = FindArgument(GetArguments(tree_, call), "", 0);
      if (object != kNoNode) AddChain(object, true);
    }
  }

  // Adds the x of x.a[0].b.
  void AddChain(NodeId node, bool of_attribute = false) {
    for (int depth = 0; depth < kMaxDefinitionDepth && node != kNoNode; ++depth) {
      const Kind kind = tree_.GetKind(node);
      if (kind == Kind::kIdentifier) {
        const absl::string_view name = tree_.GetText(node);
        if (!of_attribute || bindings_.Defines(name)) names_.push_back(name);
        return;
      }
      if (kind != Kind::kAttribute && kind != Kind::kSubscript) return;
      of_attribute = of_attribute || kind == Kind::kAttribute;
      node = tree_.Child(node, kind == Kind::kAttribute ? Field::kObject : Field::kValue);
    }
  }

  const SyntaxTree& tree_;
  const Bindings& bindings_;
  std::vector<absl::string_view> names_;
};

// Returns whether the statement is `if __name__ == ...`.
bool IsMainGuard(const SyntaxTree& tree, NodeId statement) {
  if (tree.GetKind(statement) != Kind::kIfStatement) return false;
  NodeId condition = tree.FirstChild(statement);
  while (condition != kNoNode && IsLayout(tree.GetKind(condition))) {
    condition = tree.NextSibling(condition);
  }
  return condition != kNoNode && absl::StartsWith(tree.GetText(condition), "__name__");
}

// clang-format off
// Returns the names whose objects a statement of the module changes without binding them, itself or
// in its blocks, but not in functions there. Such a statement belongs to the name's definition:
//   x[...] = v   x[...] += v              an element, also of an element: x[i][j] = v
//   x.append(v)  and others in Mutates    also of an element: x[i].append(v)
//   x.a = v      x.a: T = v    x.a += v   an attribute, also x.a[...] = v and x.a.append(v)
//   setattr(x, "a", v)
// An attribute counts only if the text's module level itself defines x, as a function, a class or a
// value. If x is imported, the statement is a setting of another module for the host
// (torch.backends.x.y = v, os.environ["X"] = "1").
//
// A statement that only hands x on does not change it: table[name] = x, library.impl("x", x) and
// register(x) belong to no definition of x. Statements under `if __name__ == ...` do not run on an
// import. The result may hold a name twice.
// clang-format on
std::vector<absl::string_view> FindChangedNames(const SyntaxTree& tree, const Bindings& bindings,
                                                NodeId statement) {
  ChangeFinder finder(tree, bindings);
  if (tree.GetKind(statement) == Kind::kExpressionStatement) {
    finder.Add(statement);
    return finder.names();
  }
  // Functions, classes and main guards are skipped. Both lists of nodes are in the order of the
  // text, so that one pass is enough.
  std::vector<NodeId> skipped;
  for (const Kind each : {Kind::kFunctionDefinition, Kind::kClassDefinition}) {
    const auto nodes = tree.Of(each, statement);
    skipped.insert(skipped.end(), nodes.begin(), nodes.end());
  }
  for (const NodeId node : tree.Of(Kind::kIfStatement, statement)) {
    if (IsMainGuard(tree, node)) skipped.push_back(node);
  }
  std::sort(skipped.begin(), skipped.end());
  NodeId skipped_end = 0;
  auto next = skipped.begin();
  for (const NodeId node : tree.Of(Kind::kExpressionStatement, statement)) {
    for (; next != skipped.end() && *next < node; ++next) {
      skipped_end = std::max(skipped_end, tree[*next].subtree_end);
    }
    if (node >= skipped_end) finder.Add(node);
  }
  return finder.names();
}

// Bounds on definitions that none of the file's own kernels uses: one definition, and all of a
// file. Kernels import short definitions from other files; long ones are host code.
constexpr size_t kMaxImportableDefinition = 32u << 10;
constexpr size_t kMaxImportableFile = 1u << 20;

struct Lines {
  int first = 0;
  int last = 0;
};

// A statement that may be a definition.
struct Statement {
  NodeId node;
  int first_line;
  int last_line;
  Lines block;               // see Definition.block_first_line
  bool in_function = false;  // an import in a function around a kernel
};

bool IsSkipped(Kind kind) {
  return kind == Kind::kToken || kind == Kind::kComment || kind == Kind::kLineContinuation;
}

// Returns whether a statement of this kind has blocks and opens no scope.
bool IsCompound(Kind kind) {
  switch (kind) {
    case Kind::kIfStatement:
    case Kind::kTryStatement:
    case Kind::kWithStatement:
    case Kind::kForStatement:
    case Kind::kWhileStatement:
    case Kind::kMatchStatement:
      return true;
    default:
      return false;
  }
}

// Returns whether nodes of this kind lie between a compound statement and its inner statements.
bool IsBlockLike(Kind kind) {
  switch (kind) {
    case Kind::kBlock:
    case Kind::kElifClause:
    case Kind::kElseClause:
    case Kind::kExceptClause:
    case Kind::kExceptGroupClause:
    case Kind::kFinallyClause:
    case Kind::kCaseClause:
    case Kind::kError:
      return true;
    default:
      return false;
  }
}

// Finds the statements that may be definitions: one pass over the tree that steps over functions
// and classes, and into compound statements only if they hold a kernel.
class StatementFinder {
 public:
  StatementFinder(const ParsedFile& file, const std::vector<JitFunction>& functions)
      : file_(file), tree_(file.tree), functions_(functions) {}

  // Returns every statement that may be a definition, sorted by line. `block` is the outermost
  // compound statement that is taken apart around the node; parts of it have its lines.
  std::vector<Statement> Statements() {
    std::vector<Statement> found;
    NodeId node = 1;
    NodeId block_end = 0;
    Lines block;
    while (node < tree_.size()) {
      if (node >= block_end) block = {};
      const Kind kind = tree_.GetKind(node);
      const bool taken_apart = IsCompound(kind) && HoldsKernel(node);
      if (taken_apart && node >= block_end) {
        block = GetLines(node);
        block_end = tree_[node].subtree_end;
        blocks_.push_back({node, block.first, block.last, block});
      }
      const bool opened = IsBlockLike(kind) || taken_apart;
      if (!opened && !IsSkipped(kind)) Add({node, 0, 0, block}, found);
      node = opened ? node + 1 : tree_[node].subtree_end;
    }
    AddInnerImports(found);
    std::stable_sort(found.begin(), found.end(), [](const Statement& a, const Statement& b) {
      return a.first_line < b.first_line;
    });
    return found;
  }

  // The statements that are there in parts, as wholes; without those within others.
  const std::vector<Statement>& blocks() const { return blocks_; }

 private:
  Lines GetLines(NodeId node) const {
    return {file_.lines.LineAt(tree_[node].start),
            file_.lines.LineAt(tree_[tree_.LastToken(node)].end - 1)};
  }

  bool HoldsKernel(NodeId node) const {
    const auto first =
        std::lower_bound(functions_.begin(), functions_.end(), node,
                         [](const JitFunction& f, NodeId at) { return f.decorated < at; });
    return first != functions_.end() && first->decorated < tree_[node].subtree_end;
  }

  // Adds a statement that begins a line or shares one with the last. Expressions in the head of an
  // opened statement come by here as well, but they do neither.
  void Add(Statement statement, std::vector<Statement>& found) const {
    const auto [first, last] = GetLines(statement.node);
    statement.first_line = first;
    statement.last_line = last;
    if ((!found.empty() && found.back().last_line == first) || BeginsLine(statement.node, first)) {
      found.push_back(statement);
    }
  }

  bool BeginsLine(NodeId node, int line) const {
    const size_t begin = file_.lines.Begin(line);
    absl::string_view before = file_.text.substr(begin, tree_[node].start - begin);
    if (line == 1 && before.substr(0, 3) == "\xef\xbb\xbf") before.remove_prefix(3);
    return before.find_first_not_of(" \t\f") == absl::string_view::npos;
  }

  // Adds imports in the functions around a kernel, which the kernel sees as free names. Each
  // function is read once, however many kernels it holds.
  void AddInnerImports(std::vector<Statement>& found) const {
    absl::flat_hash_set<NodeId> seen;
    for (const JitFunction& function : functions_) {
      for (NodeId at = tree_[function.decorated].parent; at != kNoNode && seen.insert(at).second;
           at = tree_[at].parent) {
        if (tree_.GetKind(at) != Kind::kFunctionDefinition) continue;
        for (const NodeId node : ImportsIn(tree_, at)) {
          if (seen.insert(node).second) Add({node, 0, 0, {}, true}, found);
        }
      }
    }
  }

  const ParsedFile& file_;
  const SyntaxTree& tree_;
  const std::vector<JitFunction>& functions_;
  std::vector<Statement> blocks_;
};

// Whatever is no import, class or function counts as a constant, a compound statement too.
v1::Definition::Kind GetKind(const SyntaxTree& tree, NodeId node) {
  const Kind kind = tree.GetKind(node);
  if (IsImport(kind)) return v1::Definition::KIND_IMPORT;
  if (kind == Kind::kClassDefinition) return v1::Definition::KIND_CLASS;
  if (kind == Kind::kFunctionDefinition) return v1::Definition::KIND_FUNCTION;
  if (kind == Kind::kDecoratedDefinition) {
    const NodeId inner = tree.Child(node, Field::kDefinition);
    const bool is_class = inner != kNoNode && tree.GetKind(inner) == Kind::kClassDefinition;
    return is_class ? v1::Definition::KIND_CLASS : v1::Definition::KIND_FUNCTION;
  }
  return v1::Definition::KIND_CONSTANT;
}

template <typename Values, typename Value>
void Append(const Values& more, std::vector<Value>& values) {
  values.insert(values.end(), more.begin(), more.end());
}

void AddModules(const SyntaxTree& tree, NodeId root, std::vector<std::string>& modules) {
  for (const NodeId node : ImportsIn(tree, root)) {
    for (std::string& module : ImportedModules(tree, node)) modules.push_back(std::move(module));
  }
}

// Sorts the values and drops repetitions.
template <typename Value>
void SetSorted(std::vector<Value>& values, google::protobuf::RepeatedPtrField<std::string>& field) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  field.Reserve(static_cast<int>(values.size()));
  for (Value& value : values) *field.Add() = std::string(std::move(value));
}

// Adds the strings in an assignment to __all__.
void AddExported(const SyntaxTree& tree, NodeId root, v1::Definition& definition) {
  for (const NodeId node : tree.Of(Kind::kString, root)) {
    absl::string_view text = tree.GetText(node);
    if (text.size() < 2) continue;
    definition.add_exported(std::string(text.substr(1, text.size() - 2)));
  }
}

// Adds the names that a statement imports, itself or in its blocks. `bound` are the names that it
// binds, sorted; names that functions in it bind are not among them.
void AddImported(const SyntaxTree& tree, NodeId statement,
                 const std::vector<absl::string_view>& bound, v1::Definition& definition) {
  const Kind kind = tree.GetKind(statement);
  if (!IsImport(kind) && !IsCompound(kind)) return;
  for (const NodeId import : ImportsIn(tree, statement)) {
    auto names = ImportedNames(tree, import);
    for (v1::ImportedName& imported : names) {
      if (!std::binary_search(bound.begin(), bound.end(), absl::string_view(imported.name()))) {
        continue;
      }
      *definition.add_imported() = std::move(imported);
    }
  }
}

// Makes one definition of the statements [first, last), which share lines.
v1::Definition Describe(const ParsedFile& file, const Statement* first, const Statement* last) {
  v1::Definition definition;
  std::vector<absl::string_view> names;
  std::vector<absl::string_view> uses;
  std::vector<std::string> modules;
  auto kind = v1::Definition::KIND_UNSPECIFIED;
  int last_line = first->last_line;
  bool exports = false;
  for (const Statement* at = first; at != last; ++at) {
    // x = x + 1 uses the x of a statement before it, and so does if y: x = x + 1.
    const Kind statement = file.tree.GetKind(at->node);
    const bool simple = statement == Kind::kExpressionStatement;
    const std::vector<absl::string_view> bound = file.bindings.BoundNames(at->node);
    Append(bound, names);
    Append(file.bindings.FreeNames(at->node, simple || statement == Kind::kIfStatement), uses);
    std::vector<absl::string_view> changed;
    if (simple || IsCompound(statement)) {
      changed = FindChangedNames(file.tree, file.bindings, at->node);
    }
    Append(changed, names);
    AddModules(file.tree, at->node, modules);
    AddImported(file.tree, at->node, bound, definition);
    exports = exports || std::find(changed.begin(), changed.end(), "__all__") != changed.end() ||
              std::find(bound.begin(), bound.end(), "__all__") != bound.end();
    if (exports) AddExported(file.tree, at->node, definition);
    if (at->in_function) definition.set_in_function(true);
    kind = std::max(kind, GetKind(file.tree, at->node));
    last_line = std::max(last_line, at->last_line);
  }
  const size_t begin = file.lines.Begin(first->first_line);
  definition.set_path(std::string(file.path));
  definition.set_kind(kind);
  definition.set_block_first_line(first->block.first);
  definition.set_block_last_line(first->block.last);
  SetSorted(names, *definition.mutable_names());
  SetSorted(uses, *definition.mutable_uses());
  SetSorted(modules, *definition.mutable_modules());
  definition.set_text(std::string(file.text.substr(begin, file.lines.End(last_line) - begin)));
  definition.set_first_line(first->first_line);
  definition.set_last_line(last_line);
  return definition;
}

// Returns all definitions of a file.
std::vector<v1::Definition> AllDefinitions(const ParsedFile& file,
                                           const std::vector<JitFunction>& functions) {
  StatementFinder finder(file, functions);
  const std::vector<Statement> statements = finder.Statements();
  std::vector<v1::Definition> definitions;
  definitions.reserve(statements.size());
  // Statements that share a line are one definition, since a record has whole lines. A statement
  // within the one before it is not of its group.
  for (size_t first = 0; first < statements.size();) {
    size_t last = first + 1;
    while (last < statements.size() &&
           statements[last].first_line <= statements[last - 1].last_line &&
           statements[last].node >= file.tree[statements[last - 1].node].subtree_end) {
      ++last;
    }
    v1::Definition definition = Describe(file, statements.data() + first, statements.data() + last);
    if (definition.names_size() > 0) definitions.push_back(std::move(definition));
    first = last;
  }
  if (finder.blocks().empty()) return definitions;
  for (const Statement& block : finder.blocks()) {
    v1::Definition definition = Describe(file, &block, &block + 1);
    if (definition.names_size() > 0) definitions.push_back(std::move(definition));
  }
  std::stable_sort(definitions.begin(), definitions.end(),
                   [](const v1::Definition& a, const v1::Definition& b) {
                     return a.first_line() < b.first_line();
                   });
  return definitions;
}

// Returns the names bound by the statement that makes the function a kernel: g of g =
// triton.jit(f). `all` is sorted by line.
std::vector<absl::string_view> AppliedNames(const ParsedFile& file, const JitFunction& function,
                                            const std::vector<v1::Definition>& all) {
  if (function.applied_by == kNoNode) return {};
  const int line = file.lines.LineAt(file.tree[function.applied_by].start);
  const auto below =
      std::upper_bound(all.begin(), all.end(), line,
                       [](int at, const v1::Definition& d) { return at < d.first_line(); });
  if (below == all.begin()) return {};
  const v1::Definition& statement = *std::prev(below);
  if (statement.kind() != v1::Definition::KIND_CONSTANT || statement.last_line() < line) return {};
  return {statement.names().begin(), statement.names().end()};
}

// Marks the definitions that the kernels use: from the kernels' free names on, each name leads to
// its definitions, and these to the names that they use.
void MarkUsed(const ParsedFile& file, const std::vector<JitFunction>& functions,
              std::vector<v1::Definition>& all) {
  absl::flat_hash_map<absl::string_view, std::vector<size_t>> by_name;
  for (size_t i = 0; i < all.size(); ++i) {
    for (const std::string& name : all[i].names()) by_name[name].push_back(i);
  }
  // Wildcard imports may bring any name, and `from __future__ import annotations` changes how all
  // are read.
  std::vector<absl::string_view> names = {"*", "annotations"};
  for (const JitFunction& function : functions) {
    Append(file.bindings.FreeNames(function.decorated), names);
    const NodeId name = file.tree.Child(function.definition, Field::kName);
    if (name != kNoNode) names.push_back(file.tree.GetText(name));
    Append(AppliedNames(file, function, all), names);
  }
  absl::flat_hash_set<absl::string_view> seen;
  while (!names.empty()) {
    const absl::string_view name = names.back();
    names.pop_back();
    if (!seen.insert(name).second) continue;
    const auto found = by_name.find(name);
    if (found == by_name.end()) continue;
    for (const size_t i : found->second) {
      if (all[i].used()) continue;
      all[i].set_used(true);
      for (const std::string& use : all[i].uses()) names.push_back(use);
    }
  }
}

// Returns whether the definition is a class or a function with a kernel in it, which may need it.
// `functions` are in the order of the text.
bool HoldsKernel(const v1::Definition& definition, const std::vector<JitFunction>& functions) {
  const auto inner = std::upper_bound(
      functions.begin(), functions.end(), definition.first_line(),
      [](int line, const JitFunction& function) { return line < function.first_line; });
  return inner != functions.end() && inner->last_line <= definition.last_line();
}

}  // namespace

// Definitions that the kernels use or are in are always kept. All others must fit into the bounds.
std::vector<v1::Definition> FindDefinitions(const ParsedFile& file,
                                            const std::vector<JitFunction>& functions,
                                            Wanted wanted) {
  std::vector<v1::Definition> all = AllDefinitions(file, functions);
  if (!functions.empty()) MarkUsed(file, functions, all);
  size_t left = wanted == Wanted::kImportable ? kMaxImportableFile : 0;
  std::vector<v1::Definition> result;
  result.reserve(all.size());
  for (v1::Definition& definition : all) {
    const size_t size = definition.text().size();
    if (!definition.used() && !HoldsKernel(definition, functions)) {
      if (size > std::min(left, kMaxImportableDefinition)) continue;
      left -= size;
    }
    result.push_back(std::move(definition));
  }
  return result;
}

}  // namespace kernelmill::extractor
