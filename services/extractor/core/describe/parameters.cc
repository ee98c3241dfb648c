#include "services/extractor/core/describe/parameters.h"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/dsl/names.h"
#include "common/python/syntax/functions.h"
#include "services/extractor/core/describe/name_words.h"

namespace kernelmill::extractor {

// How roles are found:
//
// 1. Each function's own code and names give its parameters roles (FindRole). The same walk notes
//    the arguments that it hands on to kernels of the file.
// 2. The notes become edges, from a parameter to the helper's parameter that gets it.
// 3. Roles flow back over the edges, from helpers to callers, until nothing changes, for up to
//    kMaxRounds rounds.

using python::Call;
using python::Field;
using python::Kind;
using python::kNoNode;
using python::RuleName;
using python::SyntaxNode;
using python::SyntaxTree;
using python::UsageRule;

namespace {

struct Role {
  v1::ParameterRole role;
  std::string rule;
};

// Returns the text of a node's child, as written in the file.
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

// The rules that give a role, in the order in which they are asked.
constexpr UsageRule kPointerRules[] = {UsageRule::kDescriptor, UsageRule::kAddress,
                                       UsageRule::kReference};
constexpr UsageRule kStrideRules[] = {UsageRule::kStrides};
constexpr UsageRule kSizeRules[] = {UsageRule::kShape, UsageRule::kCdiv, UsageRule::kRange,
                                    UsageRule::kCompared, UsageRule::kDivides};

// Sets the role by the first of the rules that holds. Returns false if no rule holds.
bool ByUsage(std::span<const UsageRule> rules, const ParameterPlaces& uses, absl::string_view name,
             v1::ParameterRole as, Role* role) {
  const auto holds = [&](UsageRule rule) { return uses.Has(name, rule); };
  const auto found = std::find_if(rules.begin(), rules.end(), holds);
  if (found == rules.end()) return false;
  *role = {as, RuleName(*found)};
  return true;
}

// The role that a fragment of a name gives; the order of the lists in FragmentsIn.
enum NamedRole : size_t { kNamedStride, kNamedPointer, kNamedSize, kNamedPlace };

std::vector<Fragments::Found> FragmentsIn(absl::string_view name) {
  static const auto& fragments = *new Fragments(
      {{"stride"},
       {"ptr", "pointer", "_desc_", "descriptor", "gmem_", "smem_", "tmem_", "vmem_"},
       {"size", "len_", "length", "numel", "_num_", "_dim_", "_rows_", "_cols_", "_elements_",
        "_count_", "seqlen", "_ctx_", "heads_", "headdim", "channels_"},
       {"offset", "_offs_", "_start_", "_idx_", "_index_", "_padding_"}});
  return fragments.FindIn(SplitWords(name));
}

// Sets the role if the first fragment of the list is in the name.
bool ByName(const std::vector<Fragments::Found>& found, NamedRole named, v1::ParameterRole as,
            Role* role) {
  // An offset or an index is not a size, even if its name contains one.
  const bool is_place = !found.empty() && found.back().list == kNamedPlace;
  if (named == kNamedSize && is_place) return false;
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

// Returns whether a name is short and in capitals, as dimensions often are: T, HV, NC2.
bool IsDimension(absl::string_view name) {
  constexpr size_t kMaxLetters = 3;
  return name.size() <= kMaxLetters && !name.empty() && absl::ascii_isupper(name[0]) &&
         std::none_of(name.begin(), name.end(), absl::ascii_islower);
}

// Sets the role of a parameter that an index is multiplied by.
bool ByFactor(const ParameterPlaces& uses, absl::string_view name, Role* role) {
  if (!uses.Has(name, UsageRule::kMultiplies)) return false;
  const bool stride = absl::StartsWith(name, "s_");
  if (!stride && !IsDimension(name)) return false;
  *role = {stride ? v1::PARAMETER_ROLE_STRIDE : v1::PARAMETER_ROLE_SIZE,
           RuleName(UsageRule::kMultiplies)};
  return true;
}

constexpr absl::string_view kHelperRule = "helper:";

// Returns whether the parameter is a pointer by anything but its name.
bool ShowsPointer(const v1::Parameter& parameter) {
  return parameter.role() == v1::PARAMETER_ROLE_POINTER &&
         !absl::StartsWith(absl::StripPrefix(parameter.rule(), kHelperRule), "name:");
}

// The first rule that holds, in the order of the table in parameters.h. The chain of || ends at it.
Role FindRole(const v1::Parameter& parameter, const ParameterPlaces& uses) {
  const std::string& name = parameter.name();
  Role role = {v1::PARAMETER_ROLE_OTHER, "none"};
  if (absl::StrContains(parameter.annotation(), "constexpr")) {
    return {v1::PARAMETER_ROLE_CONSTEXPR, "annotation:constexpr"};
  }
  if (PointsByAnnotation(parameter.annotation())) {
    return {v1::PARAMETER_ROLE_POINTER, "annotation:pointer"};
  }
  const std::vector<Fragments::Found> fragments = FragmentsIn(name);
  ByUsage(kPointerRules, uses, name, v1::PARAMETER_ROLE_POINTER, &role) ||
      ByName(fragments, kNamedStride, v1::PARAMETER_ROLE_STRIDE, &role) ||
      ByUsage(kStrideRules, uses, name, v1::PARAMETER_ROLE_STRIDE, &role) ||
      ByName(fragments, kNamedPointer, v1::PARAMETER_ROLE_POINTER, &role) ||
      ByUsage(kSizeRules, uses, name, v1::PARAMETER_ROLE_SIZE, &role) ||
      ByName(fragments, kNamedSize, v1::PARAMETER_ROLE_SIZE, &role) ||
      ByWholeName({"M", "N", "n"}, name, v1::PARAMETER_ROLE_SIZE, &role) ||
      ByFactor(uses, name, &role);
  return role;
}

}  // namespace

ParameterRoles::ParameterRoles(const ParsedFile& file, const KernelReferences& references,
                               const std::vector<JitFunction>& functions) {
  for (size_t i = 0; i < functions.size(); ++i) places_[functions[i].definition] = i;
  for (const JitFunction& function : functions) AddFunction(file, references, function);
  for (size_t i = 0; i < functions.size(); ++i) AddEdges(file, references, i, handed_on_[i]);
  handed_on_.clear();
  FollowEdges();
}

// Reads the parameters of one function with the roles that its own code gives, and notes the
// arguments that it passes to helpers.
void ParameterRoles::AddFunction(const ParsedFile& file, const KernelReferences& references,
                                 const JitFunction& function) {
  const SyntaxTree& tree = file.tree;
  Parameters& parameters = functions_.emplace_back();
  handed_on_.emplace_back();
  const NodeId list = tree.Child(function.definition, Field::kParameters);
  if (list == kNoNode) return;
  std::vector<absl::string_view> names;
  for (NodeId child = tree.FirstChild(list); child != kNoNode; child = tree.NextSibling(child)) {
    const NodeId name = ParameterName(tree, child);
    if (name == kNoNode) continue;
    names.push_back(tree.GetText(name));
    v1::Parameter& parameter = parameters.emplace_back();
    parameter.set_name(std::string(names.back()));
    parameter.set_annotation(TextBy(file, child, Field::kType));
    parameter.set_default_value(TextBy(file, child, Field::kValue));
  }
  // A call that may be of several functions tells nothing for sure, so that only those of one
  // kernel of the file are followed.
  const auto is_helper = [&](const Call& call) {
    if (handed_on_left_ == 0) return false;
    const std::vector<NodeId> called = references.FunctionsCalled(call.node);
    return called.size() == 1 && places_.contains(called.front());
  };
  ParameterPlaces uses({tree, file.calls, function.definition, names, function.dsl == dsl::kPallas},
                       is_helper);
  for (v1::Parameter& parameter : parameters) {
    Role role = FindRole(parameter, uses);
    parameter.set_role(role.role);
    parameter.set_rule(std::move(role.rule));
  }
  handed_on_.back() = uses.TakeHandedOn();
  handed_on_left_ -= std::min(handed_on_left_, handed_on_.back().size());
}

// Turns noted arguments into edges from the function's parameter to the helper's. A method's first
// parameter is the object. An argument for a parameter that the helper lacks is left out.
void ParameterRoles::AddEdges(const ParsedFile& file, const KernelReferences& references,
                              size_t function,
                              const std::vector<ParameterPlaces::HandedOn>& handed_on) {
  for (const ParameterPlaces::HandedOn& given : handed_on) {
    const size_t helper = places_.at(references.FunctionsCalled(given.call).front());
    const Parameters& parameters = functions_[helper];
    const NodeId called = file.tree.StripParentheses(file.calls.At(given.call).function);
    const bool is_method = file.tree.GetKind(called) == Kind::kAttribute;
    const size_t to =
        given.keyword.empty() ? given.position + (is_method ? 1 : 0) : Find(helper, given.keyword);
    if (to >= parameters.size()) continue;
    edges_.push_back({function, Find(function, given.parameter), helper, to, given.whole});
  }
}

size_t ParameterRoles::Find(size_t function, absl::string_view parameter) const {
  const Parameters& parameters = functions_[function];
  const auto found =
      std::find_if(parameters.begin(), parameters.end(),
                   [parameter](const v1::Parameter& p) { return p.name() == parameter; });
  return static_cast<size_t>(found - parameters.begin());
}

// Passes roles from the helpers' parameters to their callers' until nothing changes.
void ParameterRoles::FollowEdges() {
  bool changed = true;
  // Each round carries roles one call further; the bound ends long chains of helpers.
  for (int round = 0; round < kMaxRounds && changed; ++round) {
    changed = false;
    for (const Edge& edge : edges_) {
      v1::Parameter& from = functions_[edge.from_function][edge.from];
      const v1::Parameter& to = functions_[edge.to_function][edge.to];
      // A pointer that more than a name shows replaces every role except constexpr. Every other
      // role only fills a gap, and only if the argument is the parameter itself.
      const bool shows =
          ShowsPointer(to) && !ShowsPointer(from) && from.role() != v1::PARAMETER_ROLE_CONSTEXPR;
      const bool tells = edge.whole && from.role() == v1::PARAMETER_ROLE_OTHER &&
                         to.role() != v1::PARAMETER_ROLE_OTHER;
      if (!shows && !tells) continue;
      from.set_role(to.role());
      from.set_rule(absl::StrCat(kHelperRule, absl::StripPrefix(to.rule(), kHelperRule)));
      changed = true;
    }
  }
}

void ParameterRoles::AddParameters(const JitFunction& function, v1::Kernel& kernel) const {
  const auto place = places_.find(function.definition);
  if (place == places_.end()) return;
  const Parameters& parameters = functions_[place->second];
  kernel.mutable_parameters()->Assign(parameters.begin(), parameters.end());
}

}  // namespace kernelmill::extractor
