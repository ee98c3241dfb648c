#include "services/extractor/core/bindings.h"

#include <algorithm>

#include "services/extractor/core/imports.h"
#include "services/extractor/core/python_names.h"

namespace kernelmill::extractor {
namespace {

// Scopes deeper than this are not searched to their end: CPython itself nests far fewer.
constexpr int kMaxScopeDepth = 256;

bool IsComprehension(Kind kind) {
  return kind == Kind::kListComprehension || kind == Kind::kSetComprehension ||
         kind == Kind::kDictionaryComprehension || kind == Kind::kGeneratorExpression;
}

// What a target is made of: x, (y, *z) and so on.
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

void SortUnique(std::vector<absl::string_view>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace

Bindings::Bindings(const SyntaxTree& tree) : tree_(tree) {
  scope_of_.resize(tree.size(), 0);
  target_.resize(tree.size(), false);
  scopes_.push_back({0, 0, ScopeKind::kModule});
  for (NodeId node = 0; node < tree.size(); ++node) EnterNode(node);
}

void Bindings::EnterNode(NodeId node) {
  if (tree_.KindOf(node) == Kind::kToken) return;  // neither named nor looked below
  if (tree_[node].parent != kNoNode) {
    scope_of_[node] = ScopeOfChild(node);
    target_[node] = IsTarget(node);
  }
  const Kind kind = tree_.KindOf(node);
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

void Bindings::OpenScope(NodeId node, ScopeKind kind) {
  opened_[node] = static_cast<ScopeId>(scopes_.size());
  scopes_.push_back({node, scope_of_[node], kind});
}

Bindings::ScopeId Bindings::ScopeOfChild(NodeId node) const {
  const NodeId parent = tree_[node].parent;
  const Kind kind = tree_.KindOf(parent);
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
      const bool first = whole != kNoNode && IsComprehension(tree_.KindOf(whole)) &&
                         tree_.Child(whole, Kind::kForInClause) == parent;
      return first && field == Field::kRight ? scope_of_[whole] : around;
    }
    default:
      return IsComprehension(kind) ? opened_.at(parent) : around;
  }
}

bool Bindings::IsTarget(NodeId node) const {
  const NodeId parent = tree_[node].parent;
  const Kind kind = tree_.KindOf(parent);
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
    case Kind::kAsPattern:
      return field == Field::kAlias || (tree_.KindOf(node) == Kind::kIdentifier &&
                                        tree_.KindOf(tree_[parent].parent) == Kind::kCasePattern);
    case Kind::kFunctionDefinition:
    case Kind::kClassDefinition:
      return field == Field::kName || field == Field::kTypeParameters;
    case Kind::kSplatPattern:
      return true;
    default:
      return false;
  }
}

void Bindings::AddIdentifier(NodeId node) {
  const NodeId parent = tree_[node].parent;
  if (parent == kNoNode) return;
  const Kind kind = tree_.KindOf(parent);
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

// Dotted names stand in imports, where the first part is bound or nothing is, and in patterns.
void Bindings::AddPartOfDottedName(NodeId node) {
  const NodeId dotted = tree_[node].parent;
  if (tree_.FirstChild(dotted) != node) return;
  const NodeId user = tree_[dotted].parent;
  const Kind kind = user == kNoNode ? Kind::kOther : tree_.KindOf(user);
  if (kind == Kind::kAliasedImport || kind == Kind::kRelativeImport) return;
  if (IsImport(kind)) {
    if (tree_[dotted].field != Field::kModuleName) Bind(node);
  } else if (kind == Kind::kCasePattern && tree_.NextSibling(node) == kNoNode) {
    Bind(node);
  } else {
    Read(node);
  }
}

void Bindings::Bind(NodeId node) {
  ScopeId scope = scope_of_[node];
  if (tree_.KindOf(tree_[node].parent) == Kind::kNamedExpression) {
    for (int depth = 0; scopes_[scope].kind == ScopeKind::kComprehension && depth < kMaxScopeDepth;
         ++depth) {
      scope = scopes_[scope].parent;
    }
  }
  const NameId name = NameOf(tree_.TextOf(node));
  bound_.insert(Key(scope, name));
  occurrences_.push_back({node, name, scope, Use::kBind});
}

void Bindings::Read(NodeId node) {
  occurrences_.push_back({node, NameOf(tree_.TextOf(node)), scope_of_[node], Use::kRead});
}

void Bindings::Declare(NodeId node) {
  declared_.insert(Key(scope_of_[node], NameOf(tree_.TextOf(node))));
}

Bindings::NameId Bindings::NameOf(absl::string_view text) {
  const auto [at, inserted] = name_ids_.try_emplace(text, static_cast<NameId>(names_.size()));
  if (inserted) names_.push_back(text);
  return at->second;
}

std::pair<size_t, size_t> Bindings::OccurrencesIn(NodeId root) const {
  const auto before = [](const Occurrence& o, NodeId node) { return o.node < node; };
  const auto first = std::lower_bound(occurrences_.begin(), occurrences_.end(), root, before);
  const auto last = std::lower_bound(first, occurrences_.end(), tree_[root].subtree_end, before);
  return {static_cast<size_t>(first - occurrences_.begin()),
          static_cast<size_t>(last - occurrences_.begin())};
}

// Whether a scope that opens below `root` binds what is read.
bool Bindings::BoundWithin(NodeId root, const Occurrence& read) const {
  ScopeId scope = read.scope;
  for (int depth = 0; depth < kMaxScopeDepth && scope != scope_of_[root]; ++depth) {
    const Scope& at = scopes_[scope];
    // A class's names are seen in its own body alone, not in the functions there.
    const bool visible = at.kind != ScopeKind::kClass || scope == read.scope;
    if (visible && declared_.contains(Key(scope, read.name))) return false;
    if (visible && bound_.contains(Key(scope, read.name))) return true;
    scope = at.parent;
  }
  return false;
}

std::vector<absl::string_view> Bindings::FreeNames(NodeId root, bool keep_own) const {
  const auto [first, last] = OccurrencesIn(root);
  absl::flat_hash_set<NameId> own;
  if (!keep_own) {
    for (size_t i = first; i < last; ++i) {
      const Occurrence& o = occurrences_[i];
      if (o.use == Use::kBind && o.scope == scope_of_[root]) own.insert(o.name);
    }
  }
  absl::flat_hash_set<uint64_t> seen;
  std::vector<absl::string_view> free;
  for (size_t i = first; i < last; ++i) {
    const Occurrence& o = occurrences_[i];
    if (o.use != Use::kRead || !seen.insert(Key(o.scope, o.name)).second) continue;
    if (own.contains(o.name) || BoundWithin(root, o) || IsBuiltin(names_[o.name])) continue;
    free.push_back(names_[o.name]);
  }
  SortUnique(free);
  return free;
}

std::vector<absl::string_view> Bindings::BoundNames(NodeId root) const {
  const auto [first, last] = OccurrencesIn(root);
  std::vector<absl::string_view> bound;
  for (size_t i = first; i < last; ++i) {
    const Occurrence& o = occurrences_[i];
    if (o.use == Use::kBind && o.scope == scope_of_[root]) bound.push_back(names_[o.name]);
  }
  SortUnique(bound);
  return bound;
}

}  // namespace kernelmill::extractor
