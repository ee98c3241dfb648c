#include "services/validator/core/quality/stub.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/code/lexer.h"

namespace kernelmill::validator {
namespace {

using code::Token;
using Statement = std::vector<Token>;

// What follows the signature, without the colon.
absl::string_view BodyOf(const v1::Kernel& kernel) {
  const absl::string_view source = kernel.source();
  const size_t at = source.find(kernel.signature());
  if (kernel.signature().empty() || at == absl::string_view::npos) return "";
  return absl::StripPrefix(
      absl::StripLeadingAsciiWhitespace(source.substr(at + kernel.signature().size())), ":");
}

std::vector<Token> CodeTokens(absl::string_view body, code::Language language) {
  std::vector<Token> tokens = code::Lex(body, language);
  tokens.erase(std::remove_if(tokens.begin(), tokens.end(),
                              [](const Token& token) { return token.kind == Token::kComment; }),
               tokens.end());
  return tokens;
}

std::vector<Statement> PythonStatements(const std::vector<Token>& tokens) {
  std::vector<Statement> statements;
  for (const Token& token : tokens) {
    if (token.text == ";" && token.kind == Token::kOperator) continue;
    if (statements.empty() || token.begins_statement) statements.emplace_back();
    statements.back().push_back(token);
  }
  return statements;
}

// Between the body's braces; of a nested block all is one statement, which begins with its brace.
std::vector<Statement> CStatements(const std::vector<Token>& tokens) {
  std::vector<Statement> statements(1);
  for (size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (tokens[i].text == ";") {
      statements.emplace_back();
    } else {
      statements.back().push_back(tokens[i]);
    }
  }
  statements.erase(std::remove_if(statements.begin(), statements.end(),
                                  [](const Statement& one) { return one.empty(); }),
                   statements.end());
  return statements;
}

// The last part of the dotted name that a call begins with; empty of what is no such call.
absl::string_view Called(const Statement& statement) {
  size_t i = 0;
  while (i + 2 < statement.size() && statement[i].kind == Token::kName &&
         statement[i + 1].text == "." && statement[i + 2].kind == Token::kName) {
    i += 2;
  }
  const bool called =
      i + 1 < statement.size() && statement[i].kind == Token::kName && statement[i + 1].text == "(";
  return called ? statement[i].text : "";
}

bool IsEmpty(const Statement& statement) {
  const Token& first = statement.front();
  if (first.kind == Token::kString && statement.size() == 1) return true;
  if (first.text == "if" || first.text == "elif" || first.text == "else") {
    return statement.back().text == ":";  // what it holds are statements of their own
  }
  if (first.text == "pass" || first.text == "..." || first.text == "del") return true;
  if (first.text == "return") {
    return statement.size() == 1 || (statement.size() == 2 && statement[1].text == "None");
  }
  return first.text == "raise" && statement.size() > 1 &&
         statement[1].text == "NotImplementedError";
}

// Whether it calls `word`, or what ends in it: device_print, CUDA_KERNEL_ASSERT.
bool CallsOneOf(const Statement& statement, std::initializer_list<absl::string_view> words) {
  const std::string name = absl::AsciiStrToLower(Called(statement));
  return std::any_of(words.begin(), words.end(), [&](absl::string_view word) {
    return name == word || absl::EndsWith(name, absl::StrCat("_", word));
  });
}

bool Asserts(const Statement& statement) {
  return statement.front().text == "assert" ||
         CallsOneOf(statement, {"assert", "assert2", "check"});
}

bool Prints(const Statement& statement) {
  return CallsOneOf(statement, {"print", "printf", "debug_barrier"});
}

}  // namespace

Stub StubOf(const v1::Kernel& kernel) {
  const bool cuda = kernel.dsl() == v1::DSL_CUDA;
  const absl::string_view body = BodyOf(kernel);
  if (body.empty()) return Stub::kNone;
  const std::vector<Token> tokens = CodeTokens(body, code::ToLanguage(kernel.dsl()));
  Stub stub = Stub::kEmpty;
  for (const Statement& statement : cuda ? CStatements(tokens) : PythonStatements(tokens)) {
    if (IsEmpty(statement)) continue;
    if (Asserts(statement)) {
      stub = Stub::kAsserts;
    } else if (!Prints(statement)) {
      return Stub::kNone;
    } else if (stub == Stub::kEmpty) {
      stub = Stub::kPrints;
    }
  }
  const bool hook = cuda && kernel.role() == v1::KERNEL_ROLE_DEVICE;
  return stub == Stub::kEmpty && hook ? Stub::kNone : stub;
}

}  // namespace kernelmill::validator
