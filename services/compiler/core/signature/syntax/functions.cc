#include "services/compiler/core/signature/syntax/functions.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace kernelmill::compiler {
namespace {

using Kind = Expression::Kind;
using Tokens = absl::Span<const code::Token>;

// Bytes between the beginning of the line and a token.
size_t ColumnOf(absl::string_view text, const code::Token& token) {
  const size_t at = static_cast<size_t>(token.text.data() - text.data());
  const size_t newline = text.substr(0, at).find_last_of("\r\n");
  return newline == absl::string_view::npos ? at : at - newline - 1;
}

bool IsAugmented(absl::string_view text) {
  return text.size() >= 2 && text.back() == '=' && text != "==" && text != "!=" && text != "<=" &&
         text != ">=" && text != ":=";
}

// Place of a text outside brackets; the number of tokens where there is none.
size_t FindOutside(Tokens tokens, absl::string_view wanted, size_t from) {
  int open = 0;
  for (size_t i = from; i < tokens.size(); ++i) {
    const absl::string_view text = tokens[i].text;
    if (tokens[i].kind != code::Token::kOperator) continue;
    if (open == 0 && text == wanted) return i;
    if (text == "(" || text == "[" || text == "{") ++open;
    if (text == ")" || text == "]" || text == "}") --open;
  }
  return tokens.size();
}

// By its decorators: one of Triton's, or a wrapper's that is named for it.
bool IsJit(const Function& function) {
  return std::any_of(
      function.decorators.begin(), function.decorators.end(),
      [](const Expression* decorator) { return absl::StrContains(decorator->text, "jit"); });
}

absl::string_view Span(Tokens tokens) {
  if (tokens.empty()) return "";
  const char* begin = tokens.front().text.data();
  const absl::string_view last = tokens.back().text;
  return {begin, static_cast<size_t>(last.data() + last.size() - begin)};
}

}  // namespace

int Function::Find(absl::string_view parameter) const {
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == parameter) return static_cast<int>(i);
  }
  return -1;
}

ModuleFunctions::ModuleFunctions(absl::string_view text) {
  std::vector<code::Token> tokens = code::Lex(text, code::Language::kPython);
  tokens.erase(std::remove_if(tokens.begin(), tokens.end(),
                              [](const code::Token& t) { return t.kind == code::Token::kComment; }),
               tokens.end());
  struct Open {
    size_t column;
    Function* function;
  };
  std::vector<Open> open;
  std::vector<const Expression*> decorators;
  size_t statements = 0;
  for (size_t i = 0; i < tokens.size() && statements < kMaxStatements; ++statements) {
    size_t end = i + 1;
    while (end < tokens.size() && !tokens[end].begins_statement) ++end;
    const Tokens statement = Tokens(tokens).subspan(i, end - i);
    const bool after_semicolon = i > 0 && tokens[i - 1].text == ";";
    const size_t column = ColumnOf(text, statement.front());
    while (!after_semicolon && !open.empty() && column <= open.back().column) open.pop_back();
    i = end;
    Function& into = open.empty() ? module_ : *open.back().function;
    const absl::string_view head = statement.front().text;
    const bool async = head == "async" && statement.size() > 1 && statement[1].text == "def";
    if (head == "@") {
      ExpressionReader reader(statement.subspan(1), arena_);
      decorators.push_back(reader.ReadList());
    } else if (head == "def" || async) {
      functions_.emplace_back();
      Function& function = functions_.back();
      function.decorators = std::exchange(decorators, {});
      open.push_back({column, &function});
      ReadDefinition(statement.subspan(async ? 2 : 1), function);
      const Function*& named = by_name_[function.name];
      // `else: def f(*args): raise` stands in for a device function where there is no Triton.
      if (named == nullptr || IsJit(function) || !IsJit(*named)) named = &function;
    } else if (head == "import" || head == "from") {
      ReadImport(statement);
    } else {
      if (head == "class") decorators.clear();
      ReadStatement(statement, into);
    }
  }
}

const Function* ModuleFunctions::Find(absl::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

bool ModuleFunctions::Binds(absl::string_view name) const {
  const auto names = [&](const Expression& target) {
    return target.name == name || std::any_of(target.parts.begin(), target.parts.end(),
                                              [&](const Expression* p) { return p->name == name; });
  };
  const auto binds = [&](const Function& function) {
    return function.name == name || function.Find(name) >= 0 || function.values.contains(name) ||
           std::any_of(function.statements.begin(), function.statements.end(),
                       [&](const Statement& s) { return s.target != nullptr && names(*s.target); });
  };
  return imports_.contains(name) || binds(module_) ||
         std::any_of(functions_.begin(), functions_.end(), binds);
}

void ModuleFunctions::ReadImport(Tokens tokens) {
  std::string module;
  size_t i = 1;
  if (tokens[0].text == "from") {
    for (; i < tokens.size() && tokens[i].text != "import"; ++i)
      absl::StrAppend(&module, tokens[i].text);
    ++i;
  }
  while (i < tokens.size()) {
    std::string dotted;
    absl::string_view first;
    for (; i < tokens.size() && tokens[i].text != "," && tokens[i].text != "as"; ++i) {
      if (tokens[i].text == "(" || tokens[i].text == ")" || tokens[i].text == ";") continue;
      if (first.empty()) first = tokens[i].text;
      absl::StrAppend(&dotted, tokens[i].text);
    }
    absl::string_view bound = first;
    const bool renamed = i + 1 < tokens.size() && tokens[i].text == "as";
    if (renamed) {
      bound = tokens[i + 1].text;
      i += 2;
    }
    if (!bound.empty()) {
      imports_[bound] = !module.empty() ? absl::StrCat(module, ".", dotted)
                        : renamed       ? dotted
                                        : std::string(first);
    }
    while (i < tokens.size() && tokens[i].text != ",") ++i;
    ++i;
  }
}

void ModuleFunctions::ReadDefinition(Tokens tokens, Function& function) {
  if (tokens.size() < 3) return;
  function.name = tokens[0].text;
  size_t i = FindOutside(tokens, "(", 0) + 1;
  const size_t end = FindOutside(tokens, ")", i);
  while (i < end) {
    const size_t next = std::min(FindOutside(tokens.subspan(0, end), ",", i), end);
    const Tokens part = tokens.subspan(i, next - i);
    i = next + 1;
    if (part.empty() || part[0].text == "/" || (part[0].text == "*" && part.size() == 1)) continue;
    FunctionParameter parameter;
    const bool starred = part[0].text == "*" || part[0].text == "**";
    parameter.name = part[starred ? 1 : 0].text;
    const size_t equals = FindOutside(part, "=", 0);
    const size_t colon = FindOutside(part, ":", 0);
    if (colon < equals) parameter.annotation = Span(part.subspan(colon + 1, equals - colon - 1));
    if (equals < part.size()) {
      ExpressionReader reader(part.subspan(equals + 1), arena_);
      parameter.default_value = reader.Read();
    }
    function.parameters.push_back(parameter);
  }
  // def f(): return x
  const size_t colon = FindOutside(tokens, ":", std::min(end + 1, tokens.size()));
  if (colon + 1 < tokens.size()) ReadStatement(tokens.subspan(colon + 1), function);
}

void ModuleFunctions::ReadStatement(Tokens tokens, Function& into) {
  for (int heads = 0; heads < 4 && !tokens.empty(); ++heads) {
    const absl::string_view head = tokens.front().text;
    ExpressionReader reader(tokens, arena_);
    if (head == "if" || head == "elif" || head == "while" || head == "assert" || head == "with") {
      reader.Skip();
      into.statements.push_back({Statement::kCondition, nullptr, reader.ReadList()});
    } else if (head == "else" || head == "try" || head == "finally") {
      reader.Skip();
    } else if (head == "for") {
      // The target would read `x in y` as a comparison.
      reader.Skip();
      size_t in = 1;
      while (in < tokens.size() && tokens[in].text != "in") ++in;
      ExpressionReader target(tokens.subspan(1, in - 1), arena_);
      Statement loop{Statement::kFor, target.ReadList(), nullptr};
      while (reader.position() < in + 1 && !reader.AtEnd()) reader.Skip();
      loop.value = reader.ReadList();
      into.statements.push_back(loop);
      if (loop.target->kind == Kind::kName) {
        into.loop_names.insert(loop.target->name);
        into.values[loop.target->name].push_back(loop.value);
      }
    } else if (head == "return") {
      reader.Skip();
      if (!reader.AtEnd())
        into.statements.push_back({Statement::kReturn, nullptr, reader.ReadList()});
      return;
    } else if (head == "class" || head == "except" || head == "raise" || head == "del" ||
               head == "global" || head == "nonlocal" || head == "pass") {
      return;
    } else {
      return ReadSimple(reader, into);
    }
    if (!reader.Take(":")) return;
    tokens = tokens.subspan(std::min(reader.position(), tokens.size()));
  }
}

void ModuleFunctions::ReadSimple(ExpressionReader& reader, Function& into) {
  std::vector<const Expression*> targets = {reader.ReadList()};
  if (reader.Take(":")) reader.Read();
  const absl::string_view sign = reader.Peek();
  if (IsAugmented(sign)) {
    reader.Skip();
    Expression sum;
    sum.kind = Kind::kBinary;
    sum.name = sign.substr(0, sign.size() - 1);
    sum.parts = {targets[0], reader.ReadList()};
    sum.text = targets[0]->text;
    arena_.push_back(std::move(sum));
    into.statements.push_back({Statement::kAssign, targets[0], &arena_.back()});
    Bind(*targets[0], arena_.back(), into);
    return;
  }
  while (reader.Take("=")) targets.push_back(reader.ReadList());
  const Expression* value = targets.back();
  targets.pop_back();
  if (targets.empty()) into.statements.push_back({Statement::kExpression, nullptr, value});
  for (const Expression* target : targets) {
    into.statements.push_back({Statement::kAssign, target, value});
    Bind(*target, *value, into);
  }
}

void ModuleFunctions::Bind(const Expression& target, const Expression& value, Function& into) {
  if (target.kind == Kind::kName) {
    into.values[target.name].push_back(&value);
  } else if (target.kind == Kind::kSequence) {
    const bool pairs = value.kind == Kind::kSequence && value.parts.size() == target.parts.size();
    for (size_t i = 0; i < target.parts.size(); ++i) {
      if (target.parts[i]->kind != Kind::kName) continue;
      auto& values = into.values[target.parts[i]->name];
      if (pairs) {
        values.push_back(value.parts[i]);
      } else {
        // A value that is not known.
        arena_.emplace_back();
        arena_.back().text = value.text;
        values.push_back(&arena_.back());
      }
    }
  }
}

}  // namespace kernelmill::compiler
