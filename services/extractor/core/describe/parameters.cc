#include "services/extractor/core/describe/parameters.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "services/extractor/core/describe/name_words.h"

namespace kernelmill::extractor {
namespace {

struct Role {
  v1::ParameterRole role;
  std::string rule;
};

// The name that a parameter binds: x, x=1, x: T, x: T = 1, *x, **x. kNoNode for '*' and '/' alone.
NodeId ParameterName(const SyntaxTree& tree, NodeId parameter) {
  while (tree.KindOf(parameter) != Kind::kIdentifier) {
    NodeId inner = tree.Child(parameter, Field::kName);
    for (NodeId child = tree.FirstChild(parameter); inner == kNoNode && child != kNoNode;
         child = tree.NextSibling(child)) {
      const Kind kind = tree.KindOf(child);
      const bool holds_name = kind == Kind::kIdentifier || kind == Kind::kListSplatPattern ||
                              kind == Kind::kDictionarySplatPattern;
      if (holds_name && tree[child].field != Field::kType) inner = child;
    }
    if (inner == kNoNode) return kNoNode;
    parameter = inner;
  }
  return parameter;
}

// What stands by that edge, as the file has it.
std::string TextBy(const ParsedFile& file, NodeId node, Field field) {
  const NodeId child = file.tree.Child(node, field);
  if (child == kNoNode) return "";
  const SyntaxNode& place = file.tree[child];
  return std::string(file.text.substr(place.start, place.end - place.start));
}

bool PointsByAnnotation(absl::string_view annotation) {
  return absl::StrContains(annotation, "pointer") || absl::StrContains(annotation, "descriptor") ||
         absl::StrContains(annotation, "TensorDescriptor");
}

struct UsageRule {
  Usage usage;
  v1::ParameterRole role;
  const char* rule;
};

constexpr UsageRule kPointerUsages[] = {
    {Usage::kDescriptor, v1::PARAMETER_ROLE_POINTER, "usage:descriptor"},
    {Usage::kAddress, v1::PARAMETER_ROLE_POINTER, "usage:address"},
};
constexpr UsageRule kStrideUsages[] = {
    {Usage::kStrides, v1::PARAMETER_ROLE_STRIDE, "usage:strides"},
};
constexpr UsageRule kSizeUsages[] = {
    {Usage::kShape, v1::PARAMETER_ROLE_SIZE, "usage:shape"},
    {Usage::kCdiv, v1::PARAMETER_ROLE_SIZE, "usage:cdiv"},
    {Usage::kRange, v1::PARAMETER_ROLE_SIZE, "usage:range"},
    {Usage::kCompared, v1::PARAMETER_ROLE_SIZE, "usage:compared"},
};

template <size_t n>
bool ByUsage(const UsageRule (&rules)[n], const ParameterUsage& uses, absl::string_view name,
             Role* role) {
  for (const UsageRule& rule : rules) {
    if (!uses.Has(name, rule.usage)) continue;
    *role = {rule.role, rule.rule};
    return true;
  }
  return false;
}

// Roles that a fragment of the name says.
enum NamedRole : size_t { kNamedStride, kNamedPointer, kNamedSize };

std::vector<Fragments::Found> FragmentsIn(absl::string_view name) {
  static const auto& fragments =
      *new Fragments({{"stride"},
                      {"ptr", "pointer", "_desc_", "descriptor"},
                      {"size", "len_", "length", "numel", "_num_", "_dim_", "_rows_", "_cols_",
                       "_elements_", "_count_"}});
  return fragments.FindIn(WordsOf(name));
}

bool ByName(const std::vector<Fragments::Found>& found, NamedRole named, v1::ParameterRole as,
            Role* role) {
  for (const auto& [list, fragment] : found) {
    if (list != named) continue;
    *role = {as, absl::StrCat("name:", fragment)};
    return true;
  }
  return false;
}

bool ByWholeName(std::initializer_list<absl::string_view> names, absl::string_view name,
                 v1::ParameterRole as, Role* role) {
  if (std::find(names.begin(), names.end(), name) == names.end()) return false;
  *role = {as, absl::StrCat("name:", name)};
  return true;
}

Role RoleOf(const v1::Parameter& parameter, const ParameterUsage& uses) {
  const std::string& name = parameter.name();
  Role role = {v1::PARAMETER_ROLE_OTHER, "none"};
  if (absl::StrContains(parameter.annotation(), "constexpr")) {
    return {v1::PARAMETER_ROLE_CONSTEXPR, "annotation:constexpr"};
  }
  if (PointsByAnnotation(parameter.annotation())) {
    return {v1::PARAMETER_ROLE_POINTER, "annotation:pointer"};
  }
  const std::vector<Fragments::Found> fragments = FragmentsIn(name);
  ByUsage(kPointerUsages, uses, name, &role) ||
      ByName(fragments, kNamedStride, v1::PARAMETER_ROLE_STRIDE, &role) ||
      ByUsage(kStrideUsages, uses, name, &role) ||
      ByName(fragments, kNamedPointer, v1::PARAMETER_ROLE_POINTER, &role) ||
      ByUsage(kSizeUsages, uses, name, &role) ||
      ByName(fragments, kNamedSize, v1::PARAMETER_ROLE_SIZE, &role) ||
      ByWholeName({"M", "N", "n"}, name, v1::PARAMETER_ROLE_SIZE, &role);
  return role;
}

}  // namespace

void AddParameters(const ParsedFile& file, const JitFunction& function, v1::Kernel& kernel) {
  const SyntaxTree& tree = file.tree;
  const NodeId list = tree.Child(function.definition, Field::kParameters);
  if (list == kNoNode) return;
  std::vector<absl::string_view> names;
  for (NodeId child = tree.FirstChild(list); child != kNoNode; child = tree.NextSibling(child)) {
    const NodeId name = ParameterName(tree, child);
    if (name == kNoNode) continue;
    names.push_back(tree.TextOf(name));
    v1::Parameter& parameter = *kernel.add_parameters();
    parameter.set_name(std::string(names.back()));
    parameter.set_annotation(TextBy(file, child, Field::kType));
    parameter.set_default_value(TextBy(file, child, Field::kValue));
  }
  const ParameterUsage uses(tree, file.calls, function.definition, names);
  for (v1::Parameter& parameter : *kernel.mutable_parameters()) {
    Role role = RoleOf(parameter, uses);
    parameter.set_role(role.role);
    parameter.set_rule(std::move(role.rule));
  }
}

}  // namespace kernelmill::extractor
