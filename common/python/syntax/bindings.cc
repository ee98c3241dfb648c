#include "common/python/syntax/bindings.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "absl/container/flat_hash_set.h"
#include "common/python/syntax/imports.h"

namespace kernelmill::python {

// The tables: `scope_of_` has the scope of each node, `scopes_` the scope around each scope,
// `symbols_` each name in each scope that reads, binds or declares it, and `occurrences_` the
// identifiers that bind or read, sorted by node, so that those of a subtree are a range. One pass
// in pre-order fills them. A name is bound wherever in its scope the binding is, so that the scopes
// that bind the symbols are found after that pass. All steps are linear in the nodes, except for
// walks outwards through scopes, which kMaxScopeDepth bounds.

namespace {

// Scopes deeper than this are not searched to their end: CPython itself nests far fewer.
constexpr int kMaxScopeDepth = 256;

bool IsComprehension(Kind kind) {
  return kind == Kind::kListComprehension || kind == Kind::kSetComprehension ||
         kind == Kind::kDictionaryComprehension || kind == Kind::kGeneratorExpression;
}

// The parts of a target: x, (y, *z) and so on.
bool IsPattern(Kind kind) {
  switch (kind) {
    case Kind::kPatternList:
    case Kind::kTuplePattern:
    case Kind::kListPattern:
    case Kind::kListSplatPattern:
    case Kind::kDictionarySplatPattern:
    case Kind::kTuple:
    case Kind::kList:
    case Kind::kListSplat:
    case Kind::kExpressionList:
    case Kind::kParenthesizedExpression:
    case Kind::kAsPatternTarget:
    case Kind::kType:
    case Kind::kTypeParameter:
      return true;
    default:
      return false;
  }
}

bool IsParameterList(Kind kind) {
  return kind == Kind::kParameters || kind == Kind::kLambdaParameters;
}

// Returns whether a node of that kind may bind its children, or open another scope for them. Most
// do not: expressions, blocks.
bool MattersToChildren(Kind kind) {
  static const auto& matters = *new auto([] {
    std::array<bool, kKindCount> table{};
    for (const Kind each :
         {Kind::kAliasedImport, Kind::kAsPattern, Kind::kAssignment, Kind::kAugmentedAssignment,
          Kind::kClassDefinition, Kind::kDefaultParameter, Kind::kExceptClause, Kind::kForInClause,
          Kind::kForStatement, Kind::kFunctionDefinition, Kind::kLambda, Kind::kNamedExpression,
          Kind::kSplatPattern, Kind::kTypeAliasStatement, Kind::kTypedDefaultParameter,
          Kind::kTypedParameter}) {
      table[static_cast<size_t>(each)] = true;
    }
    for (size_t place = 0; place < kKindCount; ++place) {
      const auto each = static_cast<Kind>(place);
      table[place] |= IsComprehension(each) || IsPattern(each) || IsParameterList(each);
    }
    return table;
  }());
  return matters[static_cast<size_t>(kind)];
}

// Returns whether it is an import statement that binds a node. An import binds a name directly,
// under an alias, or as the first part of a dotted name.
bool IsImported(const SyntaxTree& tree, NodeId node) {
  const NodeId parent = tree[node].parent;
  const Kind kind = tree.GetKind(parent);
  if (kind == Kind::kDottedName) return IsImport(tree.GetKind(tree[parent].parent));
  return kind == Kind::kAliasedImport || IsImport(kind);
}

template <typename Name>
void SortUnique(std::vector<Name>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace

// Scopes come before what is in them in pre-order, so that one pass fills all tables; binders are
// found afterwards, when each scope knows all its names.
Bindings::Bindings(const SyntaxTree& tree) : tree_(tree) {
  scope_of_.resize(tree.size(), 0);
  target_.resize(tree.size(), false);
  scopes_.push_back({0, 0, ScopeKind::kModule});
  occurrences_.reserve(tree.Of(Kind::kIdentifier).size());
  for (NodeId node = 0; node < tree.size(); ++node) EnterNode(node);
  for (Symbol& symbol : symbols_) FindBinder(symbol);
}

// A node has its parent's scope, unless the parent is one of the few kinds that change it for some
// of their children.
void Bindings::EnterNode(NodeId node) {
  if (tree_.GetKind(node) == Kind::kToken) return;  // neither named nor looked below
  const NodeId parent = tree_[node].parent;
  if (parent != kNoNode && MattersToChildren(tree_.GetKind(parent))) {
    scope_of_[node] = FindChildScope(node);
    target_[node] = IsTarget(node);
  } else if (parent != kNoNode) {
    scope_of_[node] = scope_of_[parent];
  }
  const Kind kind = tree_.GetKind(node);
  if (kind == Kind::kFunctionDefinition || kind == Kind::kLambda) {
    OpenScope(node, ScopeKind::kFunction);
  } else if (kind == Kind::kClassDefinition) {
    OpenScope(node, ScopeKind::kClass);
  } else if (IsComprehension(kind)) {
    OpenScope(node, ScopeKind::kComprehension);
  } else if (kind == Kind::kIdentifier) {
    AddIdentifier(node);
  } else if (kind == Kind::kWildcardImport) {
    Bind(node);
  }
}

// The node itself is in the scope around it; FindChildScope puts its children inside.
void Bindings::OpenScope(NodeId node, ScopeKind kind) {
  opened_[node] = static_cast<ScopeId>(scopes_.size());
  scopes_.push_back({node, scope_of_[node], kind});
}

// A function's body and parameters are inside it; its name, decorators, defaults and annotations
// are not.
Bindings::ScopeId Bindings::FindChildScope(NodeId node) const {
  const NodeId parent = tree_[node].parent;
  const Kind kind = tree_.GetKind(parent);
  const Field field = tree_[node].field;
  const ScopeId around = scope_of_[parent];
  switch (kind) {
    case Kind::kFunctionDefinition:
    case Kind::kLambda:
    case Kind::kClassDefinition: {
      const bool inside =
          field == Field::kBody || field == Field::kParameters || field == Field::kTypeParameters;
      return inside ? opened_.at(parent) : around;
    }
    case Kind::kDefaultParameter:
    case Kind::kTypedParameter:
    case Kind::kTypedDefaultParameter:
      return field == Field::kValue || field == Field::kType ? scopes_[around].parent : around;
    case Kind::kForInClause: {
      // The first iterable of a comprehension is evaluated outside it.
      const NodeId whole = tree_[parent].parent;
      const bool first = whole != kNoNode && IsComprehension(tree_.GetKind(whole)) &&
                         tree_.Child(whole, Kind::kForInClause) == parent;
      return first && field == Field::kRight ? scope_of_[whole] : around;
    }
    default:
      return IsComprehension(kind) ? opened_.at(parent) : around;
  }
}

// Returns whether what is around the node binds it. A pattern hands this on to its parts. An
// attribute or a subscript does not: x[i] = v binds no name.
bool Bindings::IsTarget(NodeId node) const {
  const NodeId parent = tree_[node].parent;
  const Kind kind = tree_.GetKind(parent);
  const Field field = tree_[node].field;
  if (target_[parent] && IsPattern(kind)) return true;
  if (IsParameterList(kind)) return true;
  switch (kind) {
    case Kind::kAssignment:
    case Kind::kAugmentedAssignment:
    case Kind::kForStatement:
    case Kind::kForInClause:
    case Kind::kTypeAliasStatement:
      return field == Field::kLeft;
    case Kind::kNamedExpression:
    case Kind::kDefaultParameter:
    case Kind::kTypedDefaultParameter:
      return field == Field::kName;
    case Kind::kTypedParameter:
      return field != Field::kType;
    case Kind::kAliasedImport:
    case Kind::kExceptClause:
      return field == Field::kAlias;
    // In a case pattern the name has no field.
    case Kind::kAsPattern:
      return field == Field::kAlias || (tree_.GetKind(node) == Kind::kIdentifier &&
                                        tree_.GetKind(tree_[parent].parent) == Kind::kCasePattern);
    case Kind::kFunctionDefinition:
    case Kind::kClassDefinition:
      return field == Field::kName || field == Field::kTypeParameters;
    case Kind::kSplatPattern:
      return true;
    default:
      return false;
  }
}

// x += 1 binds and reads. Names of attributes and of keywords are no variables.
void Bindings::AddIdentifier(NodeId node) {
  const NodeId parent = tree_[node].parent;
  if (parent == kNoNode) return;
  const Kind kind = tree_.GetKind(parent);
  const Field field = tree_[node].field;
  if (target_[node]) {
    Bind(node);
    if (kind == Kind::kAugmentedAssignment) Read(node);
  } else if (kind == Kind::kDottedName) {
    AddPartOfDottedName(node);
  } else if (kind == Kind::kGlobalStatement || kind == Kind::kNonlocalStatement) {
    Declare(node);
  } else if ((kind == Kind::kKeywordArgument && field == Field::kName) ||
             (kind == Kind::kAttribute && field == Field::kAttribute) ||
             (kind == Kind::kKeywordPattern && tree_.FirstChild(parent) == node)) {
    return;
  } else {
    Read(node);
  }
}

// Dotted names are part of imports, which bind the first part or nothing, and of patterns.
void Bindings::AddPartOfDottedName(NodeId node) {
  const NodeId dotted = tree_[node].parent;
  if (tree_.FirstChild(dotted) != node) return;
  const NodeId user = tree_[dotted].parent;
  const Kind kind = user == kNoNode ? Kind::kOther : tree_.GetKind(user);
  if (kind == Kind::kAliasedImport || kind == Kind::kRelativeImport) return;
  if (IsImport(kind)) {
    if (tree_[dotted].field != Field::kModuleName) Bind(node);
  } else if (kind == Kind::kCasePattern && tree_.NextSibling(node) == kNoNode) {
    Bind(node);
  } else {
    Read(node);
  }
}

// A walrus in a comprehension binds in the scope around the comprehension.
void Bindings::Bind(NodeId node) {
  ScopeId scope = scope_of_[node];
  if (tree_.GetKind(tree_[node].parent) == Kind::kNamedExpression) {
    for (int depth = 0; scopes_[scope].kind == ScopeKind::kComprehension && depth < kMaxScopeDepth;
         ++depth) {
      scope = scopes_[scope].parent;
    }
  }
  const SymbolId symbol = InternSymbol(node, scope);
  symbols_[symbol].bound = true;
  if (!IsImported(tree_, node)) symbols_[symbol].defined = true;
  occurrences_.push_back({node, symbol, Use::kBind});
}

void Bindings::Read(NodeId node) {
  occurrences_.push_back({node, InternSymbol(node, scope_of_[node]), Use::kRead});
}

// `global x` and `nonlocal x`: the name belongs to another scope, and FindBinder ends there.
void Bindings::Declare(NodeId node) {
  symbols_[InternSymbol(node, scope_of_[node])].declared = true;
}

// Most names occur several times in a row in one scope, so that the last symbol is tried first.
Bindings::SymbolId Bindings::InternSymbol(NodeId node, ScopeId scope) {
  const NameId name = InternName(tree_.GetText(node));
  SymbolId& last = names_[name].last;
  if (last < symbols_.size() && symbols_[last].scope == scope) return last;
  const auto [symbol, inserted] =
      symbol_ids_.try_emplace(Key(scope, name), static_cast<SymbolId>(symbols_.size()));
  if (inserted) symbols_.push_back({name, scope});
  return last = symbol->second;
}

// Names have numbers, so that symbols are compared without their texts.
Bindings::NameId Bindings::InternName(absl::string_view text) {
  const auto [at, inserted] = name_ids_.try_emplace(text, static_cast<NameId>(names_.size()));
  if (inserted) names_.push_back({text, kNoSymbol});
  return at->second;
}

const Bindings::Symbol* Bindings::Find(ScopeId scope, NameId name) const {
  const auto found = symbol_ids_.find(Key(scope, name));
  return found == symbol_ids_.end() ? nullptr : &symbols_[found->second];
}

// The next scope around that binds the name counts, unless one before it declares it to be that of
// another.
void Bindings::FindBinder(Symbol& symbol) const {
  ScopeId scope = symbol.scope;
  for (int depth = 0; depth < kMaxScopeDepth; ++depth) {
    const Scope& at = scopes_[scope];
    // A class's names are seen in its own body alone, not in the functions there.
    if (at.kind != ScopeKind::kClass || scope == symbol.scope) {
      const Symbol* there = scope == symbol.scope ? &symbol : Find(scope, symbol.name);
      if (there != nullptr && there->declared) return;
      if (there != nullptr && there->bound) {
        symbol.binder = scope;
        return;
      }
    }
    if (scope == 0) return;
    scope = at.parent;
  }
}

std::span<const Bindings::Occurrence> Bindings::OccurrencesIn(NodeId root) const {
  const auto before = [](const Occurrence& o, NodeId node) { return o.node < node; };
  const auto first = std::lower_bound(occurrences_.begin(), occurrences_.end(), root, before);
  return {first, std::lower_bound(first, occurrences_.end(), tree_[root].subtree_end, before)};
}

// Returns whether a scope that opens below `root` binds the name that is read.
bool Bindings::BoundWithin(NodeId root, const Symbol& symbol) const {
  if (symbol.binder == kNoScope) return false;
  ScopeId scope = symbol.scope;
  for (int depth = 0; depth < kMaxScopeDepth && scope != scope_of_[root]; ++depth) {
    if (scope == symbol.binder) return true;
    scope = scopes_[scope].parent;
  }
  return false;
}

bool Bindings::IsPythons(const Symbol& symbol) const {
  return symbol.binder == kNoScope && IsBuiltin(names_[symbol.name].text);
}

bool Bindings::BindsAnywhere(absl::string_view name) const {
  const auto known = name_ids_.find(name);
  return known != name_ids_.end() &&
         std::any_of(symbols_.begin(), symbols_.end(), [&](const Symbol& symbol) {
           return symbol.name == known->second && symbol.bound;
         });
}

// True if the module's scope binds the name by more than an import.
bool Bindings::Defines(absl::string_view name) const {
  const auto known = name_ids_.find(name);
  const Symbol* symbol = known == name_ids_.end() ? nullptr : Find(0, known->second);
  return symbol != nullptr && symbol->defined;
}

std::vector<absl::string_view> Bindings::FreeNames(NodeId root, bool keep_own) const {
  std::vector<NameId> read;
  std::vector<NameId> own;
  for (const Occurrence& o : OccurrencesIn(root)) {
    const Symbol& symbol = symbols_[o.symbol];
    if (o.use == Use::kRead) {
      if (!BoundWithin(root, symbol) && !IsPythons(symbol)) read.push_back(symbol.name);
    } else if (!keep_own && symbol.scope == scope_of_[root]) {
      own.push_back(symbol.name);
    }
  }
  SortUnique(read);
  SortUnique(own);
  std::vector<NameId> free;
  std::set_difference(read.begin(), read.end(), own.begin(), own.end(), std::back_inserter(free));
  return GetTexts(free);
}

std::vector<absl::string_view> Bindings::BoundNames(NodeId root) const {
  std::vector<NameId> bound;
  for (const Occurrence& o : OccurrencesIn(root)) {
    const Symbol& symbol = symbols_[o.symbol];
    if (o.use == Use::kBind && symbol.scope == scope_of_[root]) bound.push_back(symbol.name);
  }
  SortUnique(bound);
  return GetTexts(bound);
}

// Sorted.
std::vector<absl::string_view> Bindings::GetTexts(const std::vector<NameId>& names) const {
  std::vector<absl::string_view> texts;
  for (const NameId name : names) texts.push_back(names_[name].text);
  std::sort(texts.begin(), texts.end());
  return texts;
}

namespace {

// From CPython 3.11: dir(builtins) with what every module has.
constexpr absl::string_view kBuiltins[] = {
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BaseException",
    "BaseExceptionGroup",
    "BlockingIOError",
    "BrokenPipeError",
    "BufferError",
    "BytesWarning",
    "ChildProcessError",
    "ConnectionAbortedError",
    "ConnectionError",
    "ConnectionRefusedError",
    "ConnectionResetError",
    "DeprecationWarning",
    "EOFError",
    "Ellipsis",
    "EncodingWarning",
    "EnvironmentError",
    "Exception",
    "ExceptionGroup",
    "FileExistsError",
    "FileNotFoundError",
    "FloatingPointError",
    "FutureWarning",
    "GeneratorExit",
    "IOError",
    "ImportError",
    "ImportWarning",
    "IndentationError",
    "IndexError",
    "InterruptedError",
    "IsADirectoryError",
    "KeyError",
    "KeyboardInterrupt",
    "LookupError",
    "MemoryError",
    "ModuleNotFoundError",
    "NameError",
    "NotADirectoryError",
    "NotImplemented",
    "NotImplementedError",
    "OSError",
    "OverflowError",
    "PendingDeprecationWarning",
    "PermissionError",
    "ProcessLookupError",
    "RecursionError",
    "ReferenceError",
    "ResourceWarning",
    "RuntimeError",
    "RuntimeWarning",
    "StopAsyncIteration",
    "StopIteration",
    "SyntaxError",
    "SyntaxWarning",
    "SystemError",
    "SystemExit",
    "TabError",
    "TimeoutError",
    "TypeError",
    "UnboundLocalError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "UnicodeError",
    "UnicodeTranslateError",
    "UnicodeWarning",
    "UserWarning",
    "ValueError",
    "Warning",
    "ZeroDivisionError",
    "__annotations__",
    "__build_class__",
    "__builtins__",
    "__class__",
    "__debug__",
    "__dict__",
    "__doc__",
    "__file__",
    "__import__",
    "__loader__",
    "__name__",
    "__package__",
    "__spec__",
    "abs",
    "aiter",
    "all",
    "anext",
    "any",
    "ascii",
    "bin",
    "bool",
    "breakpoint",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "compile",
    "complex",
    "delattr",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "eval",
    "exec",
    "exit",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "globals",
    "hasattr",
    "hash",
    "help",
    "hex",
    "id",
    "input",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "locals",
    "map",
    "max",
    "memoryview",
    "min",
    "next",
    "object",
    "oct",
    "open",
    "ord",
    "pow",
    "print",
    "property",
    "quit",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "vars",
    "zip",
};

}  // namespace

bool IsBuiltin(absl::string_view name) {
  static const auto& builtins =
      *new absl::flat_hash_set<absl::string_view>(std::begin(kBuiltins), std::end(kBuiltins));
  return builtins.contains(name);
}

}  // namespace kernelmill::python
