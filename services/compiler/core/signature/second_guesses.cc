#include "services/compiler/core/signature/second_guesses.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/code/line_index.h"
#include "common/python/syntax/branches.h"
#include "common/python/usage/triton_calls.h"
#include "services/compiler/core/signature/names.h"
#include "services/compiler/core/signature/rules.h"

namespace kernelmill::compiler {

// The basic idea: a compiler that refuses a try says where. Few parameters decide what is there,
// and of these only the guessed ones may be wrong:
//
// 1. If a name is not defined, the conditions under which it is bound are made true.
// 2. If conditions guard the line, they are made false, so that the compiler avoids it.
// 3. The values of the line are followed back through local names to parameters, the nearest first.
//    Each gets other values of its kind: flags, literals that it is compared with, sizes, types.
//
// Each guess changes one thing. If it brings the compiler further, its refusal there is asked again
// (compile_kernels.cc).

using python::Branch;
using python::ConstexprUsage;
using python::ExpressionArena;
using python::ExpressionMaker;
using python::NodeId;
using python::Statement;
using python::SyntaxTree;

namespace {

using Kind = Expression::Kind;

constexpr int kMaxDistance = 8;        // local names between a line and a parameter
constexpr size_t kMaxNames = 64;       // that are followed
constexpr size_t kMaxOfOneName = 6;    // values that one parameter gets
constexpr int kMaxConditionDepth = 8;  // and, or, not in one another

class Finder {
 public:
  Finder(const KernelFacts& facts, const SyntaxTree& module, const v1::KernelSignature& refused)
      : facts_(facts),
        module_(module),
        lines_(module.text()),
        expressions_(module, arena_),
        refused_(refused) {}

  std::vector<SecondGuess> Find(const Refusal& refusal) {
    if (const absl::string_view name = FindUndefinedName(refusal.message); !name.empty())
      BindName(name);
    of_shapes_ = IsAboutShapes(refusal.message);
    of_float8_ = absl::StrContains(refusal.message, "e4m3") ||
                 absl::StrContains(refusal.message, "float8") ||
                 absl::StrContains(refusal.message, "fp8");
    for (const int line : {refusal.line, refusal.reached}) {
      HoldAssertion(line);
      for (const Branch& branch : BranchesAround(line)) Add(Decide(branch, !branch.holds));
    }
    const int line = refusal.reached > 0 ? refusal.reached : refusal.line;
    for (const absl::string_view name : FollowNames(line)) {
      if (!of_shapes_ || IsSize(name)) AddOthers(name);
    }
    // A refusal without a line may be about any guess.
    if (line == 0) {
      for (const auto& parameter : facts_.function.parameters) AddOthers(parameter.name);
    }
    return std::move(found_);
  }

 private:
  size_t Offset(absl::string_view text) const {
    return static_cast<size_t>(text.data() - module_.text().data());
  }

  std::vector<Branch> BranchesAround(int line) const {
    if (line <= 0 || line > lines_.count()) return {};
    size_t offset = lines_.Begin(line);
    while (offset < lines_.End(line) && module_.text()[offset] == ' ') ++offset;
    return FindBranches(module_, offset);
  }

  // Makes all conditions true under which a local name of the kernel is bound, once for each place.
  void BindName(absl::string_view name) {
    for (const Statement& statement : facts_.function.statements) {
      if (statement.target == nullptr || statement.target->text != name) continue;
      SecondGuess all;
      for (const Branch& branch : FindBranches(module_, Offset(statement.target->text))) {
        const SecondGuess one = Decide(branch, branch.holds);
        all.insert(all.end(), one.begin(), one.end());
      }
      Add(std::move(all));
    }
  }

  // Makes the condition of a static_assert on the line true.
  void HoldAssertion(int line) {
    for (const Statement& statement : facts_.function.statements) {
      const Expression& value = *statement.value;
      if (value.kind != Kind::kCall || value.parts.size() < 2 || !Covers(value, line)) continue;
      if (LastName(value) == "static_assert") Add(Decide(*value.parts[1], true, 0));
    }
  }

  // Returns whether the parameter makes the shape of a tensor.
  bool IsSize(absl::string_view name) const {
    const int at = facts_.function.Find(name);
    return at >= 0 && facts_.usage.constexprs[static_cast<size_t>(at)].shape;
  }

  SecondGuess Decide(const Branch& branch, bool holds) {
    if (branch.condition == python::kNoNode) return {};
    return Decide(*expressions_.Make(branch.condition), holds, 0);
  }

  // Returns the guess with which a condition holds, or does not; empty if no guess decides it.
  SecondGuess Decide(const Expression& condition, bool holds, int depth) {
    if (depth > kMaxConditionDepth) return {};
    switch (condition.kind) {
      case Kind::kName:
        return Change(condition.name, holds ? "True" : "False");
      case Kind::kUnary:
        return condition.name == "not" ? Decide(*condition.parts[0], !holds, depth + 1)
                                       : SecondGuess();
      case Kind::kBoolean: {
        SecondGuess made = Decide(*condition.parts[0], holds, depth + 1);
        const bool both = (condition.name == "and") == holds;
        if (!both && !made.empty()) return made;
        const SecondGuess other = Decide(*condition.parts[1], holds, depth + 1);
        made.insert(made.end(), other.begin(), other.end());
        return made;
      }
      case Kind::kCompare:
        return DecideComparison(condition, holds);
      default:
        return {};
    }
  }

  SecondGuess DecideComparison(const Expression& condition, bool holds) {
    const Expression& left = *condition.parts[0];
    const Expression& right = *condition.parts[1];
    const bool equal = condition.name == "==" || condition.name == "is";
    const bool unequal = condition.name == "!=" || condition.name == "is not";
    if (const absl::string_view pointer = FindElementOwner(left); !pointer.empty()) {
      const std::string type = TritonType(LastName(right));
      const bool wanted = (equal && holds) || (unequal && !holds);
      return type.empty() || !wanted ? SecondGuess() : Change(pointer, absl::StrCat("*", type));
    }
    if (left.kind != Kind::kName) return {};
    if (equal || unequal) {
      if (equal == holds) return Change(left.name, right.text);
      const std::vector<std::string> others = FindOthers(left.name);
      for (const std::string& other : others) {
        if (other != right.text) return Change(left.name, other);
      }
      return {};
    }
    int64_t number = 0;
    if (!absl::SimpleAtoi(right.text, &number)) return {};
    const bool more = (condition.name[0] == '>') == holds;
    const bool edge = (condition.name.size() == 2) == holds;  // >= and <= hold at the number itself
    return Change(left.name, absl::StrCat(edge ? number : more ? number + 1 : number - 1));
  }

  // Returns the pointer or the number whose type an expression is: x of x.dtype.element_ty, of
  // tl.load(x + i).dtype, or of a name that has such a value; empty for any other expression.
  absl::string_view FindElementOwner(const Expression& expression, int depth = 0) const {
    if (depth > kMaxConditionDepth) return "";
    if (expression.kind == Kind::kAttribute) {
      if (expression.name == "element_ty") return FindElementOwner(*expression.parts[0], depth + 1);
      return expression.name == "dtype" ? FindAddress(*expression.parts[0], depth + 1) : "";
    }
    const Expression* value = FindFirstValue(expression);
    return value == nullptr ? "" : FindElementOwner(*value, depth + 1);
  }

  // Returns the parameter that a value is loaded from, or is itself.
  absl::string_view FindAddress(const Expression& expression, int depth) const {
    if (depth > 2 * kMaxConditionDepth) return "";
    if (expression.kind == Kind::kBinary) return FindAddress(*expression.parts[0], depth + 1);
    if (expression.kind == Kind::kCall && LastName(expression) == "load" &&
        expression.parts.size() > 1) {
      return FindAddress(*expression.parts[1], depth + 1);
    }
    if (expression.kind == Kind::kName && facts_.function.Find(expression.name) >= 0)
      return expression.name;
    const Expression* value = FindFirstValue(expression);
    return value == nullptr ? "" : FindAddress(*value, depth + 1);
  }

  // Null if the expression is no local name.
  const Expression* FindFirstValue(const Expression& expression) const {
    const auto values = expression.kind == Kind::kName
                            ? facts_.function.values.find(expression.name)
                            : facts_.function.values.end();
    return values == facts_.function.values.end() ? nullptr : values->second[0];
  }

  // Returns the names that the values of a line are made of, the nearest first.
  std::vector<absl::string_view> FollowNames(int line) const {
    std::vector<absl::string_view> names;
    for (const Statement& statement : facts_.function.statements) {
      const bool there = Covers(*statement.value, line) ||
                         (statement.target != nullptr && Covers(*statement.target, line));
      if (!there) continue;
      if (statement.target != nullptr) CollectNames(*statement.target, names);
      CollectNames(*statement.value, names);
    }
    size_t begin = 0;
    for (int distance = 0; distance < kMaxDistance && names.size() < kMaxNames; ++distance) {
      const size_t end = names.size();
      for (; begin < end; ++begin) {
        const auto values = facts_.function.values.find(names[begin]);
        if (values == facts_.function.values.end()) continue;
        for (const Expression* value : values->second) CollectNames(*value, names);
      }
    }
    return names;
  }

  bool Covers(const Expression& expression, int line) const {
    const size_t begin = Offset(expression.text);
    if (begin > module_.text().size() || line <= 0) return false;  // made, and of no text
    return lines_.LineAt(begin) <= line &&
           line <= lines_.LineAt(begin + expression.text.size() - 1);
  }

  static void CollectNames(const Expression& expression, std::vector<absl::string_view>& names) {
    if (expression.kind == Kind::kName &&
        std::find(names.begin(), names.end(), expression.name) == names.end()) {
      names.push_back(expression.name);
    }
    for (const Expression* part : expression.parts) CollectNames(*part, names);
  }

  // Adds the other values of one parameter, each as a guess of its own.
  void AddOthers(absl::string_view name) {
    for (const std::string& other : FindOthers(name)) Add(Change(name, other));
  }

  // Returns the change of a guess; empty if the parameter is no guess, or has that value already.
  SecondGuess Change(absl::string_view name, absl::string_view value) const {
    const std::optional<std::string> now = FindGuess(name);
    if (!now || *now == value) return {};
    return {{std::string(name), std::string(value)}};
  }

  // Returns the value or type of a parameter that was guessed; nothing for any other.
  std::optional<std::string> FindGuess(absl::string_view name) const {
    for (const v1::ConstexprValue& value : refused_.constexprs()) {
      if (value.name() == name && MayChange(value.rule())) return value.value();
    }
    for (const v1::ArgumentType& argument : refused_.arguments()) {
      const bool plain = !absl::StartsWith(argument.type(), "tensordesc");
      if (argument.name() == name && MayChange(argument.rule()) && plain) return argument.type();
    }
    return std::nullopt;
  }

  // A launch does not choose the values that a function of @triton.heuristics gives.
  static bool MayChange(absl::string_view rule) {
    return (MayDiffer(rule) && rule != "heuristics" && rule != "launch:present") ||
           absl::StartsWith(rule, "usage:");
  }

  std::vector<std::string> FindOthers(absl::string_view name) const {
    const std::optional<std::string> now = FindGuess(name);
    const int at = facts_.function.Find(name);
    if (!now || at < 0) return {};
    std::vector<std::string> others;
    const bool is_constexpr = absl::StrContains(
        facts_.function.parameters[static_cast<size_t>(at)].annotation, "constexpr");
    for (const v1::ArgumentType& argument : refused_.arguments()) {
      if (argument.name() == name) others = OtherTypes(*now);
    }
    if (*now == "None" && !is_constexpr) others = {"*fp32", "*i32", "i32"};
    if (others.empty())
      others = OtherValues(facts_.usage.constexprs[static_cast<size_t>(at)], *now);
    others.erase(std::remove(others.begin(), others.end(), *now), others.end());
    if (others.size() > kMaxOfOneName) others.resize(kMaxOfOneName);
    return others;
  }

  std::vector<std::string> OtherTypes(absl::string_view now) const {
    if (of_float8_ && absl::StartsWith(now, "*")) return {"*fp8e4nv", "*u8", "*bf16", "*fp32"};
    if (absl::StartsWith(now, "*i") || absl::StartsWith(now, "*u"))
      return {"*bf16", "*fp32", "*i32", "*i64", "*u8", "*i8"};
    if (absl::StartsWith(now, "*")) return {"*bf16", "*fp32", "*i32", "*fp16", "*i64", "*u8"};
    if (absl::StartsWith(now, "fp")) return {"i32"};
    return absl::StartsWith(now, "(") ? std::vector<std::string>()
                                      : std::vector<std::string>{"fp32", "i32"};
  }

  // The literals that a constexpr is compared with come before sizes.
  static std::vector<std::string> OtherValues(const ConstexprUsage& usage, absl::string_view now) {
    if (now == "True") return {"False"};
    if (now == "False") return {"True"};
    std::vector<std::string> others;
    for (const Expression* other : usage.compared) {
      if (other->kind == Kind::kNumber || other->kind == Kind::kString ||
          other->kind == Kind::kAttribute)
        others.emplace_back(other->text);
    }
    int64_t number = 0;
    if (!absl::SimpleAtoi(now, &number)) {
      if (now == "None") others.insert(others.end(), {"64", "True"});
      return others;
    }
    if (!others.empty() && !usage.shape) others.emplace_back("0");
    const std::vector<std::string> sizes =
        number > 16 ? std::vector<std::string>{"16", "1", "128", "32", "256"}
                    : std::vector<std::string>{"64", "1", "32", "2", "128"};
    others.insert(others.end(), sizes.begin(), sizes.end());
    return others;
  }

  void Add(SecondGuess guess) {
    if (guess.empty() || found_.size() == kMaxSecondGuesses) return;
    if (std::find(found_.begin(), found_.end(), guess) == found_.end())
      found_.push_back(std::move(guess));
  }

  const KernelFacts& facts_;
  const SyntaxTree& module_;
  const LineIndex lines_;
  ExpressionArena arena_;
  ExpressionMaker expressions_;
  const v1::KernelSignature& refused_;
  bool of_shapes_ = false;
  bool of_float8_ = false;
  std::vector<SecondGuess> found_;
};

}  // namespace

bool IsAboutShapes(absl::string_view message) {
  static constexpr absl::string_view kShapes[] = {
      "axis",       "axes",         "number of elements",  "numel",
      "power of 2", "power of two", "Input shapes should", "incompatible dimensions"};
  return std::any_of(std::begin(kShapes), std::end(kShapes), [&](absl::string_view fragment) {
    return absl::StrContains(message, fragment);
  });
}

absl::string_view FindUndefinedName(absl::string_view message) {
  const size_t end = message.find(" is not defined");
  if (end == absl::string_view::npos) return "";
  const absl::string_view name = absl::StripSuffix(message.substr(0, end), "'");
  return name.substr(name.find_last_of(" '\"(") + 1);
}

std::vector<SecondGuess> FindSecondGuesses(const KernelFacts& facts, const SyntaxTree& module,
                                           const v1::KernelSignature& refused,
                                           const Refusal& refusal) {
  return Finder(facts, module, refused).Find(refusal);
}

}  // namespace kernelmill::compiler
