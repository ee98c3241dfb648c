#include "services/extractor/core/cuda/words.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/code/brackets.h"
#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/lexer.h"
#include "services/extractor/core/cuda/names.h"

namespace kernelmill::extractor::cuda {
namespace {

using absl::string_view;
using WordSet = absl::flat_hash_set<string_view>;

// Returns whether the word begins the definition of a type: class, struct, union or enum.
bool IsTypeKey(string_view word) { return IsClassKey(word) || word == "enum"; }

bool IsPointerMark(string_view token) { return token == "*" || token == "&" || token == "&&"; }

// Returns whether the word looks like a macro: no small letters.
bool IsShouted(string_view word) {
  return word.size() > 2 && std::none_of(word.begin(), word.end(), [](char c) {
           return absl::ascii_islower(static_cast<unsigned char>(c));
         });
}

// Signs of operators that no other syntax uses in their place, as () and = are.
constexpr string_view kOperatorSigns[] = {
    "+",  "-",  "/",  "%",  "^",  "|",   "~",   "!",  "<",  ">",  "+=", "-=",  "*=", "/=", "%=",
    "^=", "&=", "|=", "<<", ">>", "<<=", ">>=", "==", "!=", "<=", ">=", "<=>", "||", "++", "--"};

bool IsOperatorSign(string_view token) {
  return std::find(std::begin(kOperatorSigns), std::end(kOperatorSigns), token) !=
         std::end(kOperatorSigns);
}

// Adds the names of the operators that a sign may call. C++20 makes != of ==, and < of <=>.
void AddOperators(string_view sign, std::set<std::string>& names) {
  if (!IsOperatorSign(sign)) return;
  names.insert(absl::StrCat("operator", sign));
  if (sign == "!=") names.insert("operator==");
  if (sign == "<" || sign == ">" || sign == "<=" || sign == ">=") names.insert("operator<=>");
}

// Reads a text from the front to the end; see ReadDeclarationWords. groups_ holds the brackets
// around the current token, which tell whether declarations are possible there.
class WordReader {
 public:
  WordReader(string_view text, const WordSet& declared)
      : code_(Lex(text)), brackets_(MatchBrackets(code_)) {
    groups_.push_back({'\0', false, true, false, false, false, kNoToken});
    for (const string_view word : declared) declared_[word].push_back(kWholeText);
  }

  Words Run() {
    for (at_ = 0; at_ < code_.size(); ++at_) {
      if (code_.IsWord(at_)) {
        ReadWord();
      } else {
        ReadMark();
      }
    }
    return Collect();
  }

 private:
  // The tokens for which a declared name holds.
  struct Scope {
    uint32_t begin, end;

    bool operator<(const Scope& other) const { return begin < other.begin; }
  };
  static constexpr Scope kWholeText = {0, kNoToken};

  // A pair of brackets around the current token, or the whole text.
  struct Group {
    char open;                // '\0' for the text
    bool parameters;          // holds a function's parameters
    bool block;               // holds statements or members
    bool enumerators;         // is the body of an enum
    bool declares;            // the current statement in it has declared a name
    bool in_function;         // is a function's body, or within one
    uint32_t braces_end;      // the '}' of the innermost braces; kNoToken: the end of the text
    bool everywhere = false;  // what is declared here holds in the whole text
    bool of_class = false;
  };

  bool Is(uint32_t at, string_view word) const { return code_.Is(at, word); }
  string_view Token(uint32_t at) const { return at < code_.size() ? code_[at] : string_view(); }
  // Returns the token `steps` before `at`; empty if the text begins earlier.
  string_view Before(uint32_t at, uint32_t steps) const {
    return at >= steps ? code_[at - steps] : string_view();
  }

  // Reads punctuation: enters and leaves groups, and ends statements.
  void ReadMark() {
    const char mark = code_.tokens[at_].mark;
    const bool bracket = code::IsOpeningBracket(mark) || code::IsClosingBracket(mark);
    if (bracket && brackets_.match[at_] == kNoToken)
      return;                               // in a branch that is not the main one
    if (mark == '[' && Is(at_ + 1, "[")) {  // [[attributes]], whose words are the compiler's
      at_ = std::max(at_, brackets_.match[at_]);
      return;
    }
    if (code::IsOpeningBracket(mark)) {
      groups_.push_back(MakeGroup(mark));
      if (mark == '{') BeginStatement();
    } else if (code::IsClosingBracket(mark)) {
      if (mark == '}' && groups_.back().of_class) after_class_ = at_;
      if (groups_.size() > 1) groups_.pop_back();
      if (mark == '}' && groups_.back().block && !Is(at_ + 1, ",")) BeginStatement();
    } else if (mark == '<') {
      constexpr uint32_t kMaxArguments = 256;
      const AngleSearch end = FindAngleEnd(code_, brackets_, at_, kMaxArguments);
      if (end.found) angles_end_ = std::max(angles_end_, end.token);
    } else if (mark == ';') {
      BeginStatement();
    } else if (mark == ':') {
      class_key_ = false;
    } else if (mark == '\0' && code_[at_] == "->" && Before(at_, 1) == ")") {
      returns_ = true;
    }
  }

  void BeginStatement() {
    groups_.back().declares = false;
    class_key_ = false;
    enum_key_ = false;
    returns_ = false;
  }

  // Returns the group that an opening bracket begins. Braces hold statements or members if the
  // token before them may precede a block: after a class key, a parameter list or another
  // statement. Other braces hold a value.
  Group MakeGroup(char mark) const {
    const Group& around = groups_.back();
    Group group = {
        mark, false, false, false, false, around.in_function, around.braces_end, around.everywhere};
    if (mark == '(') {
      group.parameters = OpensParameters();
    } else if (mark == '{') {
      const string_view before = Before(at_, 1);
      group.enumerators = enum_key_;
      group.of_class = class_key_ || enum_key_;
      group.block = at_ == 0 || class_key_ || enum_key_ || returns_ || before == ")" ||
                    before == ";" || before == "{" || before == "}" || before == "else" ||
                    before == "do" || before == "try" || before == "const" ||
                    before == "noexcept" || before == "mutable" || before == "override" ||
                    before == "final" || before == ":";
      if (before == ")" || before == "const" || returns_) group.in_function = true;
      group.braces_end = brackets_.match[at_];
      group.everywhere = group.of_class || group.enumerators;
    }
    return group;
  }

  // Returns whether '(' opens a function's parameters: outside bodies after a name, in bodies
  // before '{' as of a lambda, but not after if, while, for and switch.
  bool OpensParameters() const {
    const string_view before = Before(at_, 1);
    if (before == "]" || before == "catch") return true;
    if (before == "if" || before == "while" || before == "for" || before == "switch" ||
        before == "constexpr" || IsAttribute(before)) {
      return false;
    }
    const bool outer = groups_.size() == 1 || (groups_.back().block && !groups_.back().in_function);
    if (outer && at_ > 0 && (code_.IsWord(at_ - 1) || before == ">" || before == ")")) return true;
    const uint32_t close = brackets_.match[at_];
    if (close == kNoToken) return false;
    const string_view after = Token(close + 1);
    return after == "{" || after == "const" || after == "noexcept" || after == "mutable" ||
           after == "override";
  }

  // Decides whether the word is declared, used, or neither, as a keyword or a member is.
  void ReadWord() {
    const string_view word = code_[at_];
    if (IsTypeKey(word)) {
      const string_view after = Token(at_ + 2);
      // `class T` of a template header defines no class.
      if (after == "," || after == ">" || after == ">>" || after == "=") return;
      const bool scoped = word != "enum" && Before(at_, 1) == "enum";
      if (word == "enum" || scoped) enum_key_ = true;
      class_key_ = true;
      return;
    }
    if (IsCompilersAttribute(word)) {
      const uint32_t close = brackets_.match[at_ + 1];
      if (close != kNoToken && close > at_) at_ = close;
      return;
    }
    if (IsReserved(word) || IsMember() || IsOperandName() || IsLiteralSuffix()) return;
    if (Before(at_, 1) == "namespace") {
      if (Before(at_, 2) == "using") return OpenNamespace();
      if (Is(at_ + 1, "=")) return NameNamespace();
    }
    if (ContinuesPath()) return;
    if (Is(at_ + 1, "::") ? false : Declares()) {
      Declare(word);
      groups_.back().declares = true;
      return;
    }
    if (IsLoopMacro()) DeclareArguments();
    uses_.push_back(at_);
  }

  // Notes where the word holds: from here on, or after `using word = ...;`, to the end of the
  // braces around it. A label holds in all of its function, and so do names of the bodies of types.
  void Declare(string_view word) {
    constexpr uint32_t kMaxTokens = 256;
    const string_view before = Before(at_, 1);
    const bool starts = before == ";" || before == "{" || before == "}";
    const bool label = before == "goto" || (starts && Is(at_ + 1, ":"));
    Scope scope = kWholeText;
    if (!label && !groups_.back().everywhere) scope = {at_, groups_.back().braces_end};
    if (before == "using") {
      const uint32_t most = std::min<uint32_t>(scope.begin + kMaxTokens, code_.size());
      while (scope.begin < most && !Is(scope.begin, ";")) ++scope.begin;
    }
    declared_[word].push_back(scope);
  }

  // The words in __attribute__((word)) are the compiler's.
  bool IsCompilersAttribute(string_view word) const {
    return (word == "__attribute__" || word == "__attribute" || word == "__declspec") &&
           Is(at_ + 1, "(");
  }

  void OpenNamespace() { opened_.push_back(NameAt(at_).path); }

  // Reads `namespace s = a::b;`, whose s stands for a::b from here on.
  void NameNamespace() {
    if (code_.IsWord(at_ + 2)) short_names_[code_[at_]] = NameAt(at_ + 2).path;
  }

  bool IsMember() const {
    const string_view before = Before(at_, 1);
    if (before == "." || before == "->" || before == "->*" || before == ".*") return true;
    return before == "template" && (Before(at_, 2) == "." || Before(at_, 2) == "->");
  }

  // Returns whether the word names an operand: asm("..." : [name] "r"(x)).
  bool IsOperandName() const {
    return Before(at_, 1) == "[" && Is(at_ + 1, "]") && at_ + 2 < code_.size() &&
           code_.tokens[at_ + 2].kind == Token::kString;
  }

  // Returns whether the word is the suffix of operator""_x, whose uses are parts of numbers and
  // strings.
  bool IsLiteralSuffix() const {
    return Before(at_, 2) == "operator" && code_.tokens[at_ - 1].kind == Token::kString;
  }

  // Returns whether the word is not the first of a qualified name: b of a::b and A<x>::b.
  bool ContinuesPath() const {
    uint32_t at = at_;
    if (Before(at, 1) == "template" || Before(at, 1) == "~") --at;
    if (Before(at, 1) != "::") return false;
    if (at < 2) return false;
    return (code_.IsWord(at - 2) && !IsReserved(code_[at - 2])) || code_[at - 2] == ">" ||
           code_[at - 2] == ">>" || code_[at - 2] == ")";
  }

  // Returns whether the word at at_ is declared there: the rules of ReadDeclarationWords.
  bool Declares() const {
    const string_view before = Before(at_, 1);
    const string_view after = Token(at_ + 1);
    const Group& group = groups_.back();
    if (group.enumerators && (before == "{" || before == ",")) return true;
    if (before == "goto" || before == "using") return true;
    if (IsTypeKey(before)) {
      return after == "{" || after == ":" || after == ";" || after == "," || after == ">" ||
             after == "=" || after == "final" || after == "..." || after == ">>" || after == "<";
    }
    if (before == "typename" || (before == "..." && IsClassOrType(Before(at_, 2)))) {
      return after == "," || after == ">" || after == "=" || after == ">>" || after == "...";
    }
    if (class_key_ && before == ")" && (after == "{" || after == ":" || after == "final")) {
      return true;
    }
    if (group.open == '[') return IsBinding(before, after);
    if (IsNested(before, after)) return true;
    if (before == "}" && at_ == after_class_ + 1) return EndsDeclarator(after) && after != "(";
    if (!EndsDeclarator(after)) return false;
    if (before == ",") {
      return group.declares && !group.parameters && at_ > angles_end_ && after != ">" &&
             after != ")";
    }
    if (before.empty()) return false;
    const bool starts = before == ";" || before == "{" || before == "}";
    if (starts) return after == ":" && group.block;  // a label
    return FollowsType();
  }

  // Returns whether x is declared in (&x)[4], (*x)[4] or (*x)(int), after a type.
  bool IsNested(string_view before, string_view after) const {
    if (!IsPointerMark(before) || Before(at_, 2) != "(" || after != ")") return false;
    if (!Is(at_ + 2, "[") && !(Is(at_ + 2, "(") && before == "*")) return false;
    if (at_ < 4) return false;
    const string_view type = code_[at_ - 3];
    if (type == ">" || IsSpecifier(type)) return true;
    return code_.IsWord(at_ - 3) && (IsTypeWord(type) || !IsReserved(type)) &&
           (Is(at_ + 2, "[") || IsTypeWord(type));
  }

  static bool IsClassOrType(string_view word) {
    return word == "typename" || word == "class" || IsTypeWord(word) ||
           (!word.empty() && absl::ascii_isupper(static_cast<unsigned char>(word[0])));
  }

  static bool EndsDeclarator(string_view after) {
    return after == "=" || after == ";" || after == "," || after == "(" || after == "[" ||
           after == "{" || after == ":" || after == ")" || after == ">" || after.empty();
  }

  // Returns whether the word is declared in `auto [a, b] = ...` or in a lambda's [x = ...].
  bool IsBinding(string_view before, string_view after) const {
    if (before != "[" && before != ",") return false;
    if (after == "=") return true;
    if (after != "," && after != "]") return false;
    constexpr uint32_t kMaxNames = 32;
    uint32_t open = at_;
    for (uint32_t steps = 0; steps < kMaxNames && open > 0 && code_[open] != "["; ++steps) --open;
    if (open == 0 || code_[open] != "[") return false;
    const string_view type = IsPointerMark(code_[open - 1]) ? Before(open, 2) : code_[open - 1];
    return type == "auto";
  }

  // Returns whether a type ends before the word, with which a declaration may begin there.
  bool FollowsType() const {
    constexpr int kMaxMarks = 8;
    uint32_t at = at_;
    bool points = false;
    for (int marks = 0; at > 0 && marks < kMaxMarks; ++marks) {
      const string_view before = code_[at - 1];
      if (before == "...") {
        --at;
      } else if (IsPointerMark(before)) {
        points = true;
        --at;
      } else if (IsSpecifier(before)) {
        --at;
      } else {
        break;
      }
    }
    if (at == 0) return false;
    const string_view type = code_[at - 1];
    if (points && type == "," && groups_.back().declares && !groups_.back().parameters) return true;
    if (code_.IsWord(at - 1)) {
      if (IsExpressionWord(type) || type == "this" || type == "goto" || IsSpecifier(type)) {
        return false;
      }
      if (!points) return !IsReserved(type) || IsTypeWord(type);
      return IsTypeWord(type) || MayBegin(at);
    }
    if (type == ")" && !points) return IsDecltype(at - 1);
    return (type == ">" || type == ">>") && MayBegin(at);
  }

  bool IsDecltype(uint32_t close) const {
    const uint32_t open = brackets_.match[close];
    return open != kNoToken && open > 0 && code_[open - 1] == "decltype";
  }

  // Returns whether a declaration may begin with the type that ends before `end`.
  bool MayBegin(uint32_t end) const {
    const uint32_t name = NameBefore(code_, brackets_, end);
    if (name == kNoToken) return false;
    for (uint32_t at = name + 1; at < end; ++at) {
      if (code_[at] == "&&" || code_[at] == "||") return false;
    }
    uint32_t begin = QualifiedBegin(code_, brackets_, name);
    if (begin > 0 && code_[begin - 1] == "::") --begin;
    constexpr int kMaxWords = 8;
    for (int words = 0; begin > 0 && words < kMaxWords && code_.IsWord(begin - 1); ++words) {
      if (IsExpressionWord(code_[begin - 1])) return false;
      --begin;
    }
    if (begin == 0) return true;
    const string_view before = code_[begin - 1];
    const Group& group = groups_.back();
    if (before == "(") return group.parameters || Is(at_ + 1, "=") || Is(at_ + 1, ":");
    if (before == ",") return group.parameters || InTemplateHeader();
    if (before == "<") return InTemplateHeader();
    if (before == ">" || before == ")" || before == "]" || before == ":") {
      return group.block || group.parameters;
    }
    return (before == ";" || before == "{" || before == "}") && (group.block || group.open == '(');
  }

  bool InTemplateHeader() const { return groups_.size() == 1 || groups_.back().block; }

  // Returns whether the word is a macro that may declare its arguments: FOR_EACH(i, n) {.
  bool IsLoopMacro() const {
    if (!IsShouted(code_[at_]) || !Is(at_ + 1, "(")) return false;
    const string_view before = Before(at_, 1);
    const uint32_t close = brackets_.match[at_ + 1];
    return close != kNoToken && Is(close + 1, "{") &&
           (before == ";" || before == "{" || before == "}" || before == ")");
  }

  void DeclareArguments() {
    const uint32_t close = brackets_.match[at_ + 1];
    constexpr uint32_t kMaxTokens = 16;
    for (uint32_t at = at_ + 2; at < close && at < at_ + kMaxTokens; ++at) {
      const char before = code_.tokens[at - 1].mark;
      const char after = code_.tokens[at + 1].mark;
      const bool alone = (before == '(' || before == ',') && (after == ',' || after == ')');
      if (alone && code_.IsWord(at)) declared_[code_[at]].push_back(kWholeText);
    }
  }

  // Reads the qualified name that begins at `at`.
  UsedName NameAt(uint32_t at) const {
    constexpr int kMaxParts = 8;
    constexpr uint32_t kMaxArguments = 128;
    UsedName used;
    used.path = std::string(code_[at]);
    used.global = Before(at, 1) == "::";
    for (int parts = 1; parts < kMaxParts; ++parts) {
      uint32_t next = at + 1;
      if (Is(next, "<")) {
        const AngleSearch end = FindAngleEnd(code_, brackets_, next, kMaxArguments);
        if (!end.found || !Is(end.token + 1, "::")) break;
        next = end.token + 1;
      }
      if (!Is(next, "::")) break;
      ++next;
      if (Is(next, "template")) ++next;
      if (!code_.IsWord(next) || code_[next] == "operator") break;
      absl::StrAppend(&used.path, "::", code_[next]);
      at = next;
    }
    used.invoked = Is(at + 1, "(");
    const auto meant = short_names_.find(string_view(used.path).substr(0, used.path.find(':')));
    if (meant != short_names_.end()) used.path.replace(0, meant->first.size(), meant->second);
    return used;
  }

  // Sorts the scopes of each name, and lets each reach as far as those before it.
  void SortScopes() {
    for (auto& [name, scopes] : declared_) {
      std::sort(scopes.begin(), scopes.end());
      uint32_t end = 0;
      for (Scope& scope : scopes) scope.end = end = std::max(end, scope.end);
    }
  }

  // Returns whether a declaration of the text holds at a token.
  static bool Holds(const std::vector<Scope>& scopes, uint32_t at) {
    const auto after = std::upper_bound(scopes.begin(), scopes.end(), Scope{at, 0});
    return after != scopes.begin() && std::prev(after)->end > at;
  }

  // Turns the places of uses into names, without those that the text declares.
  Words Collect() {
    SortScopes();
    Words words;
    struct Use {
      bool invoked = false;
      bool shadowed = true;
    };
    std::map<std::pair<std::string, bool>, Use> found;
    for (const uint32_t at : uses_) {
      const auto declared = declared_.find(code_[at]);
      const bool shadowed = declared != declared_.end() && Before(at, 1) != "::";
      if (shadowed && Holds(declared->second, at)) continue;
      UsedName used = NameAt(at);
      Use& use = found[{std::move(used.path), used.global}];
      use.invoked |= used.invoked;
      use.shadowed &= shadowed;
    }
    for (const auto& [name, use] : found)
      words.used.push_back({name.first, name.second, use.invoked, use.shadowed});
    for (const auto& [name, scopes] : declared_) words.declared.emplace(name);
    words.opened = opened_;
    words.mentioned = FindMentioned();
    for (const Directive& directive : code_.directives) {
      const Code asked = Lex(directive.condition.expression);
      for (uint32_t at = 0; at < asked.size(); ++at) {
        if (asked.IsWord(at)) words.asked.emplace_back(asked[at]);
      }
    }
    return words;
  }

  // The sign after the keyword operator is a name, and no use.
  std::vector<std::string> FindMentioned() const {
    std::set<std::string> names;
    for (uint32_t at = 0; at < code_.size(); ++at) {
      if (code_.IsWord(at)) {
        names.emplace(code_[at]);
      } else if (Before(at, 1) != "operator") {
        AddOperators(code_[at], names);
      }
    }
    return {names.begin(), names.end()};
  }

  const Code code_;
  const Brackets brackets_;
  absl::flat_hash_map<string_view, std::vector<Scope>> declared_;
  std::vector<uint32_t> uses_;
  uint32_t at_ = 0;
  std::vector<Group> groups_;
  bool class_key_ = false;               // the current statement has a class key or enum
  bool enum_key_ = false;                // the current statement has an enum
  bool returns_ = false;                 // the current statement has `) -> type`
  uint32_t angles_end_ = 0;              // the last '>' of template arguments so far
  uint32_t after_class_ = kNoToken - 1;  // the last '}' of a class so far
  std::vector<std::string> opened_;
  absl::flat_hash_map<string_view, std::string> short_names_;  // for namespaces
};

// Returns the words of a macro's parameter list.
WordSet ReadParameters(string_view list) {
  WordSet parameters = {"__VA_ARGS__", "__VA_OPT__"};
  const Code code = Lex(list);
  for (uint32_t at = 0; at < code.size(); ++at) {
    if (code.IsWord(at)) parameters.insert(code[at]);
  }
  return parameters;
}

}  // namespace

bool NeedsMention(absl::string_view name) {
  if (name == "begin" || name == "end" || name == "get") return false;  // by range-for and auto [a]
  return !absl::ConsumePrefix(&name, "operator") || IsOperatorSign(name);
}

Words ReadDeclarationWords(absl::string_view text) { return WordReader(text, {}).Run(); }

Words ReadMacroWords(absl::string_view rest, bool takes_arguments) {
  WordSet parameters;
  if (takes_arguments) {
    const size_t close = std::min(rest.find(')'), rest.size() - 1);
    parameters = ReadParameters(rest.substr(0, close + 1));
    rest.remove_prefix(close + 1);
  }
  // Pasted words count as declared, so that they are not used.
  const Code code = Lex(rest);
  std::set<std::string> pasted;
  const auto is_fixed = [&](uint32_t at) {
    return code.IsWord(at) && !parameters.contains(code[at]);
  };
  for (uint32_t at = 1; at + 1 < code.size(); ++at) {
    if (code[at] != "##") continue;
    if (is_fixed(at - 1)) pasted.emplace(code[at - 1]);
    if (is_fixed(at + 1)) pasted.emplace(code[at + 1]);
    if (!is_fixed(at - 1) && !is_fixed(at + 1)) pasted.emplace();
  }
  for (const std::string& word : pasted) parameters.insert(word);
  Words words = WordReader(rest, parameters).Run();
  words.pasted.assign(pasted.begin(), pasted.end());
  return words;
}

}  // namespace kernelmill::extractor::cuda
