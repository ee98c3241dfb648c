#include "common/python/syntax/imports.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace kernelmill::python {

// An import replaces what an earlier one bound to the name. Earlier means earlier in a
// breadth-first walk of CPython's tree: first the statements of the module, then those one level
// deeper, and so on. Our tree has other levels: it has nodes for blocks and clauses, and the elifs
// of an if are side by side, but CPython nests each in the else of the one before. Levels therefore
// counts those of CPython.

namespace {

// How many levels of CPython's tree a node adds above its statements, by itself.
int CountLevels(Kind kind) {
  switch (kind) {
    case Kind::kFunctionDefinition:
    case Kind::kClassDefinition:
    case Kind::kIfStatement:
    case Kind::kForStatement:
    case Kind::kWhileStatement:
    case Kind::kTryStatement:
    case Kind::kExceptClause:
    case Kind::kExceptGroupClause:
    case Kind::kWithStatement:
    case Kind::kMatchStatement:
    case Kind::kCaseClause:
      return 1;
    default:
      return 0;
  }
}

// How deep nodes are in CPython's tree, as far as statements go. Each node around one that is asked
// for is looked at once.
class Levels {
 public:
  explicit Levels(const SyntaxTree& tree) : tree_(tree) {}

  // Walks outwards to the first node that is known, then back, so that all nodes between become
  // known.
  int Of(NodeId node) {
    std::vector<NodeId> unknown;
    for (; node != kNoNode && !levels_.contains(node); node = tree_[node].parent) {
      unknown.push_back(node);
    }
    int level = node == kNoNode ? 0 : levels_[node];
    for (; !unknown.empty(); unknown.pop_back()) {
      const NodeId at = unknown.back();
      level += CountLevels(tree_.GetKind(at)) + ElifsAround(at);
      levels_[at] = level;
      if (tree_.GetKind(at) == Kind::kIfStatement) CountElifs(at);
    }
    return level;
  }

 private:
  // CPython nests each elif in the else of what comes before.
  void CountElifs(NodeId if_statement) {
    int elifs = 0;
    for (NodeId child = tree_.FirstChild(if_statement); child != kNoNode;
         child = tree_.NextSibling(child)) {
      if (tree_.GetKind(child) == Kind::kElifClause) elifs_[child] = ++elifs;
      if (tree_.GetKind(child) == Kind::kElseClause) elifs_[child] = elifs;
    }
  }

  int ElifsAround(NodeId clause) const {
    const auto found = elifs_.find(clause);
    return found == elifs_.end() ? 0 : found->second;
  }

  const SyntaxTree& tree_;
  absl::flat_hash_map<NodeId, int> levels_;
  absl::flat_hash_map<NodeId, int> elifs_;  // by clause, of the if statements that are known
};

// Import statements in the order of a breadth-first walk of CPython's tree. Within a level that is
// the order of the text, since statement lists come in it.
std::vector<NodeId> ImportsBreadthFirst(const SyntaxTree& tree) {
  Levels levels(tree);
  std::vector<std::pair<int, NodeId>> found;
  for (const NodeId node : ImportsIn(tree, 0)) found.emplace_back(levels.Of(node), node);
  std::sort(found.begin(), found.end());
  std::vector<NodeId> imports;
  for (const auto& [level, node] : found) imports.push_back(node);
  return imports;
}

// An imported name as the file calls it, and as its module does.
struct ImportedName {
  std::string name;
  std::string alias;  // empty: none
};

// Lists the names of an import statement, without the module of a from-import and without `*`.
std::vector<ImportedName> ListImportedNames(const SyntaxTree& tree, NodeId statement) {
  std::vector<ImportedName> names;
  for (NodeId child = tree.FirstChild(statement); child != kNoNode;
       child = tree.NextSibling(child)) {
    if (tree[child].field == Field::kModuleName) continue;
    if (tree.GetKind(child) == Kind::kDottedName) {
      names.push_back({DottedImportName(tree, child), ""});
    } else if (tree.GetKind(child) == Kind::kAliasedImport) {
      const NodeId name = tree.Child(child, Field::kName);
      const NodeId alias = tree.Child(child, Field::kAlias);
      if (name == kNoNode || alias == kNoNode) continue;
      names.push_back({DottedImportName(tree, name), std::string(tree.GetText(alias))});
    }
  }
  return names;
}

// The module of a relative from-import: "..a.b".
std::string GetRelativeModule(const SyntaxTree& tree, NodeId statement) {
  const NodeId module = tree.Child(statement, Field::kModuleName);
  if (module == kNoNode || tree.GetKind(module) != Kind::kRelativeImport) return "";
  std::string dotted(tree.GetText(module));
  dotted.erase(std::remove_if(dotted.begin(), dotted.end(), absl::ascii_isspace), dotted.end());
  return dotted;
}

// The module of a from-import; empty for a relative one.
std::string GetModule(const SyntaxTree& tree, NodeId statement) {
  if (tree.GetKind(statement) == Kind::kFutureImportStatement) return "__future__";
  const NodeId module = tree.Child(statement, Field::kModuleName);
  if (module == kNoNode || tree.GetKind(module) != Kind::kDottedName) return "";
  return DottedImportName(tree, module);
}

// Level and module of a from-import, into `imported`.
void SetOrigin(const SyntaxTree& tree, NodeId statement, v1::ImportedName& imported) {
  const NodeId module = tree.Child(statement, Field::kModuleName);
  if (module == kNoNode || tree.GetKind(module) != Kind::kRelativeImport) {
    imported.set_module(GetModule(tree, statement));
    return;
  }
  const NodeId dotted = tree.Child(module, Kind::kDottedName);
  const size_t end = dotted == kNoNode ? tree[module].end : tree[dotted].start;
  const absl::string_view text = tree.text();
  for (size_t at = tree[module].start; at < end; ++at) {
    if (text[at] == '.') imported.set_level(imported.level() + 1);
  }
  if (dotted != kNoNode) imported.set_module(DottedImportName(tree, dotted));
}

}  // namespace

bool IsImport(Kind kind) {
  return kind == Kind::kImportStatement || kind == Kind::kImportFromStatement ||
         kind == Kind::kFutureImportStatement;
}

std::vector<NodeId> ImportsIn(const SyntaxTree& tree, NodeId root) {
  std::vector<NodeId> imports;
  for (const Kind kind :
       {Kind::kImportStatement, Kind::kImportFromStatement, Kind::kFutureImportStatement}) {
    const std::span<const NodeId> found = tree.Of(kind, root);
    imports.insert(imports.end(), found.begin(), found.end());
  }
  std::sort(imports.begin(), imports.end());
  return imports;
}

ImportMap::ImportMap(const SyntaxTree& tree) {
  for (const NodeId statement : ImportsBreadthFirst(tree)) Add(tree, statement);
}

void ImportMap::Assume(absl::string_view name, absl::string_view origin) {
  names_[name] = std::string(origin);
  assumed_.emplace(name);
}

// The longest origin decides: `jax` may be assumed beside an import of jax.experimental.pallas.
bool ImportMap::IsAssumed(absl::string_view resolved) const {
  size_t longest = 0;
  bool assumed = false;
  for (const auto& [name, origin] : names_) {
    absl::string_view rest = resolved;
    const bool within = absl::ConsumePrefix(&rest, origin) && (rest.empty() || rest[0] == '.');
    if (!within || origin.size() < longest) continue;
    assumed = assumed_.contains(name) && (assumed || origin.size() > longest);
    longest = origin.size();
  }
  return assumed;
}

// Later statements replace what earlier ones bound: they come in the order of ImportsBreadthFirst.
// `import a.b` binds a; `import a.b as c` binds c to a.b. A relative import is kept apart, because
// only the file's path tells its module.
void ImportMap::Add(const SyntaxTree& tree, NodeId statement) {
  if (tree.GetKind(statement) == Kind::kImportStatement) {
    for (const ImportedName& imported : ListImportedNames(tree, statement)) {
      const std::string head = imported.name.substr(0, imported.name.find('.'));
      if (imported.alias.empty()) {
        names_[head] = head;
      } else {
        names_[imported.alias] = imported.name;
      }
    }
    return;
  }
  const std::string module = GetModule(tree, statement);
  const std::string relative = GetRelativeModule(tree, statement);
  if (module.empty() && relative.empty()) return;
  if (tree.Child(statement, Kind::kWildcardImport) != kNoNode) {
    const std::string& from = module.empty() ? relative : module;
    wildcards_.push_back(absl::StrCat(from, from.back() == '.' ? "" : "."));
  }
  for (const ImportedName& imported : ListImportedNames(tree, statement)) {
    const std::string& name = imported.alias.empty() ? imported.name : imported.alias;
    if (module.empty()) {
      const bool ends_with_dot = relative.back() == '.';
      relative_[name] = absl::StrCat(relative, ends_with_dot ? "" : ".", imported.name);
    } else {
      names_[name] = absl::StrCat(module, ".", imported.name);
      relative_.erase(name);
    }
  }
}

// Replaces the first part by what it was imported as: tl.load becomes triton.language.load.
std::string ImportMap::Resolve(absl::string_view dotted) const {
  const absl::string_view head = dotted.substr(0, dotted.find('.'));
  const auto found = names_.find(head);
  if (found == names_.end()) return std::string(dotted);
  return absl::StrCat(found->second, dotted.substr(head.size()));
}

// As Resolve, and for relative imports the module with its dots. Empty if the first part is not
// imported.
std::string ImportMap::Origin(absl::string_view dotted) const {
  const absl::string_view head = dotted.substr(0, dotted.find('.'));
  const auto relative = relative_.find(head);
  if (relative != relative_.end()) {
    return absl::StrCat(relative->second, dotted.substr(head.size()));
  }
  return names_.contains(head) ? Resolve(dotted) : "";
}

// The names that the file has for the package or for something in it. The package's own name is
// one, unless an import binds it.
std::vector<absl::string_view> ImportMap::NamesBelow(absl::string_view package) const {
  std::vector<absl::string_view> names;
  for (const auto& [name, origin] : names_) {
    absl::string_view rest = origin;
    if (absl::ConsumePrefix(&rest, package) && (rest.empty() || rest[0] == '.')) {
      names.push_back(name);
    }
  }
  if (!names_.contains(package)) names.push_back(package);
  return names;
}

std::vector<std::pair<absl::string_view, absl::string_view>> ImportMap::Origins() const {
  std::vector<std::pair<absl::string_view, absl::string_view>> origins(relative_.begin(),
                                                                       relative_.end());
  for (const auto& [name, origin] : names_) {
    if (!relative_.contains(name)) origins.emplace_back(name, origin);
  }
  std::sort(origins.begin(), origins.end());
  return origins;
}

// One entry for each name that the statement binds, and "*" for a wildcard. `import a.b` binds a,
// whose module is a.
google::protobuf::RepeatedPtrField<v1::ImportedName> ImportedNames(const SyntaxTree& tree,
                                                                   NodeId statement) {
  const bool from = tree.GetKind(statement) != Kind::kImportStatement;
  v1::ImportedName origin;
  if (from) SetOrigin(tree, statement, origin);
  google::protobuf::RepeatedPtrField<v1::ImportedName> imported;
  for (const ImportedName& name : ListImportedNames(tree, statement)) {
    v1::ImportedName& added = *imported.Add();
    added = origin;
    if (from) {
      added.set_name(name.alias.empty() ? name.name : name.alias);
      added.set_member(name.name);
    } else {
      added.set_module(name.alias.empty() ? name.name.substr(0, name.name.find('.')) : name.name);
      added.set_name(name.alias.empty() ? added.module() : name.alias);
    }
  }
  if (tree.Child(statement, Kind::kWildcardImport) != kNoNode) {
    v1::ImportedName& added = *imported.Add();
    added = origin;
    added.set_name("*");
  }
  return imported;
}

// The modules as written: one of a from-import, with its dots if it is relative; any number of an
// import.
std::vector<std::string> ImportedModules(const SyntaxTree& tree, NodeId statement) {
  std::vector<std::string> modules;
  if (tree.GetKind(statement) == Kind::kImportStatement) {
    for (const ImportedName& imported : ListImportedNames(tree, statement))
      modules.push_back(imported.name);
  } else {
    const std::string module = GetModule(tree, statement);
    modules.push_back(module.empty() ? GetRelativeModule(tree, statement) : module);
  }
  return modules;
}

}  // namespace kernelmill::python
