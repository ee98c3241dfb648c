#include "services/extractor/core/cuda/declarations.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/extractor/core/cuda/names.h"

namespace kernelmill::extractor::cuda {
namespace {

using absl::string_view;

// Reads a text from the front to the end; see FindDeclarations. at_ is the first token that no
// declaration has taken yet.
class Scanner {
 public:
  Scanner(const Code& code, const Brackets& brackets) : code_(code), brackets_(brackets) {
    found_.namespaces.emplace_back();
  }

  Declarations Run() {
    while (at_ < code_.size()) Step();
    return std::move(found_);
  }

  // Reads the members of the class whose '{' is at `open` instead.
  std::vector<Declaration> RunWithin(uint32_t open) {
    const uint32_t close = brackets_.match[open];
    if (close == kNoToken) return {};
    open_.push_back({0, close});
    at_ = open + 1;
    while (at_ < close) Step();
    return std::move(found_.all);
  }

 private:
  struct Open {
    uint32_t space;
    uint32_t close;
  };

  uint32_t Space() const { return open_.empty() ? 0 : open_.back().space; }
  uint32_t Limit() const { return open_.empty() ? code_.size() : open_.back().close; }

  void Step() {
    while (!open_.empty() && open_.back().close <= at_) open_.pop_back();
    if (at_ >= code_.size()) return;
    const char mark = code_.tokens[at_].mark;
    const bool access = code_.Is(at_ + 1, ":") && IsAccess(code_[at_]);
    if (access || mark == ';' || mark == '}' || mark == ')' || mark == ']') {
      at_ += access ? 2 : 1;
    } else if (!ReadNamespace()) {
      ReadDeclaration();
    }
  }

  // Reads the head of a namespace, or a short name for one. Returns false at anything else.
  bool ReadNamespace() {
    constexpr uint32_t kMaxHead = 64;
    uint32_t at = at_;
    if (code_.Is(at, "extern") && at + 2 < code_.size() &&
        code_.tokens[at + 1].kind == Token::kString && code_.tokens[at + 2].mark == '{') {
      return Enter(at + 2, "");
    }
    if (code_.Is(at, "inline")) ++at;
    if (!code_.Is(at, "namespace")) return false;
    const uint32_t name = at + 1;
    const uint32_t stop = std::min(code_.size(), at + kMaxHead);
    while (at < stop && code_.tokens[at].mark != '{' && code_.tokens[at].mark != ';' &&
           code_.tokens[at].mark != '=') {
      ++at;
    }
    if (at == stop) return false;
    if (code_.tokens[at].mark == '{') {
      const bool is_inline = code_.Is(at_, "inline");
      return Enter(at, is_inline ? "" : JoinedWords(code_, brackets_, name, at));
    }
    Declaration declaration = Begin(Declaration::kShortName);
    const uint32_t end = SemicolonFrom(at);
    if (code_.tokens[at].mark == '=') {
      declaration.names.emplace_back(code_[name]);
      declaration.target = JoinedWords(code_, brackets_, at + 1, end);
    }
    Finish(std::move(declaration), end);
    return true;
  }

  // Enters the namespace whose '{' is at `brace`. A brace without a partner is skipped, since its
  // end is not known. An inner namespace ends with the one around it, whatever its own brace says.
  bool Enter(uint32_t brace, const std::string& name) {
    const uint32_t close = brackets_.match[brace];
    if (close == kNoToken) {
      at_ = brace + 1;
      return true;
    }
    Namespace space;
    space.outer = Space();
    const std::string& around = found_.namespaces[space.outer].qualified;
    space.qualified = around;
    if (!name.empty()) space.qualified = absl::StrCat(around, around.empty() ? "" : "::", name);
    const uint32_t begin = code_.tokens[at_].begin;
    space.opening = std::string(code_.text.substr(begin, code_.tokens[brace - 1].end - begin));
    open_.push_back({static_cast<uint32_t>(found_.namespaces.size()), std::min(close, Limit())});
    found_.namespaces.push_back(std::move(space));
    at_ = brace + 1;
    return true;
  }

  Declaration Begin(Declaration::Kind kind) const {
    Declaration declaration;
    declaration.kind = kind;
    declaration.first = at_;
    declaration.space = Space();
    return declaration;
  }

  // Ends the declaration at `last`. Drops one that declares, owns and refers to nothing.
  void Finish(Declaration declaration, uint32_t last) {
    declaration.last = std::min(last, code_.size() - 1);
    at_ = declaration.last + 1;
    const bool useful = !declaration.names.empty() || !declaration.owner.empty() ||
                        !declaration.target.empty() || declaration.kind == Declaration::kInvocation;
    if (useful) found_.all.push_back(std::move(declaration));
  }

  // Returns the next ';' outside brackets; the last token of the namespace without one.
  uint32_t SemicolonFrom(uint32_t at) const {
    const uint32_t limit = Limit();
    for (; at < limit && code_.tokens[at].mark != ';'; ++at) {
      const uint32_t close = brackets_.match[at];
      if (close != kNoToken && close > at) at = close;
    }
    return std::min(at, limit - 1);
  }

  // Notes about the declaration that is being read.
  struct Seen {
    uint32_t head;  // the first token after template headers
    uint32_t class_key = kNoToken;
    uint32_t name = kNoToken;  // the word before the parameters
    uint32_t open = kNoToken;  // the parentheses of the parameters
    uint32_t close = kNoToken;
    uint32_t body = kNoToken;  // '{' of a class or an enum
    bool is_enum = false;
    bool assigned = false;      // a '=' was met: the rest is a value
    bool initializers = false;  // in a constructor's member initializers
    bool frozen = false;        // parentheses from here on hold no parameters
  };

  // Reads one declaration from at_ on. using, typedef and static_assert end with a semicolon. All
  // others are read token by token, until one of the readers below sets `last`.
  void ReadDeclaration() {
    Declaration declaration = Begin(Declaration::kVariable);
    Seen seen;
    if (code_.Is(at_, "template") && !code_.Is(at_ + 1, "<")) {  // an instantiation
      at_ = SemicolonFrom(at_) + 1;
      return;
    }
    uint32_t at = AfterTemplates(at_, declaration);
    seen.head = at;
    if (code_.Is(at, "using")) return ReadUsing(std::move(declaration), at);
    if (code_.Is(at, "typedef")) return ReadTypedef(std::move(declaration), at);
    if (code_.Is(at, "static_assert")) {
      at_ = SemicolonFrom(at) + 1;
      return;
    }
    const uint32_t limit = Limit();
    uint32_t last = kNoToken;
    while (at < limit && last == kNoToken) at = Read(at, seen, last);
    if (last == kNoToken) last = limit - 1;
    Describe(seen, last, declaration);
    const uint32_t end = std::max(last, declaration.first);
    Finish(std::move(declaration), end);
  }

  // Returns the token after the template headers. An empty header, template <>, is a
  // specialization.
  uint32_t AfterTemplates(uint32_t at, Declaration& declaration) const {
    while (code_.Is(at, "template") && code_.Is(at + 1, "<")) {
      const AngleSearch end = FindAngleEnd(code_, brackets_, at + 1);
      if (!end.found) return at + 2;
      if (end.token == at + 2) declaration.specializes = true;
      at = end.token + 1;
    }
    return at;
  }

  // Reads the token or the brackets at `at`. Sets `last` if the declaration ends there. Returns the
  // token to continue at.
  uint32_t Read(uint32_t at, Seen& seen, uint32_t& last) {
    const char mark = code_.tokens[at].mark;
    if (mark == ';') {
      last = at;
    } else if (mark == '}' || mark == ')' || mark == ']') {
      last = at > at_ ? at - 1 : at;
    } else if (mark == '{') {
      return ReadBrace(at, seen, last);
    } else if (mark == '(') {
      return ReadParentheses(at, seen);
    } else if (mark == '[') {
      return After(at);
    } else if (mark == '=') {
      seen.assigned = true;
    } else if (mark == ':') {
      seen.frozen = true;
      seen.initializers = seen.open != kNoToken;
    } else if (mark == '<') {
      return ReadAngle(at);
    } else if (code_.IsWord(at)) {
      return ReadWord(at, seen, last);
    } else if (code_[at] == "->") {
      seen.frozen = true;
    }
    return at + 1;
  }

  uint32_t After(uint32_t at) const {
    const uint32_t close = brackets_.match[at];
    return close == kNoToken || close < at ? at + 1 : close + 1;
  }

  // Jumps over template arguments. A search that fails is not repeated for the '<' that it passed,
  // which would fail at the same token: that keeps the scan linear.
  uint32_t ReadAngle(uint32_t at) {
    if (at < no_arguments_before_ || !code_.IsWord(at - 1)) return at + 1;
    const AngleSearch end = FindAngleEnd(code_, brackets_, at);
    if (end.found) return end.token + 1;
    no_arguments_before_ = end.token;
    return at + 1;
  }

  // Reads a word: notes class keys, enum and operator, and skips attributes with their parentheses.
  uint32_t ReadWord(uint32_t at, Seen& seen, uint32_t& last) {
    const string_view word = code_[at];
    // NAME(...) and then another declaration: a macro's use without a semicolon.
    const bool invoked = seen.open != kNoToken && at == seen.close + 1 && seen.name == seen.head &&
                         !IsTrailer(word) && !code_.Is(at + 1, "{");
    if (invoked) {
      last = seen.close;
      return at;
    }
    if (word == "operator") return ReadOperator(at, seen);
    if (IsAttribute(word) && code_.Is(at + 1, "(")) return After(at + 1);
    if (word == "enum") {
      seen.is_enum = true;
      if (code_.Is(at + 1, "class") || code_.Is(at + 1, "struct")) ++at;
      if (seen.class_key == kNoToken) seen.class_key = at;
    } else if (IsClassKey(word) && seen.class_key == kNoToken && !seen.frozen) {
      seen.class_key = at;
    }
    return at + 1;
  }

  // Reads operator+, operator() or a conversion operator up to the parentheses of its parameters.
  uint32_t ReadOperator(uint32_t at, Seen& seen) const {
    constexpr uint32_t kMaxOperator = 64;
    uint32_t open = at + 1;
    if (code_.Is(open, "(") && code_.Is(open + 1, ")")) open += 2;
    const uint32_t stop = std::min(Limit(), at + kMaxOperator);
    while (open < stop && code_.tokens[open].mark != '(' && code_.tokens[open].mark != ';' &&
           code_.tokens[open].mark != '{') {
      ++open;
    }
    if (!code_.Is(open, "(") || brackets_.match[open] == kNoToken || seen.frozen) return at + 1;
    seen.name = at;
    seen.open = open;
    seen.close = brackets_.match[open];
    seen.frozen = true;
    return seen.close + 1;
  }

  // The last word before parentheses is the function's name, because macros with arguments may come
  // before the type. A word right after parameters is a trailing macro, though.
  uint32_t ReadParentheses(uint32_t at, Seen& seen) const {
    const uint32_t close = brackets_.match[at];
    if (close == kNoToken || close < at) return at + 1;
    if (seen.assigned || seen.frozen || seen.body != kNoToken) return close + 1;
    const uint32_t name = NameBefore(code_, brackets_, at);
    const bool trails = seen.open != kNoToken && name != kNoToken && seen.close + 1 == name;
    if (name == kNoToken || name < seen.head) {
      if (seen.open != kNoToken && seen.close + 1 == at) {  // NAME(macro argument)(parameters)
        seen.open = at;
        seen.close = close;
      }
      return close + 1;
    }
    if (trails || IsKeyword(code_[name])) return close + 1;
    seen.name = name;
    seen.open = at;
    seen.close = close;
    return close + 1;
  }

  // Reads braces: of a value, a class, a member initializer or a body. Only a body ends the
  // declaration; a class goes on to the variables and the semicolon after it.
  uint32_t ReadBrace(uint32_t at, Seen& seen, uint32_t& last) const {
    const uint32_t close = brackets_.match[at];
    if (close == kNoToken || close < at) {
      last = at;
      return at + 1;
    }
    if (seen.assigned) return close + 1;  // x = {...}
    if (seen.class_key != kNoToken && seen.open == kNoToken && seen.body == kNoToken) {
      seen.body = at;
      seen.frozen = true;
      return close + 1;
    }
    if (seen.open != kNoToken) {
      const string_view before = code_[at - 1];
      // member{...} of a constructor's initializers is no body.
      const bool member = seen.initializers && (code_.IsWord(at - 1) || before == ">");
      if (member) return close + 1;
      last = close;
      return close + 1;
    }
    const bool value = code_.Is(close + 1, ";") || code_.Is(close + 1, ",");  // int x{1};
    if (!value) last = close;
    return close + 1;
  }

  // Decides by the notes what was declared.
  void Describe(const Seen& seen, uint32_t last, Declaration& declaration) const {
    if (seen.open != kNoToken && !(seen.body != kNoToken)) {
      return DescribeFunction(seen, last, declaration);
    }
    if (seen.body != kNoToken || IsForwardDeclaration(seen, last)) {
      return DescribeType(seen, last, declaration);
    }
    AddDeclarators(seen.head, last, declaration);
  }

  // A name before parentheses that nothing comes before and no body follows is a macro's
  // invocation. A '=' makes it a variable, except for `= default`, `= delete` and `= 0` after the
  // parameters.
  void DescribeFunction(const Seen& seen, uint32_t last, Declaration& declaration) const {
    if (seen.assigned && seen.name > seen.head) {  // a variable with a value, or `= default`
      const bool no_function =
          code_.tokens[seen.close + 1 < last ? seen.close + 1 : last].mark != '=' &&
          !code_.IsWord(seen.close + 1);
      if (no_function) return AddDeclarators(seen.head, last, declaration);
    }
    const bool invocation =
        seen.name == seen.head && code_[seen.name] != "operator" && code_.tokens[last].mark != '}';
    declaration.kind = invocation ? Declaration::kInvocation : Declaration::kFunction;
    declaration.parameters = seen.open;
    if (invocation) return;
    const uint32_t begin = QualifiedBegin(code_, brackets_, seen.name);
    if (begin != seen.name) declaration.owner = JoinedWords(code_, brackets_, begin, seen.name);
    if (code_[seen.name] == "operator") {
      declaration.names.push_back(absl::StrCat("operator", code_[seen.name + 1]));
    } else if (declaration.owner.empty()) {
      declaration.names.emplace_back(code_[seen.name]);
    } else {
      declaration.names.push_back(absl::StrCat(declaration.owner, "::", code_[seen.name]));
    }
  }

  // Returns whether the declaration is `struct X;` and nothing else.
  bool IsForwardDeclaration(const Seen& seen, uint32_t last) const {
    return seen.class_key != kNoToken && seen.class_key <= seen.head + 1 && !seen.assigned &&
           last == seen.class_key + 2 && code_.IsWord(last - 1);
  }

  // A class or enum also declares its enumerators, and the variables between its '}' and the
  // semicolon.
  void DescribeType(const Seen& seen, uint32_t last, Declaration& declaration) const {
    declaration.kind = Declaration::kType;
    const uint32_t end = seen.body == kNoToken ? last : seen.body;
    std::string name;
    ClassName(code_, brackets_, seen.class_key, end, name);
    if (seen.body == kNoToken) name = std::string(code_[last - 1]);
    if (!name.empty()) declaration.names.push_back(std::move(name));
    declaration.specializes |= HasArguments(seen.class_key, end);
    if (seen.body == kNoToken) return;
    if (!seen.is_enum) declaration.body = seen.body;
    const uint32_t close = brackets_.match[seen.body];
    if (seen.is_enum) AddEnumerators(seen.body, close, declaration);
    if (close < last) AddDeclarators(close + 1, last, declaration);
    declaration.kind = Declaration::kType;
  }

  // Returns whether template arguments follow the name in a class's head, as in struct S<int> {.
  bool HasArguments(uint32_t key, uint32_t end) const {
    for (uint32_t at = key + 1; at < end && !code_.Is(at, ":"); ++at) {
      if (code_.Is(at, "<") && code_.IsWord(at - 1)) return true;
      const uint32_t close = brackets_.match[at];
      if (close != kNoToken && close > at) at = close;
    }
    return false;
  }

  // An enumerator is a word right after '{' or ','.
  void AddEnumerators(uint32_t open, uint32_t close, Declaration& declaration) const {
    for (uint32_t at = open + 1; at < close; ++at) {
      const char before = code_.tokens[at - 1].mark;
      if (code_.IsWord(at) && (before == '{' || before == ',')) {
        declaration.names.emplace_back(code_[at]);
      }
      const uint32_t match = brackets_.match[at];
      if (match != kNoToken && match > at) at = match;
    }
  }

  // Adds the words before '=', '[', '{', ',' and ';' outside brackets, which name variables.
  void AddDeclarators(uint32_t at, uint32_t last, Declaration& declaration) const {
    bool value = false;
    for (; at <= last; ++at) {
      const char next = at < last ? code_.tokens[at + 1].mark : ';';
      const char mark = code_.tokens[at].mark;
      if (mark == ',') value = false;
      if (mark == '=') value = true;
      const bool ends = next == '=' || next == '[' || next == '{' || next == ',' || next == ';';
      const bool word = code_.IsWord(at) && !IsKeyword(code_[at]) && !IsClassKey(code_[at]) &&
                        code_[at] != "enum" && !value;
      if (word && ends && code_[at] != "default" && code_[at] != "delete") {
        declaration.names.emplace_back(code_[at]);
      }
      const uint32_t close = brackets_.match[at];
      if (close != kNoToken && close > at) at = std::min(close, last);
    }
  }

  void ReadUsing(Declaration declaration, uint32_t at) {
    const uint32_t end = SemicolonFrom(at);
    if (code_.Is(at + 1, "namespace")) {
      declaration.kind = Declaration::kDirective;
      declaration.target = JoinedWords(code_, brackets_, at + 2, end);
    } else if (code_.Is(at + 2, "=")) {
      declaration.kind = Declaration::kAlias;
      declaration.names.emplace_back(code_[at + 1]);
    } else if (end > at + 1 && code_.IsWord(end - 1)) {
      declaration.kind = Declaration::kUsing;
      declaration.names.emplace_back(code_[end - 1]);
      declaration.target = JoinedWords(code_, brackets_, at + 1, end);
    }
    Finish(std::move(declaration), end);
  }

  void ReadTypedef(Declaration declaration, uint32_t at) {
    declaration.kind = Declaration::kAlias;
    const uint32_t end = SemicolonFrom(at);
    for (uint32_t open = at; open + 2 < end; ++open) {  // typedef void (*name)(int);
      if (code_.tokens[open].mark == '(' && code_[open + 1] == "*" && code_.IsWord(open + 2)) {
        declaration.names.emplace_back(code_[open + 2]);
        break;
      }
      const uint32_t close = brackets_.match[open];
      if (close != kNoToken && close > open) open = close;
    }
    if (declaration.names.empty()) AddTypedefNames(at + 1, end, declaration);
    Finish(std::move(declaration), end);
  }

  // typedef struct A {...} B; and typedef enum {kOne, kTwo} C;
  void AddTypedefNames(uint32_t at, uint32_t end, Declaration& declaration) const {
    uint32_t brace = at;
    while (brace < end && code_.tokens[brace].mark != '{') ++brace;
    const uint32_t close = brace < end ? brackets_.match[brace] : kNoToken;
    if (close == kNoToken || close >= end) return AddDeclarators(at, end, declaration);
    declaration.kind = Declaration::kType;
    std::string name;
    if (ClassName(code_, brackets_, at, brace, name) && !name.empty()) {
      declaration.names.push_back(std::move(name));
    }
    if (code_.Is(at, "enum")) AddEnumerators(brace, close, declaration);
    AddDeclarators(close + 1, end, declaration);
  }

  const Code& code_;
  const Brackets& brackets_;
  Declarations found_;
  uint32_t at_ = 0;
  uint32_t no_arguments_before_ = 0;
  std::vector<Open> open_;
};

// Returns whether the member of the class can be left out where nothing mentions its name.
bool IsPlainMethod(const Code& code, const Brackets& brackets, absl::string_view type,
                   const Declaration& member) {
  if (member.kind != Declaration::kFunction || !member.owner.empty() || member.names.empty() ||
      member.names[0] == type || member.parameters == kNoToken) {
    return false;
  }
  const uint32_t close = brackets.match[member.parameters];
  if (close == kNoToken || close >= member.last) return false;
  // Parentheses of a variable: ALIGNED(16) float x, T (*call)(int), T (&x)[2].
  const string_view after = code[close + 1];
  const bool ends = after == ";" || after == "{" || after == "->" || after == "=" || after == "&" ||
                    after == "&&" || IsTrailer(after);
  if (!ends || code.tokens[member.parameters - 1].mark == ')') return false;
  for (uint32_t at = member.first; at < member.last && !code.Is(at, "{"); ++at) {
    if (code.Is(at, "virtual") || code.Is(at, "override") || code.Is(at, "final")) return false;
  }
  return true;
}

}  // namespace

bool IsAccess(string_view word) {
  return word == "public" || word == "private" || word == "protected";
}

std::vector<Declaration> FindMethods(const Code& code, const Brackets& brackets,
                                     const Declaration& type) {
  std::vector<Declaration> methods;
  std::vector<Declaration> types = {type};
  while (!types.empty()) {
    const Declaration around = std::move(types.back());
    types.pop_back();
    if (around.body == kNoToken) continue;
    const string_view name = around.names.empty() ? "" : string_view(around.names[0]);
    for (Declaration& member : Scanner(code, brackets).RunWithin(around.body)) {
      if (member.body != kNoToken) {
        types.push_back(std::move(member));
      } else if (IsPlainMethod(code, brackets, name, member)) {
        methods.push_back(std::move(member));
      }
    }
  }
  std::sort(methods.begin(), methods.end(),
            [](const Declaration& a, const Declaration& b) { return a.first < b.first; });
  return methods;
}

Declarations FindDeclarations(const Code& code, const Brackets& brackets) {
  return Scanner(code, brackets).Run();
}

}  // namespace kernelmill::extractor::cuda
