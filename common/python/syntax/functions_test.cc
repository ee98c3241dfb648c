// The functions and expressions of plain texts and of texts that only tree-sitter reads.
#include "common/python/syntax/functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/python/parse/parsed_text.h"

namespace kernelmill::python {
namespace {

using ::testing::ElementsAre;

// "binary+(name:a, number:1)".
std::string Describe(const Expression& expression) {
  static constexpr const char* kKinds[] = {
      "name",        "number",    "string",     "constant", "attribute", "call",
      "keyword",     "subscript", "binary",     "unary",    "compare",   "boolean",
      "conditional", "sequence",  "dictionary", "lambda",   "other"};
  std::string text = kKinds[expression.kind];
  const bool leaf = expression.parts.empty();
  if (!expression.name.empty()) absl::StrAppend(&text, leaf ? ":" : "", expression.name);
  if (leaf && expression.name.empty()) absl::StrAppend(&text, ":", expression.text);
  std::vector<std::string> parts;
  for (const Expression* part : expression.parts) parts.push_back(Describe(*part));
  return parts.empty() ? text : absl::StrCat(text, "(", absl::StrJoin(parts, ", "), ")");
}

class Module {
 public:
  explicit Module(const std::string& text)
      : text_(text),
        parsed_(*ParsedText::Parse(text_, StandardParser())),
        functions_(parsed_->tree()) {}
  const ModuleFunctions& functions() const { return functions_; }

 private:
  const std::string text_;
  const std::unique_ptr<const ParsedText> parsed_;
  const ModuleFunctions functions_;
};

std::string DescribeExpression(const std::string& text) {
  const Module module(text + "\n");
  const std::vector<Statement>& statements = module.functions().module_level().statements;
  return statements.size() == 1 ? Describe(*statements[0].value) : "";
}

TEST(ExpressionTest, OperatorsAndOperands) {
  EXPECT_EQ(DescribeExpression("(a + b) * -c ** 2"),
            "binary*(binary+(name:a, name:b), unary-(binary**(name:c, number:2)))");
  EXPECT_EQ(DescribeExpression("x.f(1, *y, k=None, **z)[0]"),
            "subscript(call(attributef(name:x), number:1, unary*(name:y), keywordk(constant:None), "
            "unary**(name:z)), number:0)");
  EXPECT_EQ(DescribeExpression("a if not b else 'c' 'd'"),
            "conditional(name:a, unarynot(name:b), string:'c' 'd')");
  EXPECT_EQ(DescribeExpression("(x := y) and True or ..."),
            "booleanor(booleanand(name:y, constant:True), other:...)");
  EXPECT_EQ(DescribeExpression("lambda args: args['n']"),
            "lambda(subscript(name:args, string:'n'))");
}

TEST(ExpressionTest, ChainedComparisonsArePairs) {
  EXPECT_EQ(DescribeExpression("a < b <= c is  not d"),
            "booleanand(booleanand(compare<(name:a, name:b), compare<=(name:b, name:c)), "
            "compareis not(name:c, name:d))");
  EXPECT_EQ(DescribeExpression("a not  in b"), "comparenot in(name:a, name:b)");
}

TEST(ExpressionTest, DisplaysAndSlices) {
  EXPECT_EQ(DescribeExpression("(1, [2], {3}, ())"),
            "sequence(number:1, sequence(number:2), sequence(number:3), sequence:())");
  EXPECT_EQ(DescribeExpression("{'a': 1, **b}"),
            "dictionary(string:'a', number:1, unary**(name:b), unary**(name:b))");
  EXPECT_EQ(DescribeExpression("x[:, None]"), "subscript(name:x, other(constant:None))");
  EXPECT_EQ(DescribeExpression("x[i, 0]"), "subscript(name:x, sequence(name:i, number:0))");
  EXPECT_EQ(DescribeExpression("f(x for x in y)"), "call(name:f, name:x)");
  EXPECT_EQ(DescribeExpression("[k for k in y]"), "other(name:k)");
}

TEST(ExpressionTest, DeepNestingHasABound) {
  std::string text = "x";
  for (int i = 0; i < 3000; ++i) text = "-" + text;
  const Module module(text + "\n");
  for (const Statement& statement : module.functions().module_level().statements)
    EXPECT_LE(statement.value->height, ExpressionMaker::kMaxHeight);
}

std::vector<std::string> Statements(const Function& function) {
  std::vector<std::string> found;
  for (const Statement& statement : function.statements) {
    found.push_back(statement.target == nullptr
                        ? Describe(*statement.value)
                        : absl::StrCat(statement.target->text, " = ", statement.value->text));
  }
  return found;
}

constexpr char kModule[] = R"(import triton

N: tl.constexpr = 4

@triton.autotune(configs=[])
@triton.jit
def kernel(x, n: tl.constexpr = 3, /, *args, last: int, **rest):
    """doc"""
    a = b = n
    c, (d, e) = x, n
    for i in range(n):
        a += i
    def inner(y):
        return y
    if a: return c
    assert b, "no"
    with open(a) as f, c:
        pass
    print: int

class C:
    K = 1
    def method(self): return self
)";

TEST(ModuleFunctionsTest, StatementsBelongToTheInnermostFunction) {
  const Module module(kModule);
  EXPECT_THAT(Statements(module.functions().module_level()), ElementsAre("N = 4", "K = 1"));
  const Function& kernel = *module.functions().Find("kernel");
  EXPECT_THAT(
      Statements(kernel),
      ElementsAre("string:\"\"\"doc\"\"\"", "a = n", "b = n", "c, (d, e) = x, n", "i = range(n)",
                  "a = a", "name:a", "name:c", "sequence(name:b, string:\"no\")",
                  "sequence(call(name:open, name:a), name:c)", "name:print"));
  EXPECT_THAT(Statements(*module.functions().Find("inner")), ElementsAre("name:y"));
  EXPECT_THAT(Statements(*module.functions().Find("method")), ElementsAre("name:self"));
}

TEST(ModuleFunctionsTest, ParametersAndValues) {
  const Module module(kModule);
  const Function& kernel = *module.functions().Find("kernel");
  std::vector<std::string> parameters;
  for (const FunctionParameter& parameter : kernel.parameters) {
    parameters.push_back(absl::StrCat(
        parameter.name, "|", parameter.annotation, "|",
        parameter.default_value == nullptr ? absl::string_view() : parameter.default_value->text));
  }
  EXPECT_THAT(parameters, ElementsAre("x||", "n|tl.constexpr|3", "args||", "last|int|", "rest||"));
  ASSERT_EQ(kernel.decorators.size(), 2u);
  EXPECT_EQ(kernel.decorators[1]->text, "triton.jit");
  EXPECT_EQ(kernel.values.at("a").size(), 2u);
  EXPECT_EQ(kernel.values.at("c")[0]->text, "x");
  EXPECT_EQ(kernel.values.at("i")[0]->text, "range(n)");
  EXPECT_TRUE(kernel.loop_names.contains("i"));
  EXPECT_FALSE(kernel.values.contains("d"));  // a nested pattern
}

TEST(ModuleFunctionsTest, AKernelIsFoundBeforeItsReplacement) {
  const Module module(
      "if has_triton:\n    @triton.jit\n    def f(x): pass\nelse:\n    def f(*args): raise "
      "Error\n");
  EXPECT_EQ(module.functions().Find("f")->parameters[0].name, "x");
  EXPECT_EQ(module.functions().Find("g"), nullptr);
}

TEST(ModuleFunctionsTest, BrokenCodeHasTheStatementsAroundIt) {
  const Module module("def f(x):\n    a = g(x\n\ndef h(y):\n    b = y\n");
  ASSERT_NE(module.functions().Find("h"), nullptr);
  EXPECT_THAT(Statements(*module.functions().Find("h")), ElementsAre("b = y"));
}

TEST(ModuleFunctionsTest, AnIndentedTextIsReadToo) {
  const Module module("    @staticmethod\n    def f(x):\n        k[grid](x)\n");
  ASSERT_NE(module.functions().Find("f"), nullptr);
  EXPECT_EQ(module.functions().Find("f")->statements.size(), 1u);
}

}  // namespace
}  // namespace kernelmill::python
