#include "services/compiler/core/signature/descriptors.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kernelmill::compiler {

using python::Statement;

namespace {

using Sizes = std::vector<int64_t>;  // of a block, by dimension; 0: not known

// B of `x["B"]`; empty: it is none.
absl::string_view Key(const Expression& expression) {
  if (expression.kind != Expression::kSubscript || expression.parts.size() != 2) return "";
  absl::string_view text = expression.parts[1]->text;
  if (expression.parts[1]->kind != Expression::kString || text.size() < 3) return "";
  return text.substr(1, text.size() - 2);
}

// B of nargs["B"], also of a name that a hook gives it.
absl::string_view SizeOfHook(const Function& hook, const Expression& size) {
  const auto values = hook.values.find(size.text);
  const bool named = values != hook.values.end() && values->second.size() == 1;
  const absl::string_view key = Key(named ? *values->second[0] : size);
  return key.empty() ? size.text : key;
}

// The sizes that a hook before the launch gives the blocks of a descriptor, constexprs or literals:
// nargs["x"].block_shape = [BLOCK, 64]. Empty: there is none.
std::vector<absl::string_view> BlockOfHook(const ModuleFunctions& module, const Function& kernel,
                                           absl::string_view name) {
  for (const Function& function : module.all()) {
    for (const Statement& statement : function.statements) {
      if (statement.kind != Statement::kAssign || statement.target == nullptr) continue;
      const Expression& target = *statement.target;
      if (target.kind != Expression::kAttribute || target.name != "block_shape" ||
          Key(*target.parts[0]) != name || statement.value->kind != Expression::kSequence) {
        continue;
      }
      std::vector<absl::string_view> block;
      for (const Expression* part : statement.value->parts) {
        const absl::string_view size = SizeOfHook(function, *part);
        const bool known = part->kind == Expression::kNumber || kernel.Find(size) >= 0;
        if (known) block.push_back(size);
      }
      if (block.size() == statement.value->parts.size()) return block;
    }
  }
  return {};
}

bool AllKnown(const Sizes& sizes) {
  return !sizes.empty() && std::all_of(sizes.begin(), sizes.end(), [](int64_t n) { return n > 0; });
}

// A block's size that a value tells; 0: not known.
int64_t SizeOf(absl::string_view value) {
  int64_t number = 0;
  return absl::SimpleAtoi(value, &number) && number > 0 ? number : 0;
}

// Of the names and literals that kernels and hooks write.
Sizes ByName(const KernelFacts& facts, const std::vector<absl::string_view>& names,
             const std::function<std::string(size_t)>& value_of) {
  Sizes sizes;
  for (const absl::string_view name : names) {
    const int at = facts.function.Find(name);
    sizes.push_back(SizeOf(at < 0 ? std::string(name) : value_of(static_cast<size_t>(at))));
  }
  return sizes;
}

// Of the list that the launch gives: what it gives to a constexpr too has that one's value.
Sizes ByLaunch(const KernelFacts& facts, const Expression* block,
               const std::function<std::string(size_t)>& value_of) {
  Sizes sizes;
  if (block == nullptr) return sizes;
  for (const Expression* part : block->parts) {
    const HostValue host = facts.launch.ValueOf(*part);
    const absl::string_view given = facts.launch.GivenAs(part->text);
    int at = facts.function.Find(given.empty() ? part->text : given);
    if (part->kind == Expression::kNumber) at = -1;
    sizes.push_back(SizeOf(at >= 0                ? value_of(static_cast<size_t>(at))
                           : host.literal.empty() ? host.likely
                                                  : host.literal));
  }
  const bool stands_in = std::all_of(sizes.begin(), sizes.end(), [](int64_t n) { return n == 1; });
  return stands_in ? Sizes() : sizes;
}

}  // namespace

std::string TypeOfDescriptor(const KernelFacts& facts, size_t place, absl::string_view element,
                             const std::function<std::string(size_t)>& value_of) {
  const absl::string_view name = facts.function.parameters[place].name;
  Sizes sizes = ByName(facts, BlockOfHook(facts.module, facts.function, name), value_of);
  if (!AllKnown(sizes)) sizes = ByLaunch(facts, facts.launch.ValueOf(name).block, value_of);
  if (!AllKnown(sizes)) {
    sizes = ByName(facts, facts.usage.arguments[place].block, value_of);
    const bool any = std::any_of(sizes.begin(), sizes.end(), [](int64_t n) { return n > 0; });
    if (any) std::replace(sizes.begin(), sizes.end(), int64_t{0}, int64_t{1});
  }
  if (!AllKnown(sizes)) return "";
  return absl::StrCat("tensordesc<", element, "[", absl::StrJoin(sizes, ", "), "]>");
}

}  // namespace kernelmill::compiler
