#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_SYNTAX_FUNCTIONS_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_SYNTAX_FUNCTIONS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "services/compiler/core/signature/syntax/expression.h"

namespace kernelmill::compiler {

// A simple statement, or the head of a compound one. Which blocks hold it is not kept.
struct Statement {
  enum Kind : uint8_t {
    kExpression,  // value
    kAssign,      // target = value; of an augmented one value is target + value
    kFor,         // for target in value
    kCondition,   // if, elif, while, assert: value
    kReturn,      // value
  };
  Kind kind = kExpression;
  const Expression* target = nullptr;
  const Expression* value = nullptr;
};

struct FunctionParameter {
  absl::string_view name;
  absl::string_view annotation;
  const Expression* default_value = nullptr;  // null: none
};

// A function with the statements of its body, those of functions in it aside.
struct Function {
  absl::string_view name;
  std::vector<FunctionParameter> parameters;  // with * and ** ones
  std::vector<const Expression*> decorators;  // outermost first
  std::vector<Statement> statements;
  // What names are given, in the order of the text: by assignments, and of a loop's variable what
  // it runs over.
  absl::flat_hash_map<absl::string_view, std::vector<const Expression*>> values;
  absl::flat_hash_set<absl::string_view> loop_names;

  // Place of a parameter; -1: it is none.
  int Find(absl::string_view parameter) const;
};

// The functions of a text and what its module level assigns. Refers to the text. Immutable.
class ModuleFunctions {
 public:
  // Statements beyond are not read.
  static constexpr size_t kMaxStatements = 1 << 17;

  explicit ModuleFunctions(absl::string_view text);
  ModuleFunctions(const ModuleFunctions&) = delete;
  ModuleFunctions& operator=(const ModuleFunctions&) = delete;

  // The last jit function of that name, else the last of all; null where there is none.
  const Function* Find(absl::string_view name) const;
  const std::deque<Function>& all() const { return functions_; }
  // Whether anything in it, a function's own names among it, is called so.
  bool Binds(absl::string_view name) const;
  // The module's own statements: imports aside.
  const Function& module_level() const { return module_; }
  // What `import x as name` and `from a import b as name` bind: name to the dotted name.
  const absl::flat_hash_map<absl::string_view, std::string>& imports() const { return imports_; }

 private:
  void ReadStatement(absl::Span<const code::Token> tokens, Function& into);
  void ReadImport(absl::Span<const code::Token> tokens);
  void ReadDefinition(absl::Span<const code::Token> tokens, Function& function);
  void ReadSimple(ExpressionReader& reader, Function& into);
  void Bind(const Expression& target, const Expression& value, Function& into);

  ExpressionArena arena_;
  std::deque<Function> functions_;
  Function module_;
  absl::flat_hash_map<absl::string_view, const Function*> by_name_;
  absl::flat_hash_map<absl::string_view, std::string> imports_;
};

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_SYNTAX_FUNCTIONS_H_
