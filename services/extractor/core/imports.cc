#include "services/extractor/core/imports.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace kernelmill::extractor {
namespace {

// How many levels of CPython's tree a node adds above its statements, by itself.
int LevelsOf(Kind kind) {
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

// CPython nests each elif in the else of what comes before.
void AddElifLevels(const SyntaxTree& tree, NodeId if_statement, std::vector<int>& levels) {
  int elifs = 0;
  for (NodeId child = tree.FirstChild(if_statement); child != kNoNode;
       child = tree.NextSibling(child)) {
    if (tree.KindOf(child) == Kind::kElifClause) levels[child] = ++elifs;
    if (tree.KindOf(child) == Kind::kElseClause) levels[child] = elifs;
  }
}

// Import statements in the order of a breadth-first walk of CPython's tree. Within a level that is
// the order of the text, since statement lists come in it.
std::vector<NodeId> ImportsBreadthFirst(const SyntaxTree& tree) {
  std::vector<NodeId> imports = ImportsIn(tree, 0);
  const bool flat = std::all_of(imports.begin(), imports.end(),
                                [&](NodeId import) { return tree[import].parent == 0; });
  if (flat) return imports;
  std::vector<int> levels(tree.size(), 0);
  for (NodeId node = 0; node < tree.size(); ++node) {
    const Kind kind = tree.KindOf(node);
    const NodeId parent = tree[node].parent;
    levels[node] += LevelsOf(kind) + (parent == kNoNode ? 0 : levels[parent]);
    if (kind == Kind::kIfStatement) AddElifLevels(tree, node, levels);
  }
  std::stable_sort(imports.begin(), imports.end(),
                   [&](NodeId a, NodeId b) { return levels[a] < levels[b]; });
  return imports;
}

// What an imported name is called in the file, and in its module.
struct ImportedName {
  std::string name;
  std::string alias;  // empty: none
};

std::vector<ImportedName> NamesOf(const SyntaxTree& tree, NodeId statement) {
  std::vector<ImportedName> names;
  for (NodeId child = tree.FirstChild(statement); child != kNoNode;
       child = tree.NextSibling(child)) {
    if (tree[child].field == Field::kModuleName) continue;
    if (tree.KindOf(child) == Kind::kDottedName) {
      names.push_back({DottedImportName(tree, child), ""});
    } else if (tree.KindOf(child) == Kind::kAliasedImport) {
      const NodeId name = tree.Child(child, Field::kName);
      const NodeId alias = tree.Child(child, Field::kAlias);
      if (name == kNoNode || alias == kNoNode) continue;
      names.push_back({DottedImportName(tree, name), std::string(tree.TextOf(alias))});
    }
  }
  return names;
}

// The module of a relative from-import: "..a.b".
std::string RelativeModuleOf(const SyntaxTree& tree, NodeId statement) {
  const NodeId module = tree.Child(statement, Field::kModuleName);
  if (module == kNoNode || tree.KindOf(module) != Kind::kRelativeImport) return "";
  std::string dotted(tree.TextOf(module));
  dotted.erase(std::remove_if(dotted.begin(), dotted.end(), absl::ascii_isspace), dotted.end());
  return dotted;
}

// The module of a from-import; empty for a relative one.
std::string ModuleOf(const SyntaxTree& tree, NodeId statement) {
  if (tree.KindOf(statement) == Kind::kFutureImportStatement) return "__future__";
  const NodeId module = tree.Child(statement, Field::kModuleName);
  if (module == kNoNode || tree.KindOf(module) != Kind::kDottedName) return "";
  return DottedImportName(tree, module);
}

// Level and module of a from-import, into `imported`.
void SetOrigin(const SyntaxTree& tree, NodeId statement, v1::ImportedName& imported) {
  const NodeId module = tree.Child(statement, Field::kModuleName);
  if (module == kNoNode || tree.KindOf(module) != Kind::kRelativeImport) {
    imported.set_module(ModuleOf(tree, statement));
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

void ImportMap::Add(const SyntaxTree& tree, NodeId statement) {
  if (tree.KindOf(statement) == Kind::kImportStatement) {
    for (const ImportedName& imported : NamesOf(tree, statement)) {
      const std::string head = imported.name.substr(0, imported.name.find('.'));
      if (imported.alias.empty()) {
        names_[head] = head;
      } else {
        names_[imported.alias] = imported.name;
      }
    }
    return;
  }
  const std::string module = ModuleOf(tree, statement);
  const std::string relative = RelativeModuleOf(tree, statement);
  if (module.empty() && relative.empty()) return;
  if (tree.Child(statement, Kind::kWildcardImport) != kNoNode) {
    const std::string& from = module.empty() ? relative : module;
    wildcards_.push_back(absl::StrCat(from, from.back() == '.' ? "" : "."));
  }
  for (const ImportedName& imported : NamesOf(tree, statement)) {
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

std::string ImportMap::Resolve(absl::string_view dotted) const {
  const absl::string_view head = dotted.substr(0, dotted.find('.'));
  const auto found = names_.find(head);
  if (found == names_.end()) return std::string(dotted);
  return absl::StrCat(found->second, dotted.substr(head.size()));
}

std::string ImportMap::Origin(absl::string_view dotted) const {
  const absl::string_view head = dotted.substr(0, dotted.find('.'));
  const auto relative = relative_.find(head);
  if (relative != relative_.end()) {
    return absl::StrCat(relative->second, dotted.substr(head.size()));
  }
  return names_.contains(head) ? Resolve(dotted) : "";
}

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

google::protobuf::RepeatedPtrField<v1::ImportedName> ImportedNames(const SyntaxTree& tree,
                                                                   NodeId statement) {
  const bool from = tree.KindOf(statement) != Kind::kImportStatement;
  v1::ImportedName origin;
  if (from) SetOrigin(tree, statement, origin);
  google::protobuf::RepeatedPtrField<v1::ImportedName> imported;
  for (const ImportedName& name : NamesOf(tree, statement)) {
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

std::vector<std::string> ImportedModules(const SyntaxTree& tree, NodeId statement) {
  std::vector<std::string> modules;
  if (tree.KindOf(statement) == Kind::kImportStatement) {
    for (const ImportedName& imported : NamesOf(tree, statement)) modules.push_back(imported.name);
  } else {
    const std::string module = ModuleOf(tree, statement);
    modules.push_back(module.empty() ? "." : module);
  }
  return modules;
}

}  // namespace kernelmill::extractor
